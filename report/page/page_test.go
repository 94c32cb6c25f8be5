// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r2"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/report/page"
)

// sample is a report whose posterior falls with the distance from a node in the numbering.
func sample(t *testing.T, g *graph.Graph, labels []int, sensors int) *report.Report {
	t.Helper()
	p := must.Get(community.FromLabels(g, labels))(t)
	p = p.NameByMembers(g, nil)
	n := g.Order()
	nodes := report.Nodes{Graph: g}
	nodes.Community, nodes.Source, nodes.Probability = p.Labels, make([]float64, n), make([]float64, n)
	sum := 0.0
	for i := range n {
		nodes.Probability[i] = math.Exp(-math.Abs(float64(i-n/3)) / 4)
		sum += nodes.Probability[i]
	}
	for i := range n {
		nodes.Probability[i] /= sum
	}
	for i := range sensors {
		nodes.Sensors = append(nodes.Sensors, i)
		nodes.Sigma = append(nodes.Sigma, .01*float64(1+i%7))
		nodes.PrivateHeat = append(nodes.PrivateHeat, .5)
	}
	gap := 1e-9
	r := &report.Report{
		RunID: "0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11", Store: "folder:example", Guarantee: "Who is protected, in words.",
		Promise:      &privacy.Promise{Guarantee: "joint"},
		NotProtected: report.Exposed(1), NodeCount: n, RelationshipCount: g.Size(), SensorCount: sensors, Ceiling: .8,
		Tau: 2, Laplacian: "combinatorial", Metric: "hops", Epsilon: 4, Delta: .01, Alpha: 1, EpsilonSpent: 4, DeltaSpent: .01,
		Posterior: report.Posterior{NodeID: g.ID(n / 3), Probability: nodes.Probability[n/3], CredibleSetSize: min(n, 12)},
		BPDN: report.BPDN{
			Status: "optimal", Objective: .9, LowerBound: .9, Gap: &gap, RadiusRule: "projected",
			Support: []report.Source{{NodeID: g.ID(0), Value: .9}},
		},
	}
	for _, s := range community.Rank(nodes.Probability, p) {
		r.Communities = append(r.Communities,
			report.Community{
				CommunityID: s.Community, Name: s.Name, Size: s.Order, Prior: float64(s.Order) / float64(n),
				Probability: s.Probability,
			})
	}
	r.SetNodes(nodes)
	r.SetAnswer()
	return r
}

func write(t *testing.T, v page.View) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, page.Write(&b, v))
	return b.String()
}

