// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"errors"
	"math"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/internal/parallel"
)

// PerSensor brackets the sensitivity of each reading alone,
//
//	α · max over edges of |M_si − M_sj| / length(e)   for each sensor s,
//
// in the order of Model.Sensors (nodes where that is nil). It takes one row of M a
// sensor where all rows take some minutes at most. Otherwise every sensor gets the upper end of the joint Δ₂.
// It returns [expm.ErrAccuracy] where double precision certifies nothing.
func PerSensor(ctx context.Context, m Model, opts Options) ([]Bracket, error) {
	if m.Given != nil {
		return m.perReading(ctx)
	}
	p, err := newProblem(m, nil, &opts)
	if err != nil {
		return nil, err
	}
	sensors := m.Sensors
	if sensors == nil {
		sensors = make([]int, m.Graph.Order())
		for i := range sensors {
			sensors[i] = i
		}
	}
	out := make([]Bracket, len(sensors))
	for k := range out {
		out[k] = Bracket{Edge: [2]int{-1, -1}, Exact: true}
	}
	if p.trivial() {
		return out, nil
	}
	spec, err := p.spectrum(ctx, m, opts)
	if err != nil {
		return nil, err
	}
	if spec != nil {
		d := newSpectral(p, spec)
		kernel := d.spec.Shifted(p.tau, d.from)
		joint := p.momentBounds()
		parallel.Rows(len(sensors), 4*p.edges.len(), func(lo, hi int) {
			for k := lo; k < hi && ctx.Err() == nil; k++ {
				out[k] = d.coordinate(kernel.RawRowView(sensors[k]), sensors[k], joint)
			}
		})
		return out, ctx.Err()
	}
	return out, p.bracketByRows(ctx, m, sensors, opts, out)
}

// momentBounds returns the O(1) bound of each edge, which bounds every reading too.
func (p *problem) momentBounds() []float64 {
	m := p.moments()
	up := make([]float64, p.edges.len())
	parallel.Rows(p.edges.len(), boundWork, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			e := p.edges.at(int32(i))
			g, _ := m.bounds(e)
			up[i] = p.scaled(e, g)
		}
	})
	return up
}

// coordinate brackets one reading from its row of the shifted kernel, and from the
// joint bounds of the edges where they are smaller.
func (d *spectral) coordinate(row []float64, s int, joint []float64) Bracket {
	b := Bracket{Edge: [2]int{-1, -1}, Exact: true}
	p, n, inverse := d.p, float64(len(row)), 1.0
	if p.s != nil {
		inverse = 1 / p.s[s]
	}
	relative := (16 + p.tau*d.spec.Lambda()[d.from]) * unit
	for i, e := range p.edges.all() {
		bu, bv, square := p.incidence(e)
		scale := e.scale * inverse
		v := scale * d.base * math.Abs(bu*row[e.u]+bv*row[e.v])
		norm := scale * math.Sqrt(square)
		off := norm*(d.up+d.nullLeak+d.base*2*(n+16)*unit) + relative*v
		b.Upper = max(b.Upper, min((v+off)*(1+4*unit), joint[i]))
		if low := v - off; low > b.Lower || b.Edge[0] < 0 {
			b.Lower, b.Edge = max(low, 0), [2]int{int(e.u), int(e.v)}
		}
	}
	b.Upper = max(b.Upper, floor)
	return b
}

// rowsEntries bounds the entries of products that computing all rows may take: a few minutes. Tests take fewer.
var rowsEntries = 1e11

// bracketByRows brackets each reading from its computed row, whose error on b is at most
// Err·‖b‖₂; where all rows would take too long, by the joint Δ₂.
func (p *problem) bracketByRows(ctx context.Context, m Model, sensors []int, opts Options, out []Bracket) error {
	d, err := expm.New(ctx, p.lap, p.tau, expm.Options{Method: expm.Chebyshev})
	if err != nil && !errors.Is(err, expm.ErrAccuracy) {
		return err
	}
	if err != nil || !p.rowsAffordable(d, len(sensors)) {
		joint, err := Bound(ctx, m, nil, opts)
		for k := range sensors {
			out[k] = Bracket{Upper: joint.Upper, Edge: joint.Edge, Failure: joint.Failure}
		}
		return err
	}
	for done := 0; done < len(sensors); done += 16 {
		part := sensors[done:min(done+16, len(sensors))]
		block, err := d.Rows(ctx, part)
		if err != nil {
			return err
		}
		parallel.Rows(len(part), 4*p.edges.len(), func(lo, hi int) {
			for k := lo; k < hi; k++ {
				out[done+k] = p.bracketRow(block.RawRowView(k), d.Err())
			}
		})
		opts.Progress("sensors", int64(done+len(part)), int64(len(sensors)))
	}
	return nil
}

// rowsAffordable reports whether the rows of so many sensors take at most rowsEntries.
func (p *problem) rowsAffordable(d *expm.Diffusion, sensors int) bool {
	entries := float64(sensors) * (float64(d.Degree()+1)*float64(p.lap.Work()) + 2*float64(p.edges.len()))
	return entries < rowsEntries
}

// bracketRow brackets one reading from its row of M.
func (p *problem) bracketRow(row []float64, rowErr float64) Bracket {
	b := Bracket{Edge: [2]int{-1, -1}}
	for _, e := range p.edges.all() {
		v := e.scale * math.Abs(row[e.u]-row[e.v])
		slack := e.scale*math.Sqrt2*rowErr*(1+8*unit) + 4*unit*v
		b.Upper = max(b.Upper, v+slack)
		if low := v - slack; low > b.Lower || b.Edge[0] < 0 {
			b.Lower, b.Edge = max(low, 0), [2]int{int(e.u), int(e.v)}
		}
	}
	b.Upper = max(b.Upper, floor)
	return b
}
