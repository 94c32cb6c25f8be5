// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Limits of reading: what it may take, in products, of which the screen takes about so many, or one in so many of the columns
// where there are more, which the screen would compute at last where edges are alike; the edges that are read with one target;
// and the entries of columns, 12 bytes each, that are kept for the other edges among these.
const (
	readProducts = 256
	readShare    = 32
	readBatch    = 1 << 14
	readKept     = 1 << 23
)

// readEdges brackets each edge that remains by the columns of its two ends, where they are read
// from a neighbourhood in less time than so many products take, as on spatial graphs. It keeps so many entries of columns.
func (s *search) readEdges(ctx context.Context, most int, keep int64) error {
	o, err := s.operator(0.02 * s.opts.Tolerance * s.lower)
	if err != nil {
		return nil // the screen reports it
	}
	ends := make([]int, 0, 2*len(s.rest))
	for _, i := range s.rest {
		ends = append(ends, int(s.edges.at(i).u), int(s.edges.at(i).v))
	}
	read, ok := o.d.ReadColumns(ends, 2*o.d.Err(), max(most, len(ends)/readShare))
	if !ok {
		return nil
	}
	var nodes []int32
	var columns []readColumn
	pairs := sync.Pool{New: func() any { return &pair{o: o, second: make([]float64, o.n)} }}
	for done := 0; done < len(s.rest); done += readBatch {
		batch := s.rest[done:min(done+readBatch, len(s.rest))]
		target := s.target()
		nodes = nodes[:0]
		for _, i := range batch {
			if s.upper[i] > target {
				nodes = append(nodes, s.edges.ends[i][:]...)
			}
		}
		slices.Sort(nodes)
		nodes = slices.Compact(nodes)
		columns = slices.Grow(columns[:0], len(nodes))[:len(nodes)]
		var kept atomic.Int64
		parallel.Rows(len(nodes), 1<<14, func(lo, hi int) {
			for k := lo; k < hi && ctx.Err() == nil; k++ {
				if columns[k].rows = columns[k].rows[:0]; kept.Load() < keep {
					read(int(nodes[k]), columns[k].set)
					kept.Add(int64(len(columns[k].rows)))
				}
			}
		})
		low := make([]float64, len(batch))
		parallel.Rows(len(batch), 1<<10, func(lo, hi int) {
			p := pairs.Get().(*pair)
			defer pairs.Put(p)
			for k := lo; k < hi && ctx.Err() == nil; k++ {
				if i := batch[k]; s.upper[i] > target {
					e := s.edges.at(i)
					for side, node := range [2]int32{e.u, e.v} {
						at, _ := slices.BinarySearch(nodes, node)
						if p.columns[side] = &columns[at]; len(columns[at].rows) == 0 {
							p.columns[side] = &p.own[side]
							read(int(node), p.own[side].set)
						}
					}
					norm, off := p.difference()
					low[k] = e.scale * (norm - off)
					s.upper[i] = min(s.upper[i], e.scale*(norm+off)*(1+8*unit))
				}
			}
		})
		if err := ctx.Err(); err != nil {
			return err
		}
		for k, i := range batch {
			s.raiseLower(i, low[k]*(1-8*unit))
		}
		s.opts.Progress("columns", int64(done+len(batch)), int64(len(s.rest)))
	}
	return nil
}

// readColumn is a column of M at some rows, one of them its own, and how far off it is at most. Without rows it is not read.
type readColumn struct {
	rows []int32
	x    []float64
	off  float64
}

func (c *readColumn) set(rows []int32, x []float64, off float64) {
	c.rows, c.x, c.off = append(c.rows[:0], rows...), append(c.x[:0], x...), off
}

// pair holds two columns.
type pair struct {
	o       *operator
	columns [2]*readColumn
	own     [2]readColumn // where they are not kept
	second  []float64     // zeros over all nodes
}

// difference returns ‖diag(√u)(x − y)‖₂ for the columns x and y, and how far off it is at most.
func (p *pair) difference() (norm, off float64) {
	var sum float64
	add := func(t int32, d float64) {
		w := p.o.peak
		if p.o.u != nil {
			w = p.o.u[t]
		}
		sum += w * (d * d)
		p.second[t] = 0
	}
	x, y := p.columns[0], p.columns[1]
	for k, t := range y.rows {
		p.second[t] = y.x[k]
	}
	for k, t := range x.rows {
		add(t, x.x[k]-p.second[t])
	}
	for _, t := range y.rows {
		add(t, p.second[t])
	}
	norm = math.Sqrt(sum)
	// As in evaluate: roundings of a sum of so many squares, halved by the root.
	relative := (float64(len(x.rows)+len(y.rows)) + 16) * unit
	return norm, norm*relative + math.Sqrt(p.o.peak)*(x.off+y.off)*(1+8*unit)
}
