// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// surrogateSplit makes the bounds of the screen smaller by subtracting sparse
// approximations of the columns: for the surrogates a of the two ends of an edge,
//
//	‖Wb‖ ≤ ‖diag(√u)(a_i − a_j)‖ + ‖Wb − diag(√u)(a_i − a_j)‖,
//
// where the last term is small and only it is bounded by random projection. The
// surrogates depend on the graph alone, so that the projection is independent of them.
type surrogateSplit struct {
	position []int32 // 1 + index of a node in list; 0: none
	nodes    []int32
	list     []surrogate
	edges    []int32   // those that remained when it was made, ascending
	norm     []float64 // ‖diag(√u)(a_i − a_j)‖ of each of them
	squares  []float64 // of the projected difference
	columns  int
	rows     []float64
}

// applySurrogates makes the surrogates as soon as they cost less than a block of columns,
// and bounds the edges with them.
func (c *screening) applySurrogates(ctx context.Context) (err error) {
	if c.split == nil {
		ends := c.affordable()
		if len(ends) == 0 {
			return nil
		}
		if c.split, err = c.newSurrogateSplit(ctx, ends); err != nil {
			return err
		}
		c.keptBlocks = nil
	}
	l := c.split
	root, rounding := c.projectionScale(l.columns)
	if !(root > 0) {
		return nil
	}
	// Each entry of Ωᵀa is a sum of surrogateNodes terms, twice, of norm at most
	// ‖Ω‖_F‖a‖.
	entries := math.Sqrt(float64(l.columns) * float64(c.n))
	rounding += 2 * entries * (4 * (surrogateNodes + 8) * unit) * math.Sqrt(c.peak) * c.normBound()
	relative := 1 + float64(l.columns+32)*unit
	parallel.Rows(len(c.rest), boundWork, func(lo, hi int) {
		for _, i := range c.rest[lo:hi] {
			at := l.index(i)
			c.bound(i, l.norm[at]*(1+256*unit)+(math.Sqrt(l.squares[at])*relative+rounding)/root)
		}
	})
	return nil
}

// affordable returns the ends of the edges that remain, or nil where their surrogates
// cost more than a block of columns.
func (c *screening) affordable() (ends []int32) {
	if len(c.keptBlocks) == 0 {
		return nil
	}
	column := float64(c.d.Degree()+1) * float64(c.lap.Work())
	limit := int(float64(c.block) * column / surrogateWork)
	seen := make([]bool, c.n)
	for _, i := range c.rest {
		for _, t := range [2]int32{c.edges.at(i).u, c.edges.at(i).v} {
			if !seen[t] {
				seen[t] = true
				ends = append(ends, t)
			}
		}
		if len(ends) > limit {
			return nil
		}
	}
	return ends
}

// newSurrogateSplit makes the surrogates of some nodes, which include the ends of all
// edges that remain, and projects them with the blocks that are kept.
func (c *screening) newSurrogateSplit(ctx context.Context, ends []int32) (*surrogateSplit, error) {
	list, err := c.surrogates(ctx, ends)
	if err != nil {
		return nil, err
	}
	l := &surrogateSplit{
		position: make([]int32, c.n), nodes: ends, list: list, edges: slices.Clone(c.rest),
		norm: make([]float64, len(c.rest)), squares: make([]float64, len(c.rest)),
	}
	for index, t := range ends {
		l.position[t] = int32(index) + 1
	}
	parallel.Rows(len(c.rest), 4*surrogateNodes, func(lo, hi int) {
		for at := lo; at < hi; at++ {
			e := c.edges.at(l.edges[at])
			l.norm[at] = c.distance(&l.list[l.position[e.u]-1], &l.list[l.position[e.v]-1])
		}
	})
	for _, k := range c.keptBlocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.draw(k.block, c.x)
		l.project(c, c.x, k.y)
	}
	return l, nil
}

// index returns the place of edge i in norm and squares.
func (l *surrogateSplit) index(i int32) int {
	at, _ := slices.BinarySearch(l.edges, i)
	return at
}

// project adds one block of random columns, applied to the differences between the
// edges that remain and their surrogates.
func (l *surrogateSplit) project(c *screening, x, y []float64) {
	k := c.block
	if l.rows == nil {
		l.rows = make([]float64, len(l.nodes)*k)
	}
	parallel.Rows(len(l.nodes), surrogateNodes*k, func(lo, hi int) {
		for index := lo; index < hi; index++ {
			row := l.rows[index*k:][:k]
			copy(row, y[int(l.nodes[index])*k:])
			a := &l.list[index]
			for m, s := range a.nodes {
				for j, v := range x[int(s)*k:][:k] {
					row[j] -= a.values[m] * v
				}
			}
		}
	})
	parallel.Rows(len(c.rest), 2*k, func(lo, hi int) {
		for _, i := range c.rest[lo:hi] {
			e := c.edges.at(i)
			l.squares[l.index(i)] += difference(l.rows, k, edge{u: l.position[e.u] - 1, v: l.position[e.v] - 1})
		}
	})
	l.columns += k
}

// estimate predicts the value of an edge from its surrogates and the columns so far.
func (l *surrogateSplit) estimate(c *screening, i int32) float64 {
	at := l.index(i)
	square := l.norm[at]*l.norm[at] + l.squares[at]/float64(max(l.columns, 1))
	if c.sub != nil {
		square += c.sub.square(c.edges.at(i))
	}
	return c.edges.at(i).scale * math.Sqrt(square)
}

// distance returns ‖diag(√u)(a − b)‖₂.
func (s *search) distance(a, b *surrogate) float64 {
	var sum float64
	put := func(t int32, v float64) {
		w := s.peak
		if s.omega != nil {
			w = s.omega[t]
		}
		if s.s != nil {
			w *= s.s[t] * s.s[t]
		}
		sum += w * v * v
	}
	i, j := 0, 0
	for i < len(a.nodes) || j < len(b.nodes) {
		switch {
		case j == len(b.nodes) || i < len(a.nodes) && a.nodes[i] < b.nodes[j]:
			put(a.nodes[i], a.values[i])
			i++
		case i == len(a.nodes) || b.nodes[j] < a.nodes[i]:
			put(b.nodes[j], b.values[j])
			j++
		default:
			put(a.nodes[i], a.values[i]-b.values[j])
			i, j = i+1, j+1
		}
	}
	return math.Sqrt(sum)
}
