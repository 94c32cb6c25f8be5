// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// solution is a feasible u over the candidates, with its value and a bound.
type solution struct {
	u            []float64
	value, limit float64
	objective    Objective
}

func (p *problem) optimize() (*Result, error) {
	f, err := p.solveWithLimits(p.opts.Objective)
	if err != nil {
		return nil, err
	}
	return p.result(f)
}

// solve maximises one objective over u ≤ h.
func (p *problem) solve(o Objective, h []float64) (*solution, error) {
	f := &solution{objective: o}
	var err error
	switch o {
	case Information:
		f.limit = math.NaN()
		f.u, f.value, err = p.information(h)
	case Location:
		f.u, f.value, f.limit, err = p.newProgramme(h).maximise(p.location(p.opts.Hops))
	default:
		f.u, f.value, f.limit, err = p.newProgramme(h).maximise(p.separation())
	}
	return f, err
}

// solveWithLimits solves with at most MaxSensors reporting.
func (p *problem) solveWithLimits(o Objective) (*solution, error) {
	f, err := p.solve(o, p.cap)
	if err != nil {
		return nil, err
	}
	limit := f.limit
	if k := p.opts.MaxSensors; k > 0 && reporting(f.u) > k {
		f, err = p.dropSensors(f, k)
	}
	if err != nil {
		return nil, err
	}
	f.limit = limit
	return f, nil
}

func reporting(u []float64) int {
	n := 0
	for _, v := range u {
		if v > 0 {
			n++
		}
	}
	return n
}

// dropSensors drops the sensors with the least u_s/h_s, half of the surplus at a time,
// and solves again for the others.
func (p *problem) dropSensors(f *solution, k int) (*solution, error) {
	h := slices.Clone(p.cap)
	for on := reporting(f.u); on > k; on = reporting(f.u) {
		keep := k + (on-k)/2
		if p.size == draftSize { // at once: it is rough anyway
			keep = k
		}
		order := make([]int, len(h))
		for s := range order {
			order[s] = s
		}
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(f.u[b]/p.cap[b], f.u[a]/p.cap[a])
		})
		for _, s := range order[keep:] {
			h[s] = 0
		}
		var err error
		if f, err = p.solve(f.objective, h); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// normalise scales u so that the largest constraint is 1.
func (p *problem) normalise(u []float64) {
	if peak := p.rows.constraints(p.value, u); peak > 0 {
		floats.Scale(1/peak, u)
	}
}

// result scales u so that the largest constraint is 1, and describes it.
func (p *problem) result(f *solution) (*Result, error) {
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	peak := p.rows.constraints(p.value, f.u)
	if peak == 0 {
		return nil, fmt.Errorf("%w: only sensors that no relationship reaches would report", ErrNothing)
	}
	dropped := p.rows.k < len(p.index) // the limit does not cover candidates without rows
	cut := p.expired() || dropped
	if f.objective != Information {
		f.value = min(f.value/peak, f.limit) // linear in u
	}
	if dropped {
		f.limit = math.NaN()
	}
	r := &Result{
		Weights: make([]float64, p.sensors()), Objective: f.objective, Value: f.value, Limit: f.limit, Rounds: p.rounds,
		CutShort: cut,
	}
	for k, v := range f.u {
		if v > 0 {
			r.Weights[p.index[k]] = v / peak
			r.Reporting++
		}
	}
	for k, v := range p.value {
		e := [2]int{int(p.rows.edges[k].u), int(p.rows.edges[k].v)}
		if v >= peak*(1-activeTolerance) && (p.rows.edges[k].world == 0 || !slices.Contains(r.ActiveEdges, e)) {
			r.ActiveEdges = append(r.ActiveEdges, e)
		}
	}
	return r, nil
}

// activeTolerance is the relative slack up to which a constraint counts as active.
const activeTolerance = 1e-6

// sensors returns the number of sensors of the model.
func (p *problem) sensors() int {
	if p.model.Sensors == nil {
		return p.model.Graph.Order()
	}
	return len(p.model.Sensors)
}
