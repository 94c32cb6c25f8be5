// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/graphcloak/graphcloak/report"
)

func functions() template.FuncMap {
	return template.FuncMap{
		"percent": percent, "plain": plain, "prose": prose, "short": short, "digits": digits, "thousands": thousands, "cut": cut,
		"style": Style, "policy": Policy, "stylePolicy": func() string { return policy(string(Style())) }, "script": script,
		"bar": func(p float64) float64 { return 200 * p }, "times": times, "factor": factor, "share": share,
		"twenty": func(k int) int { return 20 * k },
		"star":   func() string { return star }, "last": func() string { return class(bins - 1) },
		"lastFill": func() string { return light[bins-1] },
	}
}

// plain shows by its code each character of a name that hides, reorders or breaks text.
func plain(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) || r == '\n' || r == '\u202f' || r == '\u00a0' { // two spaces that do not break
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "[U+%04X]", r)
		}
	}
	return b.String()
}

// prose is plain, without a line break before a percent sign.
func prose(text string) string { return strings.ReplaceAll(plain(text), " %", "\u00a0%") }

// cut is plain, of at most 120 characters.
func cut(text string) string { return truncate(plain(text), 120) }

// short is plain, for a label.
func short(text string) string { return truncate(plain(text), 28) }

func truncate(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

func percent(p float64) string { return report.Percent(p) }

// share is a percentage with a digit behind the point, for small ones.
func share(p float64) string {
	switch {
	case p >= .1 || p == 0:
		return percent(p)
	case p < 1e-5:
		return "under 0.001 %"
	case p < .0005:
		return strconv.FormatFloat(100*p, 'g', 2, 64) + " %"
	}
	return fmt.Sprintf("%.1f %%", 100*p)
}

// star is a star of five points about 0.
const star = "M0-13L3.2-4.4 12.4-4 5.2 1.7 7.6 10.5 0 5.5-7.6 10.5-5.2 1.7-12.4-4-3.2-4.4z"

func digits(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// raised is a number in superscript.
func raised(digits string) string {
	return strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9",
		"⁹").Replace(digits)
}

// thousands groups digits by narrow spaces that do not break.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for k := len(s) - 3; k > 0; k -= 3 {
		s = s[:k] + "\u202f" + s[k:]
	}
	return s
}

// factor is e^ε, which bounds: in short, and from 100 on not less than it is.
func factor(eps float64) string {
	switch x := math.Exp(eps); {
	case x < 100:
		return strconv.FormatFloat(x, 'g', 3, 64)
	case x < 1e6:
		return thousands(int(math.Ceil(x)))
	case x < 999e6:
		return strconv.Itoa(int(math.Ceil(x/1e6))) + "\u00a0million"
	}
	decade, rest := math.Modf(eps / math.Ln10) // e^ε itself may be beyond float64
	hundredths := math.Ceil(100 * math.Pow(10, rest))
	if hundredths >= 1000 {
		decade, hundredths = decade+1, 100
	}
	return strconv.FormatFloat(hundredths/100, 'f', 2, 64) + "·10" + raised(strconv.Itoa(int(decade)))
}

// times says how a ratio of at most 1 compares.
func times(ratio float64) string {
	if ratio < .001 {
		return "under a thousandth as well"
	}
	if ratio > .995 {
		return "just as well"
	}
	return fmt.Sprintf("%s times as well", strconv.FormatFloat(ratio, 'g', 2, 64))
}

// describe is the title of a node's mark.
func (c *content) describe(v int) string {
	sensor := "no sensor"
	if s, ok := c.sigma[v]; ok {
		sensor = "σ " + digits(s)
	}
	return fmt.Sprintf("%s: %s, %s", cut(c.call(v)), share(c.probability(v)), sensor)
}

