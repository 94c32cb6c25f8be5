// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/spatial/r2"

	"github.com/graphcloak/graphcloak/graph"
)

// scene is a drawing of nodes, or of communities, in units of its view box.
type scene struct {
	ID            string
	Title, Text   string
	Width, Height float64
	Halo          string // path along the named community
	Edges         []stroke
	Marks         []group
	Labels        []label
	Star          *label  // where the source really was
	Ring, Thin    float64 // widths of outlines
	Wide, Inner   float64 // widths of the halo and of what it encloses
	Legend        []legendItem
	Scale         []swatch
	Low, High     string
}

// stroke is a path of lines of one width.
type stroke struct {
	Width, Opacity float64
	Path           string
}

// group is marks of one colour.
type group struct {
	Class, Fill string
	Credible    bool
	Marks       []mark
}

// mark is a node or a community.
type mark struct {
	X, Y, R float64
	Square  bool // a node without a sensor
	Title   string
}

// Left, Top and Side are those of a square.
func (m mark) Left() float64 { return tenth(m.X - m.R) }

// Top is described at Left.
func (m mark) Top() float64 { return tenth(m.Y - m.R) }

// Side is described at Left.
func (m mark) Side() float64 { return tenth(2 * m.R) }

type label struct {
	X, Y float64
	Text string
	Bold bool // of the likeliest node, beside it
	Wide bool // has no room where text is large beside the map
}

// Leftward reports whether a bold label ends at its place, so that it stays on the map.
func (l label) Leftward() bool { return l.X > viewWidth/2 }

type swatch struct{ Class, Fill string }

// legendItem explains a sign.
type legendItem struct{ Sign, Text string }

// viewWidth is the width of every view box; text of 13 units is 11 pixels on a screen
// of 360, scaled up where the drawing may scroll.
const (
	viewWidth = 1000.0
	margin    = 36.0
	maxHeight = 900.0
)

// fit scales places into the view box, and returns its height.
func fit(at []r2.Vec) (height float64) {
	box := boundsOf(at)
	size := box.Size()
	scale := min((viewWidth-2*margin)/max(size.X, 1e-9), (maxHeight-2*margin)/max(size.Y, 1e-9))
	if size.X == 0 && size.Y == 0 {
		scale = 1
	}
	height = max(240, size.Y*scale+2*margin)
	offset := r2.Vec{X: (viewWidth - size.X*scale) / 2, Y: (height - size.Y*scale) / 2}
	for i := range at {
		p := r2.Add(r2.Scale(scale, r2.Sub(at[i], box.Min)), offset)
		at[i] = r2.Vec{X: tenth(p.X), Y: tenth(p.Y)}
	}
	return tenth(height)
}

func tenth(x float64) float64 { return math.Round(10*x) / 10 }

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

// opacity lets many lines stay behind what they join.
func opacity(lines int) float64 { return math.Round(100*min(.6, .1+1000/float64(lines+1))) / 100 }

func line(b *strings.Builder, p, q r2.Vec) { fmt.Fprintf(b, "M%g %gL%g %g", p.X, p.Y, q.X, q.Y) }

