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
		f.u, f.value, f.limit, err = p.information(h)
	case Bound:
		f.u, f.value, f.limit, err = p.bhattacharyya(h)
	case MaxMin:
		f.u, f.value, f.limit, err = p.maxMin(h)
	case Location:
		f.u, f.value, f.limit, err = p.newProgramme(h).maximise(p.location(p.opts.Hops))
	default:
		f.u, f.value, f.limit, err = p.newProgramme(h).maximise(p.separation())
	}
	return f, err
}

// solveWithLimits solves with between MinSensors and MaxSensors reporting.
func (p *problem) solveWithLimits(o Objective) (*solution, error) {
	f, err := p.solve(o, p.cap)
	if err != nil {
		return nil, err
	}
	limit := f.limit
	if k := p.opts.MaxSensors; k > 0 && reporting(f.u) > k {
		f, err = p.dropSensors(f, k)
	} else if k := p.opts.MinSensors; reporting(f.u) < k {
		f, err = p.addSensors(f, k)
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

// addSensors lowers the bound on each weight, by a common factor, until MinSensors report.
func (p *problem) addSensors(f *solution, k int) (*solution, error) {
	h := slices.Clone(p.cap)
	for range 60 {
		for s := range h {
			h[s] /= 2
		}
		g, err := p.solve(f.objective, h)
		if err != nil {
			return nil, err
		}
		if reporting(g.u) >= k {
			return g, nil
		}
	}
	return nil, fmt.Errorf("%w: at least %d sensors shall report, but fewer tell communities apart", ErrNothing, k)
}

// normalise scales u so that the largest constraint is 1.
func (p *problem) normalise(u []float64) {
	if peak := p.rows.constraints(p.value, u); peak > 0 {
		floats.Scale(1/peak, u)
	}
}

// maxMin maximises the least squared distance of two communities.
func (p *problem) maxMin(h []float64) (u []float64, value, limit float64, err error) {
	g := p.newProgramme(h)
	means := p.means()
	g.unit = math.Inf(1)
	for a := range means {
		for b := range a {
			v := make([]float64, len(h))
			var sum float64
			for s := range v {
				d := means[a][s] - means[b][s]
				v[s] = d * d * h[s]
				sum += v[s]
			}
			g.unit = min(g.unit, sum)
			g.pairs = append(g.pairs, v)
		}
	}
	if g.unit == 0 || math.IsInf(g.unit, 1) {
		return nil, 0, 0, ErrNothing
	}
	for _, v := range g.pairs {
		for s := range v {
			v[s] /= g.unit
		}
	}
	g.in = make([]bool, len(g.pairs))
	return g.maximise(nil)
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
	if f.objective.Linear() {
		f.value = min(f.value/peak, f.limit) // the others are linear in u
	}
	if cut && (f.objective == Information || f.limit == 0 || dropped) {
		f.limit = math.NaN()
	}
	r := &Result{
		Weights: make([]float64, p.sensors()), Objective: f.objective, Value: f.value, Limit: f.limit, Rounds: p.rounds,
		CutShort: cut, Proven: f.objective != Information && !math.IsNaN(f.limit),
	}
	for k, v := range f.u {
		if v > 0 {
			r.Weights[p.index[k]] = v / peak
			r.Reporting++
		}
	}
	if most := max(r.Value, r.Limit); most != 0 {
		r.Gap = math.Abs(r.Value-r.Limit) / most
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
