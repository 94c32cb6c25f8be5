// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/report"
)

// Facts are what is known of a graph and of the choices for it. Of what is zero or nil
// nothing is said.
type Facts struct {
	Graph       *graph.Graph
	Metric      string  // of lengths: hops, or a relationship property
	Alpha       float64 // in its units
	Delta       float64
	Aggregation string           // of parallel relationships; "": the user chose it and knows
	Communities int              // that the answer distinguishes
	Accuracy    *report.Accuracy // expected
	Target      bool             // whether a plan can be searched for a target of accuracy
	Refused     bool             // whether a run is, whose answer cannot be distinguished from chance
	Rough       *report.Accuracy // the same by a rough simulation, of which Probability and Chance are read
	CutShort    bool             // whether the search for τ left out values that would have taken too long
}

// Warning is one thing that will disappoint.
type Warning struct {
	Code    string // the same for all of its kind, such as alpha
	Text    string // what is so, in one sentence without its full stop
	Advice  string // what fixes it, beginning with a verb
	Example string // the flag with a value that does, "" where there is no one answer
}

func (w Warning) String() string {
	text := w.Text + "; " + w.Advice
	if w.Example != "" {
		text += ", such as " + w.Example
	}
	return text
}

// Warnings says what will disappoint.
func Warnings(f Facts) (all []Warning) {
	if f.Graph != nil && f.Graph.Order() > 1 {
		for _, find := range []func(Facts) (Warning, bool){delta, lengths, parts, parallel} {
			if w, ok := find(f); ok {
				all = append(all, w)
			}
		}
	}
	if w, ok := accuracy(f); ok {
		all = append(all, w)
	}
	return all
}

// number is a value as people write it.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

// delta compares δ with 1/n: with that probability a guess at the source is right.
func delta(f Facts) (Warning, bool) {
	n := f.Graph.Order()
	if f.Delta <= 1/float64(n) {
		return Warning{}, false
	}
	small := math.Pow(10, math.Floor(math.Log10(0.1/float64(n))))
	return Warning{
		Code: "delta",
		Text: fmt.Sprintf("δ = %s is above 1/n = %s: what names the source outright in %s of all releases would keep this promise too",
			number(f.Delta), number(1/float64(n)), report.Percent(f.Delta)),
		Advice: "choose δ well below 1/n", Example: "--delta " + number(small),
	}, true
}

// lengths compares α with the lengths of the relationships: a source is hidden from the
// places that are at most α away.
func lengths(f Facts) (Warning, bool) {
	nearest := nearestNeighbors(f.Graph)
	if len(nearest) == 0 || f.Alpha <= 0 {
		return Warning{}, false
	}
	slices.Sort(nearest)
	alone := len(nearest) - sort.Search(len(nearest), func(i int) bool { return nearest[i] > f.Alpha })
	shortest := nearest[0]
	w := Warning{Code: "alpha", Advice: "raise α, in the units of " + f.metric(), Example: "--alpha " + number(Alpha(f.Graph))}
	switch {
	case alone == len(nearest):
		w.Text = fmt.Sprintf("α = %s while the shortest %s is %s: no source is hidden even from its nearest neighbour", number(f.Alpha),
			f.metric(), number(shortest))
	case 10*alone >= len(nearest):
		w.Text = fmt.Sprintf("α = %s, and %d of %d nodes have no neighbour so near: a source there is not hidden", number(f.Alpha),
			alone, len(nearest))
	default:
		return Warning{}, false
	}
	return w, true
}

func (f Facts) metric() string {
	if f.Metric == "" || f.Metric == "hops" {
		return "hop"
	}
	return strconv.Quote(f.Metric)
}

// ceiling rounds up to three digits, so that what is shown suffices.
func ceiling(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return math.Ceil(x/unit*(1-1e-12)) * unit
}

// nearestNeighbors returns the length of the shortest relationship of each node that has any.
func nearestNeighbors(g *graph.Graph) (nearest []float64) {
	ptr, _, _ := g.CSR()
	lengths := g.Lengths()
	for i := range g.Order() {
		switch lo, hi := ptr[i], ptr[i+1]; {
		case lo == hi:
		case lengths == nil:
			nearest = append(nearest, 1)
		default:
			nearest = append(nearest, slices.Min(lengths[lo:hi]))
		}
	}
	return nearest
}

