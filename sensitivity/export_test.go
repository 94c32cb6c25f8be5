// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"
)

// Search is Bound without the eigendecomposition of small graphs.
func Search(ctx context.Context, m Model, u []float64, opts Options) (Bracket, error) {
	p, err := newProblem(m, u, &opts)
	if err != nil {
		return Bracket{}, err
	}
	return p.search(ctx, opts)
}

// ChiSquareQuantile is for its test.
var ChiSquareQuantile = chiSquareQuantile

// Violations runs one look at 16 random columns (after the subspace is taken out,
// if asked for) with failure probability q an edge, and returns the share of edges
// whose bound is below the exact value.
func Violations(ctx context.Context, m Model, u []float64, seed [32]byte, deflate bool, q float64) (float64, error) {
	opts := Options{Seed: seed}
	p, err := newProblem(m, u, &opts)
	if err != nil {
		return 0, err
	}
	spec, err := p.spectrum(ctx, m, opts)
	if err != nil {
		return 0, err
	}
	s := &search{problem: p, opts: opts, upper: make([]float64, len(p.edges)), lower: 1e-3}
	for i := range p.edges {
		s.upper[i] = math.Inf(1)
		s.rest = append(s.rest, int32(i))
	}
	o, err := s.operator(1e-9)
	if err != nil {
		return 0, err
	}
	c := &screening{search: s, operator: o, squares: make([]float64, len(p.edges)), gain: 1}
	if err := c.project(ctx); err != nil {
		return 0, err
	}
	if deflate {
		if err := c.deflate(ctx); err != nil {
			return 0, err
		}
		if err := c.project(ctx); err != nil {
			return 0, err
		}
	}
	c.look(q)
	d, low := newDense(p, spec), 0
	for i, e := range p.edges {
		if s.upper[i] < d.at(e) {
			low++
		}
	}
	return float64(low) / float64(len(p.edges)), nil
}

// Quadrature brackets every edge by Gauss and Gauss–Radau quadrature after at most
// so many entries read, and calls f with the bracket and the exact one.
func Quadrature(ctx context.Context, m Model, limit int64, f func(low, up, exactLow, exactUp float64)) error {
	opts := Options{}
	p, err := newProblem(m, nil, &opts)
	if err != nil {
		return err
	}
	spec, err := p.spectrum(ctx, m, opts)
	if err != nil {
		return err
	}
	d, q := newDense(p, spec), newProcess(p, limit)
	for _, e := range p.edges {
		v := d.at(e)
		over, under := d.slack(e, v)
		up, low := q.bracket(e, 0, 1e-9)
		f(e.scale*low, e.scale*up, v-under, v+over)
	}
	return nil
}
