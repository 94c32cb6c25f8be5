// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"gonum.org/v1/gonum/spatial/r2"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/report"
	pages "github.com/graphcloak/graphcloak/report/page"
)

// hostile are names that would act if a page let them.
var hostile = []string{
	"<script>console.log(1)</script>", `"><img src=//example.org/x onerror=console.log(2)>`,
	"</title></svg><script>console.log(3)</script>",
	"\u202egnirts", "</style><style>main{display:none}</style>", "<base href=//example.org>",
}

// html is a page with everything on it, whose names are hostile.
func html(t *testing.T, n int, places bool) string {
	t.Helper()
	g, points, err := graph.KNN(n, 4, 5)
	if err != nil {
		t.Fatal(err)
	}
	p := must.Get(community.Leiden{}.Detect(t.Context(), g))(t)
	captions, at := make([]string, n), make([]r2.Vec, n)
	nodes := report.Nodes{Graph: g}
	nodes.Community, nodes.Source, nodes.Probability = p.Labels, make([]float64, n), make([]float64, n)
	sum := 0.0
	for i := range n {
		captions[i], at[i] = hostile[i%len(hostile)]+fmt.Sprint(i), r2.Vec{X: points[i].X, Y: points[i].Y}
		nodes.Probability[i] = math.Exp(-40 * math.Hypot(points[i].X-points[0].X, points[i].Y-points[0].Y))
		sum += nodes.Probability[i]
		nodes.Sensors, nodes.Sigma, nodes.PrivateHeat = append(nodes.Sensors, i), append(nodes.Sigma, .1*float64(1+i%5)),
			append(nodes.PrivateHeat, .2)
	}
	for i := range n {
		nodes.Probability[i] /= sum
	}
	p = p.NameByMembers(g, captions)
	r := &report.Report{
		RunID: "0195f6a0", Store: "folder:x", Guarantee: "The guarantee, which is folded away.", NotProtected: report.Exposed(2),
		Notes:     hostile,
		NodeCount: n, RelationshipCount: g.Size(), Ceiling: .8, Tau: 2, Epsilon: 4, Delta: .01, Alpha: 1, EpsilonSpent: 4, DeltaSpent: .01,
		Posterior: report.Posterior{NodeID: g.ID(0), CredibleSetSize: 15}, BPDN: report.BPDN{Status: "zero"},
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
	v := pages.View{Report: r, Captions: captions, Command: "graphcloak run", Truth: &pages.Truth{Nodes: []int{0}, Text: "It was there."}}
	if places {
		v.Places = at
	}
	var b bytes.Buffer
	must.Do(t, pages.Write(&b, v))
	return b.String()
}

//go:embed contrast.js
var contrast string

// hidden names what a reader has to scroll for: tables and pictures wider than the window.
const hidden = `[
	...[...document.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.getAttribute("aria-label")),
]`

// TestPage opens pages in narrow and wide windows, light and dark: nothing is asked for,
// nothing complains, nothing is wider than the window, every text stands out from what
// is behind it as WCAG 2.2 AA asks, and the style is there.
func TestPage(t *testing.T) {
	browser := start(t)
	for name, text := range map[string]string{
		"placed": html(t, 120, true), "laid out": html(t, 120, false),
		"communities": html(t, 6000, false),
	} {
		for _, width := range []int64{360, 1440} {
			for _, dark := range []bool{false, true} {
				t.Run(fmt.Sprint(name, width, dark), func(t *testing.T) {
					s := serve(t, text, "")
					v := open(t, browser, s.URL, width, dark)
					quiet(t, v, s)
					if wide := ask[int64](t, v, `document.documentElement.scrollWidth`); wide > width {
						t.Errorf("the page is %d pixels wide in a window of %d", wide, width)
					}
					for _, cut := range ask[[]string](t, v, hidden) {
						t.Errorf("a reader does not see the whole of %s", cut)
					}
					for _, bad := range ask[[]string](t, v, contrast) {
						t.Error(bad)
					}
					if dark != (ask[string](t, v, `getComputedStyle(document.body).backgroundColor`) != "rgb(255, 255, 255)") {
						t.Error("the page does not follow the reader's choice of dark and light")
					}
				})
			}
		}
	}
}

// quiet: the page alone was asked for, and nobody complained.
func quiet(t *testing.T, v *visit, s *site) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, url := range v.wanted {
		if url != s.URL+"/" && !strings.HasSuffix(url, "/favicon.ico") {
			t.Errorf("the page asks for %s", url)
		}
	}
	if len(v.complaints) > 0 {
		t.Errorf("the browser complains: %q", v.complaints)
	}
}

// TestForbidden: with every script and style forbidden the page says the same, its
// pictures have their size and their colours, and no text is hidden.
func TestForbidden(t *testing.T) {
	browser := start(t)
	s := serve(t, html(t, 120, true), "default-src 'none'")
	v := open(t, browser, s.URL, 1440, false)
	if got := ask[string](t, v, `getComputedStyle(document.body).maxWidth`); got != "none" {
		t.Fatalf("the style is there: max-width is %s", got)
	}
	for script, want := range map[string]string{
		`document.querySelector("h1").innerText.startsWith("The source is most likely in community")`:                          "true",
		`document.querySelector("main").innerText.includes("What is not protected")`:                                           "true",
		`getComputedStyle(document.querySelector("circle")).fill != getComputedStyle(document.querySelector("svg rect")).fill`: "true",
		`document.querySelector("svg").getBoundingClientRect().width > 600`:                                                    "true",
		`[...document.querySelectorAll("circle")].every(c => c.getBoundingClientRect().width > 2)`:                             "true",
		`document.querySelector("details").open`:                                                                               "false",
		`document.querySelectorAll("button").length`:                                                                           "0",
	} {
		if got := ask[any](t, v, script); fmt.Sprint(got) != want {
			t.Errorf("%s is %v", script, got)
		}
	}
	for _, bad := range ask[[]string](t, v, contrast) {
		t.Error(bad)
	}
}

