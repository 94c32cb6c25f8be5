// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/spatial/r2"
)

// draw makes the map: of all nodes, or of those around the likeliest.
func (c *content) draw() error {
	nodes, part := c.all(), len(c.labels) > drawn
	if part {
		nodes = ball(c.graph, c.best, near)
	}
	at, err := c.placeSome(nodes)
	if err != nil {
		return err
	}
	c.Map = c.nodeScene(nodes, at, part)
	return nil
}

// drawn bounds the graphs whose nodes are all drawn, near the nodes around the likeliest one where they are not.
const (
	drawn = 4000
	near  = 300
)

// placeSome places some nodes: where they are, else by a layout of what lies between them.
func (c *content) placeSome(nodes []int) ([]r2.Vec, error) {
	if c.places != nil {
		at := make([]r2.Vec, len(nodes))
		for k, v := range nodes {
			at[k] = c.places[v]
		}
		return at, nil
	}
	if len(nodes) == len(c.labels) {
		return place(c.graph, c.labels, c.communities), nil
	}
	g, err := induced(c.graph, nodes)
	if err != nil {
		return nil, err
	}
	labels := relabel(c.labels, nodes)
	return place(g, labels, slices.Max(labels)+1), nil
}

// relabel numbers the communities of some nodes from 0.
func relabel(labels, nodes []int) []int {
	index, out := make(map[int]int), make([]int, len(nodes))
	for k, v := range nodes {
		i, ok := index[labels[v]]
		if !ok {
			i = len(index)
			index[labels[v]] = i
		}
		out[k] = i
	}
	return out
}

// nodeScene draws nodes of the graph, all or a part of them, each where it is.
func (c *content) nodeScene(nodes []int, at []r2.Vec, part bool) *scene {
	s := &scene{Title: c.words().Map, Measure: c.words().Measure, Width: viewWidth, Height: fit(at)}
	if part {
		s.Title = "The surroundings of the likeliest " + c.words().Node
	}
	place := make(map[int]r2.Vec, len(nodes))
	for k, v := range nodes {
		place[v] = at[k]
	}
	r := min(11, max(2.6, .14*math.Sqrt(viewWidth*s.Height/float64(len(nodes)))))
	s.Ring, s.Thin = tenth(max(.8, .24*r)), tenth(max(.4, .07*r))
	s.Wide = tenth(max(24, 3.2*r))
	s.Inner = s.Wide - 5
	var edges, halo strings.Builder
	for _, v := range nodes {
		for _, w := range c.graph.Neighbors(v) {
			if q, ok := place[int(w)]; ok && v < int(w) {
				line(&edges, place[v], q)
				if c.named(v) && c.named(int(w)) {
					line(&halo, place[v], q)
				}
			}
		}
		if c.named(v) {
			fmt.Fprintf(&halo, "M%g %gh.01", place[v].X, place[v].Y)
		}
	}
	s.Edges, s.Halo = []stroke{{tenth(max(.5, r/7)), opacity(strings.Count(edges.String(), "M")), edges.String()}}, halo.String()
	s.Marks = c.groups(nodes, place, r)
	s.Labels = c.nodeLabels(nodes, place, r)
	c.star(s, place, r)
	c.explain(s)
	return s
}

// groups sorts marks by colour, the likeliest last: they lie on top.
func (c *content) groups(nodes []int, place map[int]r2.Vec, r float64) []group {
	list := colours()
	sparse := len(nodes) > 300 && 8*len(c.credible) < len(nodes) // they would be lost among the others
	for _, v := range nodes {
		k := 2 * bin(c.probability(v), c.highest)
		if c.credible[v] {
			k++
		}
		size, square := c.size(v)
		if c.credible[v] && sparse {
			size *= 1.6
		}
		list[k].Marks = append(list[k].Marks, mark{place[v].X, place[v].Y, tenth(r * size), square, c.describe(v)})
	}
	return marked(list)
}