// explain writes the map's title, description and legend.
func (c *content) explain(s *scene) {
	r := c.Report
	s.Title = "Map of the graph, coloured by where the source may be"
	if s.ID == "zoom" {
		s.Title = "The surroundings of the likeliest node"
	}
	s.Scale, s.Low, s.High = swatches(), "0 %", share(c.highest)
	s.Legend = append(s.Legend, legendItem{
		"credible",
		fmt.Sprintf("thick ring: the source is among these with 95 %% probability (%s in all)", nodesOf(r.Posterior.CredibleSetSize)),
	})
	if c.Report.StandsOut() {
		s.Legend = append(s.Legend, legendItem{"halo", "blue band: the community that the answer names, " + cut(r.Communities[0].Name)})
	}
	if s.Star != nil {
		s.Legend = append(s.Legend, legendItem{"star", "blue star: where the source really was"})
	}
	switch {
	case c.sigmaMax > c.sigmaMin:
		s.Legend = append(s.Legend, legendItem{
			"size",
			fmt.Sprintf("large to small: sensors with little to much noise, σ from %s to %s", digits(c.sigmaMin), digits(c.sigmaMax)),
		})
	case len(c.sigma) > 0:
		s.Legend = append(s.Legend, legendItem{"circle", fmt.Sprintf("circle: a sensor, each with noise of σ = %s", digits(c.sigmaMin))})
	}
	if len(c.sigma) < c.graph.Order() {
		s.Legend = append(s.Legend, legendItem{"square", "small square: a node without a sensor"})
	}
	where := "Nodes are placed by a layout: near means well joined."
	if c.places != nil {
		where = "Nodes are placed by their properties."
	}
	s.Text = fmt.Sprintf("%s The likeliest node is %s, with probability %s. The table of the likeliest nodes below says the same.", where,
		cut(c.Best()), share(c.probability(c.best)))
}

func (c *content) explainCommunities(s *scene, shown int) {
	r := c.Report
	s.Title = "Map of the communities, coloured by where the source may be"
	which := ""
	if shown < len(r.Communities) {
		which = fmt.Sprintf("; the likeliest %s of %s communities are drawn", thousands(shown), thousands(len(r.Communities)))
	}
	s.Legend = []legendItem{{"circle", "circle: a community, as large as it has nodes; line: relationships between two, the " +
		"wider the more" + which}}
	if c.Report.StandsOut() {
		s.Legend = append(s.Legend, legendItem{"credible", "thick ring: the community that the answer names"})
	}
	s.Text = fmt.Sprintf("The graph has %s nodes, too many to draw one by one. The table of communities below says the same.",
		thousands(c.graph.Order()))
}

// settings are the parameters of the run, for a reader who repeats it.
func settings(r *report.Report) []fact {
	list := []fact{
		{"diffusion time τ", digits(r.Tau)},
		{"Laplacian", r.Laplacian},
		{"kernel", r.KernelMethod},
		{"ε", digits(r.Epsilon)},
		{"δ", digits(r.Delta)},
		{"radius of neighbours α", digits(r.Alpha)},
		{"metric", r.Metric},
		{"calibration", r.Calibration},
		{"allocation of the noise", r.Allocation},
		{"randomness", r.Randomness},
	}
	if r.Prior != "" {
		list = append(list, fact{"prior", r.Prior})
	}
	return filled(list)
}

// facts identify the run.
func facts(r *report.Report) []fact {
	when := ""
	if !r.StartedAt.IsZero() {
		when = r.StartedAt.UTC().Format("2006-01-02 15:04 UTC")
	}
	return filled([]fact{
		{"run", r.RunID},
		{"release", r.ReleaseID},
		{"started", when},
		{"version", r.Version},
		{"store", r.Store},
		{"nodes", thousands(r.NodeCount)},
		{"relationships", thousands(r.RelationshipCount)},
		{"components", thousands(r.ComponentCount)},
		{"sensors that report", thousands(r.SensorCount)},
		{"ledger head", r.LedgerHead},
	})
}

func filled(list []fact) []fact {
	var out []fact
	for _, f := range list {
		if f.Value != "" && f.Value != "0" {
			out = append(out, f)
		}
	}
	return out
}

// Certificate says in words what Basis Pursuit Denoising proved.
func (c *content) Certificate() string {
	b := c.Report.BPDN
	switch b.Status {
	case "optimal":
		gap := ""
		if b.Gap != nil {
			gap = fmt.Sprintf(" No source vector that fits has a total mass smaller by more than a relative %s: the duality gap proves it.",
				strconv.FormatFloat(*b.Gap, 'g', 2, 64))
		}
		return fmt.Sprintf("The least source vector within the radius of the measurements has mass %s, on %s.%s This is no second "+
			"answer: it does not tell where the source is. It bounds the true mass from below only where the noise is within the "+
			"radius, which by the rule that is taken by default it is in half of all runs. The ranking above rests on the posterior.",
			digits(b.Objective), nodesOf(len(b.Support)), gap)
	case "zero":
		return "No source at all explains the measurements just as well within the noise: f̂ = 0 is optimal, and this method names " +
			"nothing. The ranking above rests on the posterior."
	case "infeasible":
		return "No source vector in [0, 1] fits the measurements within the radius; there is a proof. The ranking above rests on " +
			"the posterior."
	}
	return "The solver stopped without a certificate, so f̂ may not be optimal. The ranking above rests on the posterior, which does " +
		"not depend on it."
}

func nodesOf(n int) string { return counted(n, "node") }

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}
