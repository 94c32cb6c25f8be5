// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
)

// found is a private u over the candidates, with its value and a limit.
type found struct {
	u            []float64
	value, limit float64
	objective    Objective
}

func (p *problem) optimize() (*Result, error) {
	f, err := p.solve(p.opts.Objective, p.cap)
	if err != nil {
		return nil, err
	}
	return p.result(f)
}

// solve maximises one objective over u ≤ h.
func (p *problem) solve(o Objective, h []float64) (*found, error) {
	f := &found{objective: o}
	var err error
	switch o {
	case MaxMin:
		f.u, f.value, f.limit, err = p.maxMin(h)
	case Location:
		f.u, f.value, f.limit, err = p.newProgramme(h).maximise(p.location(p.opts.Hops))
	default:
		f.objective = Separation
		f.u, f.value, f.limit, err = p.newProgramme(h).maximise(p.separation())
	}
	return f, err
}

// maxMin maximises the least pair of communities.
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

// result scales u to its tightest edge and says what it does.
func (p *problem) result(f *found) (*Result, error) {
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	peak := p.rows.price(p.value, f.u)
	r := &Result{
		Weights: make([]float64, p.sensors()), Objective: f.objective, Value: f.value, Limit: f.limit, Rounds: p.rounds,
	}
	for k, v := range f.u {
		if v > 0 {
			r.Weights[p.index[k]] = v / peak
			r.Reporting++
		}
	}
	r.Gap = math.Abs(r.Value-r.Limit) / max(r.Value, r.Limit)
	for k, v := range p.value {
		if v >= peak*(1-tight) {
			r.Tight = append(r.Tight, [2]int{int(p.rows.edges[k].u), int(p.rows.edges[k].v)})
		}
	}
	return r, nil
}

// tight is how close an edge comes to the bound to count as tight.
const tight = 1e-6

// sensors returns the number of sensors of the model.
func (p *problem) sensors() int {
	if p.model.Sensors == nil {
		return p.model.Graph.Order()
	}
	return len(p.model.Sensors)
}
