// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"
	"sync"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Limits of reading: what it may take, in products, of which the screen takes about so many, or one in so many of the columns
// where there are more, which the screen would compute at last where edges are alike; and the edges that are read with one target.
const (
	readProducts = 256
	readShare    = 32
	readBatch    = 1 << 14
)

// readEdges brackets each edge that remains by the columns of its two ends, where they are read
// from a neighbourhood in less time than so many products take, as on spatial graphs.
func (s *search) readEdges(ctx context.Context, most int) error {
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
	pairs := sync.Pool{New: func() any { return &pair{o: o, second: make([]float64, o.n)} }}
	for done := 0; done < len(s.rest); done += readBatch {
		batch := s.rest[done:min(done+readBatch, len(s.rest))]
		target := s.target()
		low := make([]float64, len(batch))
		parallel.Rows(len(batch), 1<<14, func(lo, hi int) {
			p := pairs.Get().(*pair)
			defer pairs.Put(p)
			for k := lo; k < hi && ctx.Err() == nil; k++ {
				if i := batch[k]; s.upper[i] > target {
					e := s.edges.at(i)
					read(int(e.u), p.setFirst)
					read(int(e.v), p.setSecond)
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

// pair holds two columns, the second over all nodes.
type pair struct {
	o      *operator
	rows   [2][]int32
	first  []float64
	second []float64
	off    [2]float64
}

func (p *pair) setFirst(rows []int32, x []float64, off float64) {
	p.rows[0], p.first, p.off[0] = append(p.rows[0][:0], rows...), append(p.first[:0], x...), off
}

func (p *pair) setSecond(rows []int32, x []float64, off float64) {
	p.rows[1], p.off[1] = append(p.rows[1][:0], rows...), off
	for k, t := range rows {
		p.second[t] = x[k]
	}
}

// difference returns ‖diag(√u)(x − y)‖₂ for the columns x and y, and how far off it is at most. It
// clears the second column.
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
	for k, t := range p.rows[0] {
		add(t, p.first[k]-p.second[t])
	}
	for _, t := range p.rows[1] {
		add(t, p.second[t])
	}
	norm = math.Sqrt(sum)
	// As in evaluate: roundings of a sum of so many squares, halved by the root.
	relative := (float64(len(p.rows[0])+len(p.rows[1])) + 16) * unit
	return norm, norm*relative + math.Sqrt(p.o.peak)*(p.off[0]+p.off[1])*(1+8*unit)
}