// groups sorts marks by colour, the likeliest last: they lie on top.
func (c *content) groups(nodes []int, place map[int]r2.Vec, r float64) []group {
	list := make([]group, 2*bins)
	for k := range list {
		list[k] = group{Class: class(k / 2), Fill: light[k/2], Credible: k%2 == 1}
	}
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
	return slices.DeleteFunc(list, func(g group) bool { return len(g.Marks) == 0 })
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

// fitLabel adds a label where it covers no other, for wide maps alone where it would on a
// narrow one.
func fitLabel(kept []label, l label) []label {
	for _, shift := range []float64{26, -52, 0} { // as good a place below it, or above
		if l.fits(kept, 1) {
			break
		}
		if shift == 0 {
			return kept
		}
		l.Y += shift
	}
	narrow := slices.DeleteFunc(slices.Clone(kept), func(o label) bool { return o.Wide })
	l.Wide = !l.fits(narrow, enlarged)
	half := l.width(1) / 2
	if !l.Wide {
		half = l.width(enlarged) / 2
	}
	l.X = min(max(l.X, half+4), viewWidth-half-4)
	return append(kept, l)
}

// enlarged is how much larger the text of a map is on a narrow page.
const enlarged = 2.2

// width is that of a label whose text is so much larger.
func (l label) width(larger float64) float64 {
	w := 9 * larger * float64(len([]rune(l.Text)))
	if l.Bold {
		return 1.4 * w
	}
	return w
}

// fits reports whether a label covers no other, all so much larger.
func (l label) fits(kept []label, larger float64) bool {
	w := l.width(larger)
	at := min(max(l.X, w/2+4), viewWidth-w/2-4)
	for _, o := range kept {
		other, middle := o.width(larger), o.X
		switch {
		case o.Bold && o.Leftward():
			middle -= other / 2
		case o.Bold:
			middle += other / 2
		default:
			middle = min(max(o.X, other/2+4), viewWidth-other/2-4)
		}
		if math.Abs(o.Y-l.Y) < 26*larger && math.Abs(middle-at) < (w+other)/2 {
			return false
		}
	}
	return true
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
		highest = max(highest, min(1, saturation*row.Prior))
		index[row.CommunityID] = k
		radii[k] = math.Sqrt(float64(row.Size))
		highest = max(highest, row.Probability)
	}
	joined := joins(c.graph, c.labels, index)
	at := c.centres(index, len(shown))
	if at == nil {
		at = arrange(radii, joined)
	}
	s := &scene{ID: "map", Width: viewWidth, Ring: 3, Thin: .8}
	scale := c.scaleCircles(s, at, radii)
	s.Edges = ribbons(joined, at)
	list := make([]group, 2*bins)
	for k := range list {
		list[k] = group{Class: class(k / 2), Fill: light[k/2], Credible: k%2 == 1}
	}
	for k, row := range shown {
		b := 2 * bin(row.Probability, highest)
		if k == 0 && c.Report.StandsOut() {
			b++
		}
		r := max(2.5, tenth(scale*radii[k]))
		list[b].Marks = append(list[b].Marks,
			mark{
				at[k].X, at[k].Y, r, false,
				fmt.Sprintf("%s: %s, probability %s", plain(row.Name), nodesOf(row.Size), percent(row.Probability)),
			})
		if k < 40 {
			y := at[k].Y + 5
			if r < 24 {
				y += r + 11
			}
			s.Labels = fitLabel(s.Labels, label{X: at[k].X, Y: y, Text: short(row.Name)})
		}
	}
	s.Marks = slices.DeleteFunc(list, func(g group) bool { return len(g.Marks) == 0 })
	s.Scale, s.Low, s.High = swatches(), "0 %", share(highest)
	c.explainCommunities(s, len(shown))
	return s
}

// saturation is how much more than chance the darkest colour says at least: a map on which
// nothing stands out is pale.
const saturation = 4

// circles bounds the communities that are drawn.
const circles = 150

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

// ribbons are the relationships between communities: the more, the wider, in four widths.
func ribbons(joined map[pair]int, at []r2.Vec) []stroke {
	pairs := make([]pair, 0, len(joined))
	most := 1
	for p, n := range joined {
		pairs, most = append(pairs, p), max(most, n)
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	paths := make([]strings.Builder, 4)
	for _, p := range pairs {
		k := min(3, int(4*math.Log1p(float64(joined[p]))/math.Log1p(float64(most))))
		line(&paths[k], at[p[0]], at[p[1]])
	}
	var out []stroke
	for k := range paths {
		if paths[k].Len() > 0 {
			out = append(out, stroke{
				[]float64{.6, 1.2, 2, 3}[k], math.Round(100*min(.5, .1+60/float64(len(pairs)))) / 100,
				paths[k].String(),
			})
		}
	}
	return out
}

// ball returns the nodes nearest to one in hops, so many at most.
func ball(g *graph.Graph, from, most int) []int {
	seen, queue := map[int]bool{from: true}, []int{from}
	for k := 0; k < len(queue) && len(queue) < most; k++ {
		for _, w := range g.Neighbors(queue[k]) {
			if !seen[int(w)] && len(queue) < most {
				seen[int(w)] = true
				queue = append(queue, int(w))
			}
		}
	}
	slices.Sort(queue)
	return queue
}

// induced returns the graph of some nodes, in their order, which is ascending.
func induced(g *graph.Graph, nodes []int) (*graph.Graph, error) {
	index := make(map[int32]int, len(nodes))
	var b graph.Builder
	for _, v := range nodes {
		h, err := b.AddNode(g.ID(v))
		if err != nil {
			return nil, err
		}
		index[int32(v)] = h
	}
	for _, v := range nodes {
		for _, w := range g.Neighbors(v) {
			if h, ok := index[w]; ok && v < int(w) {
				if err := b.Connect(index[int32(v)], h, 1, 1); err != nil {
					return nil, err
				}
			}
		}
	}
	return b.Graph()
}
