// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// ErrImpossible says that no graph has the parameters that a generator was given.
var ErrImpossible = errors.New("graph: impossible parameters")

// maxGenerated bounds the edges of a generated graph: 2³⁰ take 8 GiB as they are
// collected and 8 GiB as rows.
const maxGenerated = 1 << 30

// Point is a place in the unit square.
type Point struct{ X, Y float64 }

func (p Point) distance(q Point) float64 { return math.Hypot(p.X-q.X, p.Y-q.Y) }

// numberedBuilder returns a builder of the nodes 0 … n−1 under decimal ids, whose
// handles are their numbers, after checking that edges are not too many.
func numberedBuilder(family string, n int, edges float64) (*Builder, error) {
	switch {
	case n < 0:
		return nil, impossible(family, "order is %d, want ≥ 0", n)
	case n > math.MaxInt32:
		return nil, fmt.Errorf("%w: %s of order %d", ErrTooLarge, family, n)
	case edges > maxGenerated:
		return nil, impossible(family, "order %d means about %.0f edges, want at most %d", n, edges, maxGenerated)
	}
	b := &Builder{}
	var digits [20]byte
	for i := range n {
		b.ids.append(ID(strconv.AppendInt(digits[:0], int64(i), 10)))
	}
	return b, nil
}

func impossible(family, format string, args ...any) error {
	return fmt.Errorf("%w of %s: %s", ErrImpossible, family, fmt.Sprintf(format, args...))
}

// addUnitEdge adds an edge of weight and length 1 between nodes of a numbered builder.
func (b *Builder) addUnitEdge(u, v int) { b.add(u, v, 1, 1) }

// Path returns the path 0 – 1 – … – n−1.
func Path(n int) (*Graph, error) {
	b, err := numberedBuilder("path", n, float64(n))
	if err != nil {
		return nil, err
	}
	for v := 1; v < n; v++ {
		b.addUnitEdge(v-1, v)
	}
	return b.Graph()
}

// Interval returns the unit interval as the path of the n points 0, 1/n, …,
// (n−1)/n: lengths are 1/n, and weights n², so that L is the second difference
// and e^{-τL} tends to the heat kernel with reflecting ends.
func Interval(n int) (*Graph, error) {
	b, err := numberedBuilder("interval", n, float64(n))
	if err != nil {
		return nil, err
	}
	for v := 1; v < n; v++ {
		b.add(v-1, v, float64(n)*float64(n), 1/float64(n))
	}
	return b.Graph()
}

// Cycle returns the cycle of n ≥ 3 nodes.
func Cycle(n int) (*Graph, error) {
	if n < 3 {
		return nil, impossible("cycle", "order is %d, want ≥ 3", n)
	}
	b, err := numberedBuilder("cycle", n, float64(n))
	if err != nil {
		return nil, err
	}
	for v := range n {
		b.addUnitEdge(v, (v+1)%n)
	}
	return b.Graph()
}

// Complete returns the complete graph on n nodes.
func Complete(n int) (*Graph, error) {
	b, err := numberedBuilder("complete graph", n, float64(n)*float64(n-1)/2)
	if err != nil {
		return nil, err
	}
	for v := range n {
		for u := range v {
			b.addUnitEdge(u, v)
		}
	}
	return b.Graph()
}

// Star returns the star of n nodes in all: centre 0 and n−1 leaves.
func Star(n int) (*Graph, error) {
	b, err := numberedBuilder("star", n, float64(n))
	if err != nil {
		return nil, err
	}
	for v := 1; v < n; v++ {
		b.addUnitEdge(0, v)
	}
	return b.Graph()
}

// Hypercube returns the d-dimensional hypercube; nodes are adjacent where their
// numbers differ in one bit.
func Hypercube(d int) (*Graph, error) {
	if d < 0 || d > 30 {
		return nil, impossible("hypercube", "dimension is %d, want 0 … 30", d)
	}
	n := 1 << d
	b, err := numberedBuilder("hypercube", n, float64(n)*float64(d)/2)
	if err != nil {
		return nil, err
	}
	for v := range n {
		for bit := 1; bit < n; bit <<= 1 {
			if v&bit == 0 {
				b.addUnitEdge(v, v|bit)
			}
		}
	}
	return b.Graph()
}

// Grid returns the grid of rows × cols nodes; node r·cols + c is adjacent to the
// next in its row and in its column.
func Grid(rows, cols int) (*Graph, error) {
	if rows < 0 || cols < 0 || cols > 0 && rows > math.MaxInt32/cols {
		return nil, impossible("grid", "%d × %d nodes, want 0 … 2³¹−1", rows, cols)
	}
	b, err := numberedBuilder("grid", rows*cols, 2*float64(rows*cols))
	if err != nil {
		return nil, err
	}
	for r := range rows {
		for c := range cols {
			if v := r*cols + c; c > 0 {
				b.addUnitEdge(v-1, v)
			}
			if v := r*cols + c; r > 0 {
				b.addUnitEdge(v-cols, v)
			}
		}
	}
	return b.Graph()
}
