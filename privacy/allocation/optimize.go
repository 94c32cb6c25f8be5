// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// solve maximises the objective over u ≤ h.
func (p *problem) solve(h []float64) ([]float64, error) {
	if p.objective == Information {
		return p.information(h)
	}
	return p.newProgramme(h).maximise(p.location())
}

// solveWithLimits solves with at most MaxSensors reporting.
func (p *problem) solveWithLimits() ([]float64, error) {
	u, err := p.solve(p.cap)
	if k := p.opts.MaxSensors; err == nil && k > 0 {
		u, err = p.dropSensors(u, k)
	}
	return u, err
}

// dropSensors drops the sensors with the least u_s/h_s, half of the surplus at a time,
// and solves again for the others, until at most k report.
func (p *problem) dropSensors(u []float64, k int) (_ []float64, err error) {
	h := slices.Clone(p.cap)
	for on := reporting(u); on > k; on = reporting(u) {
		keep := k + (on-k)/2
		if p.size == draftSize { // at once: it is rough anyway
			keep = k
		}
		order := make([]int, len(h))
		for s := range order {
			order[s] = s
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(u[b]/p.cap[b], u[a]/p.cap[a]) })
		for _, s := range order[keep:] {
			h[s] = 0
		}
		if u, err = p.solve(h); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// result scales u so that the largest constraint is 1, and describes it.
func (p *problem) result(u []float64) (*Result, error) {
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	peak := p.rows.constraints(p.value, u)
	if peak == 0 {
		return nil, fmt.Errorf("%w: only sensors that no relationship reaches would report", ErrNothing)
	}
	r := &Result{Weights: make([]float64, p.sensors()), Objective: p.objective, CutShort: p.expired() || p.rows.k < len(p.index)}
	if p.model.Given != nil {
		p.silence(u, peak)
	}
	for k, v := range u {
		r.Weights[p.index[k]] = v / peak
	}
	return r, nil
}

// inaudible is the square of a reading over its noise, for the unit source that it sees best, below which a sensor is silent: a
// thousand of them together tell less than a thirtieth of a standard deviation.
const inaudible = 1e-6

// silence takes the weight of readings of a given operator that say nothing, which would be published with enormous noise.
func (p *problem) silence(u []float64, peak float64) {
	for k, v := range u {
		most := 0.0
		for i := range p.rows.n {
			most = max(most, math.Abs(p.rows.readings(int32(i))[k]))
		}
		if most *= most; v/peak*most < inaudible*p.opts.Noise*p.opts.Noise {
			u[k] = 0
		}
	}
}