// size says how large a node is drawn: the more precise its sensor, the larger; a yes larger than a no.
func (c *content) size(v int) (factor float64, square bool) {
	if c.Whisper() {
		switch c.answer[v] {
		case saysYes:
			return 1.25, false
		case saysNo:
			return .75, false
		}
		return .6, true
	}
	sigma, ok := c.sigma[v]
	switch {
	case !ok:
		return .7, true
	case c.sigmaMax <= c.sigmaMin:
		return 1, false
	}
	return 1.25 - .55*math.Log(sigma/c.sigmaMin)/math.Log(c.sigmaMax/c.sigmaMin), false
}

// nodeLabels names the likeliest node, which is no person, and the communities, as far as there is room.
func (c *content) nodeLabels(nodes []int, place map[int]r2.Vec, r float64) []label {
	var kept []label
	if p, ok := place[c.best]; ok && !c.Whisper() {
		l := label{X: p.X + 1.6*r, Y: max(20, p.Y-1.6*r), Text: short(c.name(c.best)), Bold: true}
		if l.Leftward() {
			l.X = p.X - 1.6*r
		}
		kept = append(kept, l)
	}
	sums := make(map[int]r2.Vec)
	counts := make(map[int]float64)
	for _, v := range nodes {
		k := c.labels[v]
		sums[k] = r2.Add(sums[k], place[v])
		counts[k]++
	}
	for rank, row := range c.Report.Communities {
		if n := counts[row.CommunityID]; n > 0 && rank < 12 {
			p := r2.Scale(1/n, sums[row.CommunityID])
			kept = fitLabel(kept, label{X: p.X, Y: p.Y, Text: short(row.Name)})
		}
	}
	return kept
}

// star marks where the source really was, where that is known.
func (c *content) star(s *scene, place map[int]r2.Vec, r float64) {
	if c.Truth == nil {
		return
	}
	for _, v := range c.Truth.Nodes {
		if p, ok := place[v]; ok {
			s.Star = &label{X: p.X, Y: p.Y, Text: fmt.Sprintf("%.4g", max(1, r/7))}
		}
	}
}

// describe is the title of a node's mark.
func (c *content) describe(v int) string {
	note := c.note(v)
	if _, ok := c.sigma[v]; ok {
		note = "σ " + note
	}
	return fmt.Sprintf("%s: %s, %s", cut(c.call(v)), share(c.probability(v)), note)
}

// explain writes the map's title, description and legend.
func (c *content) explain(s *scene) {
	r, w := c.Report, c.words()
	s.Scale, s.Low, s.High = swatches(), "0 %", share(c.highest)
	s.sign("credible", "thick ring: %s is among these with 95 %% probability (%s in all)", w.Source,
		c.count(r.Posterior.CredibleSetSize))
	if r.StandsOut() {
		s.sign("halo", "blue band: the community that the answer names, %s", cut(r.Communities[0].Name))
	}
	if s.Star != nil {
		s.sign("star", "blue star: %s", w.Truth)
	}
	switch {
	case c.Whisper():
		c.explainAnswers(s)
	case c.sigmaMax > c.sigmaMin:
		s.sign("size", "large to small: sensors with little to much noise, σ from %s to %s", digits(c.sigmaMin), digits(c.sigmaMax))
	case len(c.sigma) > 0:
		s.sign("circle", "circle: a sensor, each with noise of σ = %s", digits(c.sigmaMin))
	}
	if len(c.sigma)+len(c.answer) < c.graph.Order() {
		s.sign("square", "small square: %s", w.Silent)
	}
	where := "by a layout"
	if c.places != nil {
		where = "by their properties"
	}
	if c.Whisper() {
		s.Text = fmt.Sprintf("People are placed %s. The tables below say the same in numbers.", where)
		return
	}
	s.Text = fmt.Sprintf("Nodes are placed %s. The likeliest node is %s, with probability %s. The table of the likeliest nodes below "+
		"says the same.", where, cut(c.Best()), share(c.probability(c.best)))
}

// explainAnswers adds the signs of answers to the legend.
func (c *content) explainAnswers(s *scene) {
	w := c.Report.Whisper
	s.sign("size", "large circle: says yes (%s); small circle: says no (%s). The coin lies in %s of answers", thousands(w.Yes),
		thousands(w.Asked-w.Yes), share(w.Flip))
}
