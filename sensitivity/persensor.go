// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/graphcloak/graphcloak/expm"
)

// PerSensor brackets the sensitivity of each reading alone,
//
//	α · max over edges of |M_si − M_sj| / length(e)   for each sensor s,
//
// in the order of Model.Sensors (nodes where that is nil). It takes one row of M a
// sensor; sensors that Options.Time leaves without one get the joint bound, which
// is never smaller.
func PerSensor(ctx context.Context, m Model, opts Options) ([]Bracket, error) {
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
		d := newDense(p, spec)
		kernel := d.spec.Shifted(p.tau, d.from)
		joint := p.cheap()
		for k, s := range sensors {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			out[k] = d.coordinate(kernel.RawRowView(s), s, joint)
		}
		return out, ctx.Err()
	}
	return out, p.rows(ctx, m, sensors, opts, out)
}

// cheap returns the O(1) bound of each edge, which bounds every reading too.
func (p *problem) cheap() []float64 {
	m := p.moments()
	up := make([]float64, len(p.edges))
	for i, e := range p.edges {
		g, _ := m.bounds(e)
		up[i] = p.scaled(e, g)
	}
	return up
}

// coordinate brackets one reading from its row of the shifted kernel, and from the
// joint bounds of the edges where they are better.
func (d *dense) coordinate(row []float64, s int, joint []float64) Bracket {
	b := Bracket{Edge: [2]int{-1, -1}, Exact: true}
	p, n, at := d.p, float64(len(row)), 1.0
	if p.s != nil {
		at = 1 / p.s[s]
	}
	relative := (16 + p.tau*d.spec.Lambda()[d.from]) * unit
	for i, e := range p.edges {
		bu, bv, square := p.start(e)
		scale := e.scale * at
		v := scale * d.base * math.Abs(bu*row[e.u]+bv*row[e.v])
		norm := scale * math.Sqrt(square)
		rounding := relative*v + norm*d.base*(n+16)*unit
		b.Upper = max(b.Upper, min((v+norm*d.up+rounding)*(1+4*unit), joint[i]))
		if low := v - norm*(d.up+d.leak) - rounding; low > b.Lower || b.Edge[0] < 0 {
			b.Lower, b.Edge = max(low, 0), [2]int{int(e.u), int(e.v)}
		}
	}
	b.Upper = max(b.Upper, floor)
	return b
}

// rows brackets each reading from its computed row, whose error on b is at most
// Err·‖b‖₂.
func (p *problem) rows(parent context.Context, m Model, sensors []int, opts Options, out []Bracket) error {
	begin := time.Now()
	d, err := expm.New(parent, p.lap, p.tau, expm.Options{Method: expm.Chebyshev})
	if err != nil && !errors.Is(err, expm.ErrAccuracy) {
		return err
	}
	done := 0
	ctx := parent
	if opts.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(parent, opts.Time*3/4)
		defer cancel()
	}
	for err == nil && done < len(sensors) {
		part := sensors[done:min(done+16, len(sensors))]
		block, stop := d.Rows(ctx, part)
		if stop != nil {
			break
		}
		for k := range part {
			out[done+k] = p.reading(block.RawRowView(k), d.Err())
		}
		done += len(part)
		opts.Progress("sensors", int64(done), int64(len(sensors)))
	}
	if parent.Err() != nil || done == len(sensors) {
		return parent.Err()
	}
	if opts.Time > 0 {
		opts.Time = max(time.Millisecond, opts.Time-time.Since(begin))
	}
	joint, err := Bound(parent, m, nil, opts)
	if err != nil {
		return err
	}
	for k := done; k < len(sensors); k++ {
		out[k] = Bracket{Upper: joint.Upper, Edge: joint.Edge, Failure: joint.Failure}
	}
	return nil
}

// reading brackets one reading from its row of M.
func (p *problem) reading(row []float64, rowErr float64) Bracket {
	b := Bracket{Edge: [2]int{-1, -1}}
	for _, e := range p.edges {
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
