// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Limits of the memory: entries of the blocks that are kept, and edges with a vector of at most nearEntries + 2 nodes each;
// and of the time, in columns.
const (
	nearColumns = 64
	keptEntries = 1 << 24
	nearEdges   = 1 << 14
)

// nearVectors make the bounds of the screen smaller: for any vector a that depends on the graph and the edge alone
//
//	‖Wb‖ ≤ ‖a‖ + ‖Wb − a‖.
//
// The last term, which alone is bounded by random projection, is small where a is near Wb, as [krylov.approximate] makes it.
type nearVectors struct {
	c       *projection
	kept    [][]float64  // Y of the blocks before the last, until list is made
	edges   []int32      // those of list, ascending
	list    []nearVector // nil: not made
	squares []float64    // of the projected Wb − a
}

// nearVector is diag(√u)x for x of few nodes.
type nearVector struct {
	nodes  []int32
	x      []float64
	length float64 // ‖x‖
	norm   float64 // ‖diag(√u)x‖
}

// keep keeps y, the last block, before anything overwrites it, as long as the memory for it allows.
func (l *nearVectors) keep() {
	c := l.c
	switch kept := len(l.kept) * c.block; {
	case l.list != nil || kept == c.columns:
	case kept+c.block != c.columns || (len(l.kept)+2)*len(c.y) > keptEntries:
		l.kept = nil
	default:
		l.kept = append(l.kept, c.y)
		c.blocks[1] = nil
		c.y = c.memory(1, len(c.y))
	}
}

// apply lowers the bounds of the edges that remain, as soon as the vectors take no longer than some columns.
func (l *nearVectors) apply(ctx context.Context) error {
	c := l.c
	if l.list == nil {
		work, column := float64(len(c.rest))*nearWork, float64(c.d.Degree()+1)*float64(c.lap.Work())
		if (len(l.kept)+1)*c.block != c.columns || len(c.rest) > nearEdges || work > nearColumns*column {
			l.keep()
			return nil
		}
		l.make(ctx)
		for b, y := range append(l.kept, c.y) {
			if err := ctx.Err(); err != nil {
				return err
			}
			c.draw(b, c.x)
			l.add(y)
		}
		l.kept = nil
	}
	l.bound()
	return ctx.Err()
}

// make makes the list, for the edges that remain.
func (l *nearVectors) make(ctx context.Context) {
	c := l.c
	l.edges, l.list, l.squares = slices.Clone(c.rest), make([]nearVector, len(c.rest)), make([]float64, len(c.rest))
	parallel.Rows(len(c.rest), nearWork, func(lo, hi int) {
		k := c.krylovs.Get().(*krylov)
		defer c.krylovs.Put(k)
		for at := lo; at < hi && ctx.Err() == nil; at++ {
			e := c.edges.at(l.edges[at])
			k.approximate(e)
			_, _, square := c.incidence(e)
			v := nearVector{nodes: slices.Clone(k.nodes[:len(k.x)]), x: slices.Clone(k.x)}
			for j, t := range v.nodes {
				v.x[j] *= math.Sqrt(square)
				if c.s != nil {
					v.x[j] /= c.s[t]
				}
				w := c.operator.peak
				if c.u != nil {
					w = c.u[t]
				}
				v.length += v.x[j] * v.x[j]
				v.norm += w * (v.x[j] * v.x[j])
			}
			v.length, v.norm = math.Sqrt(v.length), math.Sqrt(v.norm)
			l.list[at] = v
		}
	})
}

// at returns the place of edge i.
func (l *nearVectors) at(i int32) int {
	at, _ := slices.BinarySearch(l.edges, i)
	return at
}

// add adds a block of random columns, which are in x, with y, where the list is made.
func (l *nearVectors) add(y []float64) {
	if l.list == nil {
		return
	}
	c, k := l.c, l.c.block
	parallel.Rows(len(c.rest), nearEntries*k/4, func(lo, hi int) {
		d := make([]float64, k)
		for _, i := range c.rest[lo:hi] {
			e, at := c.edges.at(i), l.at(i)
			for j := range d {
				d[j] = y[int(e.u)*k+j] - y[int(e.v)*k+j]
			}
			for m, t := range l.list[at].nodes {
				a := l.list[at].x[m]
				for j, x := range c.x[int(t)*k:][:k] {
					d[j] -= a * x
				}
			}
			for _, v := range d {
				l.squares[at] += v * v
			}
		}
	})
}

// bound lowers the bounds of the edges that remain, each of which fails with probability at most q.
func (l *nearVectors) bound() {
	c := l.c
	root, rounding := c.projectionScale(c.columns)
	if !(root > 0) {
		return
	}
	entries := math.Sqrt(float64(c.columns) * float64(c.n) * c.operator.peak)
	parallel.Rows(len(c.rest), boundWork, func(lo, hi int) {
		for _, i := range c.rest[lo:hi] {
			at := l.at(i)
			a := &l.list[at]
			// Sums of so many products with columns whose Frobenius norm is at most 2√(nr·peak).
			off := rounding + 2*entries*float64(len(a.x)+8)*unit*a.length
			relative := 1 + float64(c.columns+len(a.x)+32)*unit
			up := a.norm*(1+float64(len(a.x)+16)*unit) + (math.Sqrt(l.squares[at])*relative+off)/root
			c.upper[i] = min(c.upper[i], c.edges.at(i).scale*(up+c.slackB)*(1+8*unit))
		}
	})
}
