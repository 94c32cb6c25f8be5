// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/spatial/r2"

	"github.com/graphcloak/graphcloak/graph"
)

// scene is a drawing of nodes in units of its view box.
type scene struct {
	Title, Text   string
	Measure       string // what the colours show
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

// colours has two groups of each colour: the second of what is ringed.
func colours() []group {
	list := make([]group, 2*bins)
	for k := range list {
		list[k] = group{Class: class(k / 2), Fill: light[k/2], Credible: k%2 == 1}
	}
	return list
}

// marked are the groups that have marks.
func marked(list []group) []group {
	return slices.DeleteFunc(list, func(g group) bool { return len(g.Marks) == 0 })
}

// mark is a node or a community.
type mark struct {
	X, Y, R float64
	Square  bool // a node without a sensor or an answer
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

// legendItem explains a sign.
type legendItem struct{ Sign, Text string }

// sign adds one to the legend.
func (s *scene) sign(sign, format string, values ...any) {
	s.Legend = append(s.Legend, legendItem{sign, fmt.Sprintf(format, values...)})
}

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

// opacity lets many lines stay behind what they join.
func opacity(lines int) float64 { return math.Round(100*min(.6, .1+1000/float64(lines+1))) / 100 }

func line(b *strings.Builder, p, q r2.Vec) { fmt.Fprintf(b, "M%g %gL%g %g", p.X, p.Y, q.X, q.Y) }

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

// saturation is how much more than chance the darkest colour says at least: a map on which
// nothing stands out is pale.
const saturation = 4

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
