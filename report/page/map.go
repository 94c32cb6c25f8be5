// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/spatial/r2"
)

// draw makes the map, and a closer one where the first shows communities.
func (c *content) draw() error {
	if n := c.graph.Order(); n <= drawn {
		at := slices.Clone(c.places)
		if at == nil {
			at = place(c.graph, c.labels, c.communities)
		}
		c.Map = c.nodeScene("map", c.all(), at)
		return nil
	}
	c.Map = c.communityScene()
	nodes := ball(c.graph, c.best, near)
	at, err := c.placeSome(nodes)
	if err != nil {
		return err
	}
	c.Zoom = c.nodeScene("zoom", nodes, at)
	return nil
}

// drawn bounds the nodes that are drawn one by one; above it communities are.
const drawn = 4000

// near bounds the nodes of the closer map.
const near = 300

// placeSome places some nodes: where they are, else by a layout of what lies between them.
func (c *content) placeSome(nodes []int) ([]r2.Vec, error) {
	if c.places != nil {
		at := make([]r2.Vec, len(nodes))
		for k, v := range nodes {
			at[k] = c.places[v]
		}
		return at, nil
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

// nodeScene draws some nodes of the graph, each where it is.
func (c *content) nodeScene(id string, nodes []int, at []r2.Vec) *scene {
	s := &scene{ID: id, Width: viewWidth, Height: fit(at)}
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

// size says how large a node is drawn: the more precise its sensor, the larger.
func (c *content) size(v int) (factor float64, square bool) {
	sigma, ok := c.sigma[v]
	switch {
	case !ok:
		return .7, true
	case c.sigmaMax <= c.sigmaMin:
		return 1, false
	}
	return 1.25 - .55*math.Log(sigma/c.sigmaMin)/math.Log(c.sigmaMax/c.sigmaMin), false
}

// nodeLabels names the likeliest node and the communities, as far as there is room.
func (c *content) nodeLabels(nodes []int, place map[int]r2.Vec, r float64) []label {
	var kept []label
	if p, ok := place[c.best]; ok {
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

// star marks where the source really was, where that is told.
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

// communityScene draws each community as a circle, the likeliest and largest of them.
func (c *content) communityScene() *scene {
	shown := c.Report.Communities[:min(circles, len(c.Report.Communities))]
	index := slices.Repeat([]int{-1}, c.communities)
	radii := make([]float64, len(shown))
	highest := 0.0
	for k, row := range shown {
		highest = max(highest, min(1, saturation*row.Prior), row.Probability)
		index[row.CommunityID] = k
		radii[k] = math.Sqrt(float64(row.Size))
	}
	joined := joins(c.graph, c.labels, index)
	at := c.centres(index, len(shown))
	if at == nil {
		at = arrange(radii, joined)
	}
	s := &scene{ID: "map", Width: viewWidth, Ring: 3, Thin: .8}
	scale := c.scaleCircles(s, at, radii)
	s.Edges = ribbons(joined, at)
	list := colours()
	for k, row := range shown {
		b := 2 * bin(row.Probability, highest)
		if k == 0 && c.Report.StandsOut() {
			b++
		}
		r := max(2.5, tenth(scale*radii[k]))
		title := fmt.Sprintf("%s: %s, probability %s", plain(row.Name), nodesOf(row.Size), percent(row.Probability))
		list[b].Marks = append(list[b].Marks, mark{at[k].X, at[k].Y, r, false, title})
		if k < 40 {
			y := at[k].Y + 5
			if r < 24 {
				y += r + 11
			}
			s.Labels = fitLabel(s.Labels, label{X: at[k].X, Y: y, Text: short(row.Name)})
		}
	}
	s.Marks = marked(list)
	s.Scale, s.Low, s.High = swatches(), "0 %", share(highest)
	c.explainCommunities(s, len(shown))
	return s
}

// scaleCircles fits circles into the view box and returns the scale of their radii.
func (c *content) scaleCircles(s *scene, at []r2.Vec, radii []float64) float64 {
	if c.places != nil { // real places: no circle is larger than a tenth of the map
		s.Height = fit(at)
		return 50 / slices.Max(radii)
	}
	corners := slices.Clone(at)
	for k, p := range at {
		r := r2.Vec{X: radii[k], Y: radii[k]}
		corners = append(corners, r2.Sub(p, r), r2.Add(p, r))
	}
	before := r2.Norm(r2.Sub(corners[len(at)], corners[len(at)+1]))
	s.Height = fit(corners)
	copy(at, corners)
	return r2.Norm(r2.Sub(corners[len(at)], corners[len(at)+1])) / before
}

// centres are the means of the places of the members, nil where there are no places.
func (c *content) centres(index []int, k int) []r2.Vec {
	if c.places == nil {
		return nil
	}
	at, count := make([]r2.Vec, k), make([]float64, k)
	for v, p := range c.places {
		if i := index[c.labels[v]]; i >= 0 {
			at[i] = r2.Add(at[i], p)
			count[i]++
		}
	}
	for i := range at {
		at[i] = r2.Scale(1/count[i], at[i])
	}
	return at
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
	s.sign("credible", "thick ring: the source is among these with 95 %% probability (%s in all)", nodesOf(r.Posterior.CredibleSetSize))
	if r.StandsOut() {
		s.sign("halo", "blue band: the community that the answer names, %s", cut(r.Communities[0].Name))
	}
	if s.Star != nil {
		s.sign("star", "blue star: where the source really was")
	}
	switch {
	case c.sigmaMax > c.sigmaMin:
		s.sign("size", "large to small: sensors with little to much noise, σ from %s to %s", digits(c.sigmaMin), digits(c.sigmaMax))
	case len(c.sigma) > 0:
		s.sign("circle", "circle: a sensor, each with noise of σ = %s", digits(c.sigmaMin))
	}
	if len(c.sigma) < c.graph.Order() {
		s.sign("square", "small square: a node without a sensor")
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
	s.sign("circle", "circle: a community, as large as it has nodes; line: relationships between two, the wider the more%s", which)
	if r.StandsOut() {
		s.sign("credible", "thick ring: the community that the answer names")
	}
	s.Text = fmt.Sprintf("The graph has %s nodes, too many to draw one by one. The table of communities below says the same.",
		thousands(c.graph.Order()))
}