// parts warns of a graph of several components.
func parts(f Facts) (Warning, bool) {
	_, sizes := f.Graph.Components()
	if len(sizes) < 2 {
		return Warning{}, false
	}
	small, nodes := 0, 0
	for _, s := range sizes {
		if s < fewNodes {
			small, nodes = small+1, nodes+s
		}
	}
	w := Warning{
		Code: "parts",
		Text: fmt.Sprintf("the graph falls into %d parts, the largest of %d of %d nodes: in which of them the source lies is not hidden",
			len(sizes), slices.Max(sizes), f.Graph.Order()),
		Advice: "select relationship types that join them, or one part",
	}
	if small > 0 {
		w.Text += fmt.Sprintf(", and it hides among the nodes of its part alone: %s with fewer than %d nodes, %s in all",
			report.Count(small, "part"), fewNodes, report.Count(nodes, "node"))
	}
	return w, true
}

// fewNodes is the size below which a part of a graph is warned of: a source hides in its own part.
const fewNodes = 10

// parallel warns of relationships between the same two nodes.
func parallel(f Facts) (Warning, bool) {
	d := f.Graph.Dropped()
	if d.Parallel == 0 || f.Aggregation == "" {
		return Warning{}, false
	}
	return Warning{
		Code: "parallel",
		Text: fmt.Sprintf("%d of %d relationships join nodes that another joins already, and their weights are merged by %s",
			d.Parallel, d.Parallel+f.Graph.Size(), f.Aggregation),
		Advice: "say by --aggregation what is meant: SUM lets heat flow faster where there are more, SINGLE counts one",
	}, true
}

// little reports whether a probability of being right is below [report.Half].
func little(right, chance float64) bool { return right < report.Half(chance) }

// Help says what makes the answer right more often. An α below the lengths of the relationships hides nothing, so that a smaller one
// is named only above them.
func (f Facts) Help() string {
	text := "raise ε, or use fewer communities"
	if f.Graph != nil && f.Alpha > Alpha(f.Graph) {
		text = "raise ε, use fewer communities, or lower α"
	}
	if f.CutShort {
		text = "the search for τ was cut short, so give --tau; or " + text
	}
	if f.Target {
		text += "; `graphcloak plan --target-accuracy 0.9` finds the ε"
	}
	return text
}

// accuracy compares how often the right community would be named with always naming the
// likeliest. A rough simulation serves where no other was made.
func accuracy(f Facts) (Warning, bool) {
	if f.Communities == 1 {
		return Warning{
			Code: "communities", Text: "there is a single community, and so nothing to tell apart",
			Advice: "give a --community-property with several, or a higher --gamma",
		}, true
	}
	a := f.Accuracy
	if a != nil && a.Few() { // which tell nothing
		a = nil
	}
	if a == nil && f.Rough != nil && little(f.Rough.Probability, f.Rough.Chance) {
		return Warning{
			Code: "accuracy",
			Text: fmt.Sprintf("in a rough simulation the answer is right %s of the time; chance is %s",
				report.Percent(f.Rough.Probability), report.Percent(f.Rough.Chance)),
			Advice: f.Help(),
		}, true
	}
	if a == nil || !little(a.Probability, a.Chance) {
		return Warning{}, false
	}
	w := Warning{
		Code: "accuracy",
		Text: fmt.Sprintf("the answer will be right %s of the time (95 %% interval %.0f to %.0f %%, from %d simulated runs); chance is %s",
			report.Percent(a.Probability), 100*a.Lower, 100*a.Upper, a.Trials, report.Percent(a.Chance)),
		Advice: f.Help(),
	}
	if a.AtChance() {
		w.Text += ", and it cannot be distinguished from that"
	}
	if a.Limit != nil && a.Limit.Gaussian < 1 {
		w.Text += "; " + a.LimitClause("(ε, δ)")
		if little(a.Limit.Gaussian, a.Chance) {
			w.Advice += "; another τ, allocation or more sensors cannot close the gap"
		}
	}
	if a.AtChance() && f.Refused {
		w.Text += "; a run is refused unless --spend-at-chance is given"
	}
	return w, true
}

// Alpha proposes α for a graph with lengths: nine nodes of ten have a neighbour so near.
// It is 1 where there are no relationships.
func Alpha(g *graph.Graph) float64 {
	nearest := nearestNeighbors(g)
	if len(nearest) == 0 {
		return 1
	}
	slices.Sort(nearest)
	return ceiling(nearest[(9*len(nearest)-1)/10])
}