// TestKeyboard: the tabulator reaches every place where something opens or scrolls, in
// order, with a mark that is seen; Enter opens the guarantee.
func TestKeyboard(t *testing.T) {
	browser := start(t)
	v := open(t, browser, serve(t, html(t, 120, true), "").URL, 360, false)
	want := ask[int](t, v, `[...document.querySelectorAll("a[href],button,summary,[tabindex='0']")].filter(e => e.checkVisibility()).length`)
	seen := make(map[string]bool)
	turned := false
	for range want {
		v.run(t, chromedp.KeyEvent(kb.Tab))
		at := ask[string](t, v, `(e => e.tagName + [...document.querySelectorAll("*")].indexOf(e))(document.activeElement)`)
		if seen[at] || strings.HasPrefix(at, "BODY") {
			break
		}
		seen[at] = true
		if mark := ask[string](t, v, `getComputedStyle(document.activeElement).outlineStyle`); mark == "none" {
			t.Errorf("%s has no mark where the keyboard is", at)
		}
		if ask[bool](t, v, `document.activeElement.innerText == "The guarantee in words"`) {
			const open = `document.activeElement.parentElement.open`
			before := ask[bool](t, v, open)
			v.run(t, chromedp.KeyEvent(kb.Enter))
			for range 100 { // the page may take its time over the key
				if turned = ask[bool](t, v, open) != before; turned {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
		}
	}
	if len(seen) != want || !turned {
		t.Errorf("the keyboard reaches %d of %d places; it folds or unfolds the guarantee: %v", len(seen), want, turned)
	}
}

// TestAccessible: landmarks, names of regions and pictures, headers of tables.
func TestAccessible(t *testing.T) {
	browser := start(t)
	v := open(t, browser, serve(t, html(t, 6000, false), "").URL, 1440, false)
	for script, want := range map[string]string{
		`document.documentElement.lang`:                                                                                             "en",
		`document.querySelectorAll("main,header,footer").length`:                                                                    "3",
		`document.querySelectorAll("h1").length`:                                                                                    "1",
		`[...document.querySelectorAll("[role=region]")].filter(e => !e.getAttribute("aria-label")).length`:                         "0",
		`[...document.querySelectorAll("section")].filter(e => !document.getElementById(e.getAttribute("aria-labelledby"))).length`: "0",
		`[...document.querySelectorAll("svg")].filter(e => e.getAttribute("aria-hidden") != "true" && !(e.getAttribute("aria-labelledby") || "").split(" ").every(id => document.getElementById(id)?.textContent)).length`: "0",
		`[...document.querySelectorAll("table")].filter(e => !e.caption || [...e.rows].some(r => ![...r.cells].some(c => c.tagName == "TH" && c.scope))).length`:                                                           "0",
		`new Set([...document.querySelectorAll("[id]")].map(e => e.id)).size == document.querySelectorAll("[id]").length`:                                                                                                  "true",
	} {
		if got := fmt.Sprint(ask[any](t, v, script)); got != want {
			t.Errorf("%s is %s, want %s", script, got, want)
		}
	}
}

// A sheet of US Letter without its margins of 1 cm, in pixels: the lower of the usual two.
const letterWide, letterHigh = 740, 980

// TestPrint: on paper the answer and its map share the first sheet, tables are whole, and the
// guarantee is unfolded, in black on white also for a reader of dark pages.
func TestPrint(t *testing.T) {
	browser := start(t)
	v := open(t, browser, serve(t, html(t, 120, true), "").URL, 1440, true)
	pdf := must.Get(chromedp.Run(v, chromedp.PrintToPDF()))(t)
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || len(pdf) < 20_000 {
		t.Errorf("a PDF of %d bytes", len(pdf))
	}
	v.run(t, chromedp.EmulateViewport(letterWide, letterHigh))
	v.run(t, media(emulation.SetEmulatedMediaParams{
		Media:    "print",
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	}))
	if got := ask[string](t, v, `getComputedStyle(document.body).backgroundColor + getComputedStyle(document.body).color`); got != "rgb(255, 255, 255)rgb(0, 0, 0)" {
		t.Errorf("on paper the colours are %s", got)
	}
	if low := ask[float64](t, v, `document.querySelector("figcaption").getBoundingClientRect().top + scrollY`); low > letterHigh {
		t.Errorf("the first map ends %v pixels below the top, on the second page", low)
	}
	if got := ask[string](t, v, `getComputedStyle(document.querySelector(".map .edge")).stroke`); got != "rgb(153, 153, 153)" {
		t.Errorf("the relationships of a dense community are %s: a black blob", got)
	}
	if width := ask[float64](t, v, `document.querySelector(".sums").getBoundingClientRect().right`); width > letterWide-1 {
		t.Errorf("the right border of the numbers at the head is at %v of %d pixels, beyond the sheet", width, letterWide)
	}
	if broken := ask[int64](t, v, `[...document.querySelectorAll("table:not(.facts)")].filter(t => getComputedStyle(t).breakInside != "avoid").length`); broken > 0 {
		t.Errorf("%d tables may be broken over two pages", broken)
	}
	if !ask[bool](t, v, `[...document.querySelectorAll("details p")][0].checkVisibility({contentVisibilityAuto: true}) && [...document.querySelectorAll("details p")][0].getBoundingClientRect().height > 0`) {
		t.Error("on paper the guarantee is folded away")
	}
}