// elements reads a page as a sequence of tags, and fails where they do not nest.
func elements(t *testing.T, html string) map[string]int {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(html))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta", "link", "br"}, xml.HTMLEntity
	count := make(map[string]int)
	for {
		token, err := d.Token()
		if err == io.EOF {
			return count
		}
		if err != nil {
			t.Fatalf("the page is not well formed: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" || a.Name.Local == "src" || a.Name.Local == "href" &&
					!strings.HasPrefix(a.Value, "#") {
					t.Errorf("<%s> has %s=%q", e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

// TestEveryNodeIsDrawn: once, with a title, and each relationship once.
func TestEveryNodeIsDrawn(t *testing.T) {
	g, labels, err := graph.SBM(400, 4, .06, .004, 3)
	if err != nil {
		t.Fatal(err)
	}
	html := write(t, page.View{Report: sample(t, g, labels, 300)})
	map1, _, _ := strings.Cut(html, "</svg>")
	if circles, squares := strings.Count(map1, "<circle"), strings.Count(map1, "<rect x="); circles != 300 || squares != 100 {
		t.Errorf("%d circles and %d squares for 300 sensors of 400 nodes", circles, squares)
	}
	if titles := strings.Count(map1, "<title>"); titles != 401 { // that of the page has the same name
		t.Errorf("%d titles, want 400 and the page's", titles)
	}
	_, edges, _ := strings.Cut(map1, `class="edge"`)
	edges, _, _ = strings.Cut(edges, "/>")
	if lines := strings.Count(edges, "M"); lines != g.Size() {
		t.Errorf("%d lines for %d relationships", lines, g.Size())
	}
	if got := elements(t, html); got["main"] != 1 || got["h1"] != 1 || got["script"] != 0 || got["img"] != 0 {
		t.Errorf("landmarks are %v", got)
	}
}

// TestHostileNames: whatever names hold, no element, no attribute and no character that
// hides or reorders comes of them.
func TestHostileNames(t *testing.T) {
	hostile := []string{
		"<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "</title></svg><script>alert(2)</script>", "\u202egnirts\u202c",
		"\x1b[31mred\x07",
		"{{.Report}}", "javascript:alert(3)", "</style><style>*{display:none}</style>", "a\u0000b", "=cmd|' /C calc'!A0",
		"\u200b\u2066\ufeff", "&#60;script&#62;",
	}
	var b graph.Builder
	for k := range 40 {
		must.Get(b.AddNode(graph.ID(fmt.Sprint(k, hostile[k%len(hostile)]))))(t)
	}
	for k := range 39 {
		must.Do(t, b.Connect(k, k+1, 1, 1))
	}
	g := must.Get(b.Graph())(t)
	labels := make([]int, 40)
	for k := range labels {
		labels[k] = k / 10
	}
	r := sample(t, g, labels, 40)
	v := page.View{
		Report: r, Command: strings.Join(hostile, " "), Queries: []page.Query{{What: hostile[0], Text: hostile[2]}},
		Truth:  &page.Truth{Nodes: []int{3}, Text: hostile[1]},
		Budget: &page.Budget{Scope: hostile[2], Releases: 1, Epsilon: 1, Delta: 1e-5, Per: hostile[0]},
	}
	plain := elements(t, write(t, v))
	for k := range r.Communities {
		r.Communities[k].Name = strings.Join(hostile, "")[k:]
	}
	r.Answer, r.Guarantee, r.Prior, r.Metric, r.Store, r.BudgetScope = hostile[0], hostile[1], hostile[2], hostile[3],
		hostile[4], hostile[7]
	r.Notes, r.NotProtected, r.LedgerHead, r.BPDN.RadiusRule = hostile, hostile, hostile[3], hostile[0]
	for range r.Nodes().Graph.Order() {
		v.Captions = append(v.Captions, strings.Join(hostile, ""))
	}
	html := write(t, v)
	got := elements(t, html)
	for _, name := range []string{"script", "img", "style", "title", "svg", "circle", "a", "iframe"} {
		if got[name] != plain[name] {
			t.Errorf("%d elements <%s>, without hostile names %d", got[name], name, plain[name])
		}
	}
	if at := strings.IndexFunc(html, func(r rune) bool {
		return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 &&
			r <= 0x2069 || r == 0xfeff || r == 0xfffd
	}); at >= 0 {
		t.Errorf("the page holds %q", html[at:at+12])
	}
	if !strings.Contains(html, "[U&#43;202E]gnirts") {
		t.Error("a character that reorders is not shown by its code")
	}
}

// TestSize: a graph of 10⁵ nodes takes at most 1 MB, and is the same page twice.
func TestSize(t *testing.T) {
	const n = 100_000
	g, labels, err := graph.SBM(n, n/1000, 4/1000., 1/float64(n), 5)
	if err != nil {
		t.Fatal(err)
	}
	v := page.View{Report: sample(t, g, labels, n)}
	first := write(t, v)
	if t.Logf("%d nodes, %d relationships: %d bytes", n, g.Size(), len(first)); len(first) > 1<<20 {
		t.Error("more than 1 MB")
	}
	elements(t, first)
	if second := write(t, v); second != first {
		t.Error("the second page is another")
	}
}

// TestPlaces: what has places is drawn at them, north up, and what has none at its
// neighbours.
func TestPlaces(t *testing.T) {
	g := must.Get(graph.Path(4))(t)
	at := []r2.Vec{{X: 10, Y: 60}, {X: 10, Y: 61}, {X: math.NaN(), Y: math.NaN()}, {X: 12, Y: 60}}
	html := write(t, page.View{Report: sample(t, g, []int{0, 0, 0, 0}, 4), Places: at, Geographic: true})
	var cx, cy [4]float64
	rest := html
	for range 4 {
		var x, y, r float64
		_, rest, _ = strings.Cut(rest, "<circle ")
		if _, err := fmt.Sscanf(rest, `cx="%g" cy="%g" r="%g"><title>`, &x, &y, &r); err != nil {
			t.Fatalf("%v in %.80s", err, rest)
		}
		_, name, _ := strings.Cut(rest, "<title>")
		k := int(name[0] - '0')
		cx[k], cy[k] = x, y
	}
	if !(cy[1] < cy[0] && cx[0] == cx[1] && cx[3] > cx[0]) {
		t.Errorf("places are drawn at x %v, y %v", cx, cy)
	}
	// One degree of latitude is twice one of longitude at 60° north.
	if ratio := (cx[3] - cx[0]) / (cy[0] - cy[1]); math.Abs(ratio-2*math.Cos(60.333*math.Pi/180)) > .02 {
		t.Errorf("2° east are %.3f of 1° north", ratio)
	}
	if want := (cx[1] + cx[3]) / 2; math.Abs(cx[2]-want) > .11 {
		t.Errorf("the node without a place is at x = %v, want %v", cx[2], want)
	}
}

// TestNothingStandsOut: no community is outlined or promised in the heading.
func TestNothingStandsOut(t *testing.T) {
	g := must.Get(graph.Cycle(30))(t)
	labels := make([]int, 30)
	for k := 15; k < 30; k++ {
		labels[k] = 1
	}
	r := sample(t, g, labels, 30)
	if html := write(t, page.View{Report: r}); !strings.Contains(html, `class="rim" d="M`) ||
		!strings.Contains(html, "<h1>The source is most likely in community 0 around") {
		t.Error("a community that stands out is not outlined or not named")
	}
	r.Communities[0].Probability, r.Communities[1].Probability = .55, .45
	html := write(t, page.View{Report: r})
	if strings.Contains(html, `class="rim" d="M`) || !strings.Contains(html, "<h1>No community stands out</h1>") {
		t.Error("a community that does not stand out is outlined or named")
	}
	folded := `<details class="alike"><summary>2 communities, none of which stands out`
	if strings.Contains(html, "<circle") || strings.Contains(html, "h-nodes") || !strings.Contains(html, folded) ||
		!strings.Contains(html, "not at all") {
		t.Error("where nothing stands out there is a map, or a list of nodes, or the communities are not folded")
	}
	r.Communities[0].Probability, r.Presence = .9, &report.Presence{PValue: .4, FalseAlarm: .05}
	html = write(t, page.View{Report: r})
	if strings.Contains(html, "<circle") || strings.Contains(html, "h-rank") || strings.Contains(html, "90\u00a0%") ||
		!strings.Contains(html, "<h1>No sign of a source</h1>") {
		t.Error("without a source there is a map or a probability")
	}
}

// TestPromise: what is promised is said at its strength, e⁴ = 54.6, not as nothing.
func TestPromise(t *testing.T) {
	g := must.Get(graph.Path(10))(t)
	r := sample(t, g, make([]int, 10), 10)
	b := &page.Budget{Scope: "nights", Releases: 1, Epsilon: 4, Delta: .01}
	html := write(t, page.View{Report: r, Budget: b})
	for _, want := range []string{
		"more than 54.6 times as likely", "in at most 80 % of cases", "the only release of the same data",
		"<p>This file holds published values",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	b.Releases, b.Epsilon, b.CapEpsilon, b.CapDelta, b.Left, b.Per = 3, 7.5, 10, .01, 2, "30d"
	html = write(t, page.View{Report: r, Budget: b, Truth: &page.Truth{Nodes: []int{3}, Text: "It was at 3."}})
	for _, want := range []string{
		"together spent ε = 7.5", "The limit is ε = 10 at δ = 0.01 in any 30d; ε = 2 is left",
		"Apart from what really happened",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestDiscs: a layout keeps the nodes of a tangled graph apart, and its communities.
func TestDiscs(t *testing.T) {
	g, labels, err := graph.SBM(600, 6, .1, .002, 9)
	if err != nil {
		t.Fatal(err)
	}
	html := write(t, page.View{Report: sample(t, g, labels, 600)})
	at := make(map[string][2]float64)
	for _, part := range strings.Split(html, "<circle ")[1:] {
		var x, y, r float64
		if _, err := fmt.Sscanf(part, `cx="%g" cy="%g" r="%g"><title>`, &x, &y, &r); err == nil {
			_, name, _ := strings.Cut(part, "<title>")
			name, _, _ = strings.Cut(name, ":")
			at[name] = [2]float64{x, y}
		}
	}
	if len(at) != 600 {
		t.Fatalf("%d nodes are drawn", len(at))
	}
	var inside, across []float64
	for i := range 600 {
		for j := range i {
			p, q := at[string(g.ID(i))], at[string(g.ID(j))]
			d := math.Hypot(p[0]-q[0], p[1]-q[1])
			if labels[i] == labels[j] {
				inside = append(inside, d)
			} else {
				across = append(across, d)
			}
		}
	}
	if least := slices.Min(inside); least < 2 {
		t.Errorf("two nodes of a community are %.2g apart", least)
	}
	slices.Sort(inside)
	slices.Sort(across)
	if in, out := inside[len(inside)*9/10], across[len(across)/10]; in > out {
		t.Errorf("nine in ten pairs inside are up to %.3g apart, one in ten across nearer than %.3g", in, out)
	}
}

// TestSuspects: sensors that may be broken are listed with their probability, the first of them, and
// none where there are none.
func TestSuspects(t *testing.T) {
	g := must.Get(graph.Path(30))(t)
	r := sample(t, g, make([]int, 30), 30)
	if html := write(t, page.View{Report: r}); strings.Contains(html, "may be faulty") {
		t.Error("a page without suspects has their section")
	}
	r.SensorFaultRate, r.SensorFaultyPrior = .01, .08
	for i := range 23 {
		r.SuspectSensors = append(r.SuspectSensors, report.Suspect{NodeID: g.ID(i), Probability: .97})
	}
	r.SuspectSensors[1].NodeID = `<b>"x"</b>`
	html := write(t, page.View{Report: r})
	for _, want := range []string{
		"Sensors that may be faulty", "Before the measurements it was 8 %", "does without those above one half",
		"97 %", "&lt;b&gt;", "3 further sensors",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	all := 1e-6
	r.Fit = &report.Fit{PValue: .3, PValueAllSound: &all}
	if html := write(t, page.View{Report: r}); !strings.Contains(html, "<p>Yes: ") || !strings.Contains(html,
		"That leaves out what is more likely faulty than sound; were all sensors sound, it would be fewer than 0.1") {
		t.Error("the page does not say how well the measurements fit if all sensors are sound")
	}
	r.Fit, r.FaultySensorCount = &report.Fit{PValue: 1e-6}, 23
	if html := write(t, page.View{Report: r}); !strings.Contains(html, "<p>No: 23 of 30 sensors are more likely faulty than sound") ||
		!strings.Contains(html, "<h1>The measurements do not fit the model") ||
		!strings.Contains(html, "Basis Pursuit Denoising takes them all") || strings.Contains(html, "does without") {
		t.Error("where most sensors are suspect, the page has the model explain the measurements")
	}
}

// TestWhatSpeaksAgainst: a page says yes or no to whether the measurements fit, in shares
// that can be read, and where they do not it names and outlines nothing.
func TestWhatSpeaksAgainst(t *testing.T) {
	g := must.Get(graph.Cycle(30))(t)
	labels := make([]int, 30)
	for k := 15; k < 30; k++ {
		labels[k] = 1
	}
	r := sample(t, g, labels, 30)
	r.Fit, r.Presence = &report.Fit{PValue: .36}, &report.Presence{Detected: true, PValue: .024, FalseAlarm: .05, Trials: 100}
	says := func(html string, wanted ...string) {
		t.Helper()
		for _, want := range wanted {
			if !strings.Contains(html, want) {
				t.Errorf("the page does not say %q", want)
			}
		}
	}
	says(write(t, page.View{Report: r}), "<p>Yes: of measurements that do follow the model, 36\u00a0% would",
		"There is a source: of measurements without one, 2.4\u00a0%",
		"at most 54.6 times as likely as from a source 1 hop away", "Neighbours are at most 1 hop apart", "This is no second answer",
		"only where the noise is within the radius",
		`class="rim" d="M`)
	r.Fit = &report.Fit{
		PValue: 1e-14,
		Alternatives: []report.Alternative{
			{Name: report.UniformBackground, LogEvidence: 54.29},
			{Name: report.SecondSource, LogEvidence: -2},
		},
	}
	html := write(t, page.View{Report: r})
	says(html, "<p>No: of measurements that do follow the model, fewer than 0.1\u00a0%",
		"A uniform background would explain them better than the model, by a factor of 10²³.",
		"A second source would explain them no better")
	r.Fit = nil
	for k := range r.Communities {
		r.Communities[k].SourceMass = 0
	}
	if strings.Contains(write(t, page.View{Report: r}), "extra\">mass of f̂</th>") {
		t.Error("a column of noughts is shown")
	}
	r.Communities[0].SourceMass = .2
	says(write(t, page.View{Report: r}), "extra\">mass of f̂</th>", "promised to anyone who is a source, against anyone who sees")
	r.Presence.FalseAlarm = 1
	says(write(t, page.View{Report: r}), "supposed and not tested (--false-alarm 1)")
	if strings.Contains(html, `class="rim" d="M`) || strings.Contains(html, "blue band") {
		t.Error("a community is outlined as the answer of measurements that do not fit")
	}
}

// TestPromiseIsNoMoreThanGiven: the card, the section and what it cost say of what ε is where
// each sensor is promised alone, and under which condition where the readings are measured; a
// bound of nearly every case is none.
func TestPromiseIsNoMoreThanGiven(t *testing.T) {
	g := must.Get(graph.Path(10))(t)
	r := sample(t, g, make([]int, 10), 10)
	r.Ceiling = .99999
	r.Promise = &privacy.Promise{Guarantee: "perSensor", Together: "107.7", Condition: "as far as the <b>process</b> is the model"}
	b := &page.Budget{Scope: "nights", Releases: 2, Epsilon: 6, Delta: .01, PerSensor: true}
	html := write(t, page.View{Report: r, Budget: b})
	const limits = "of any single sensor’s value; together all sensors promise ε = 107.7; as far as the &lt;b&gt;process&lt;/b&gt; " +
		"is the model"
	html = strings.ReplaceAll(html, "&#39;", "’")
	for what, want := range map[string]string{
		"card":    "at δ = 0.01, " + limits + ": any published value of any single sensor is at most 54.6 times as likely",
		"section": "makes no published value of any single sensor more than 54.6 times as likely",
		"limits":  "<strong>That is " + limits + ".</strong>",
		"whom":    "against anyone who sees the value of one sensor,",
		"cost":    "This run spent ε = 4 at δ = 0.01 " + limits + ".",
		"scope":   "together spent ε = 6 at δ = 0.01 for any single sensor’s values, not for several together.",
		"ceiling": "may tell almost always which of the two it was",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("%s: the page does not say %q", what, want)
		}
	}
	for _, not := range []string{"published result", "at most over", "at most 100 %"} {
		if strings.Contains(html, not) {
			t.Errorf("the page says %q", not)
		}
	}
	r.Ceiling, r.Promise.Guarantee = .801, "joint"
	if html = write(t, page.View{Report: r}); !strings.Contains(html, "condition under which the promise holds: somebody") ||
		!strings.Contains(html, "at most 81 % of cases") {
		t.Error("the bound on telling neighbours apart has no condition, or is rounded down")
	}
	r.Promise, r.Guarantee = nil, "Every event about the published value of any single sensor is private."
	if html = write(t, page.View{Report: r}); strings.Contains(html, "published result") {
		t.Error("of a report that has only the sentence, the page promises more than that")
	}
}
