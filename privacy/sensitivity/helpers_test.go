// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// searchBound is Bound without the eigendecomposition of small graphs.
func searchBound(ctx context.Context, m Model, u []float64, opts Options) (Bracket, error) {
	p, err := newProblem(m, u, &opts)
	if err != nil {
		return Bracket{}, err
	}
	return p.search(ctx, opts)
}

// screenOf returns a screen on which every edge remains, with bounds of +Inf, and the
// exact evaluation.
func screenOf(ctx context.Context, m Model, u []float64, seed [32]byte, q float64) (*screening, *spectral, error) {
	opts := Options{Seed: seed}
	p, err := newProblem(m, u, &opts)
	if err != nil {
		return nil, nil, err
	}
	spec, err := p.spectrum(ctx, m, opts)
	if err != nil {
		return nil, nil, err
	}
	s := newSearch(p, opts)
	s.lower = 1e-3
	for i := range p.edges.all() {
		s.upper[i] = math.Inf(1)
		s.rest = append(s.rest, int32(i))
	}
	o, err := s.operator(1e-9)
	if err != nil {
		return nil, nil, err
	}
	return newScreening(&projection{search: s, operator: o, q: q}), newSpectral(p, spec), nil
}

// violations runs one round of 16 random columns with failure probability q an edge,
// and returns the share of edges whose bound is below the exact value, with "near" that of [nearVectors].
func violations(ctx context.Context, m Model, u []float64, seed [32]byte, mode string, q float64) (float64, error) {
	c, d, err := screenOf(ctx, m, u, seed, q)
	if err != nil {
		return 0, err
	}
	if err := c.project(ctx); err != nil {
		return 0, err
	}
	switch mode {
	case "near":
		// Half of Wb leaves the other half to the projection, which is parallel to it.
		c.near.make(ctx)
		for i := range c.near.list {
			a := &c.near.list[i]
			floats.Scale(.5, a.x)
			a.length, a.norm = a.length/2, a.norm/2
		}
		c.near.add(c.y)
		c.near.bound()
	default:
		c.applyProjection()
	}
	low := 0
	for i, e := range c.edges.all() {
		if c.upper[i] < d.norm(e) {
			low++
		}
	}
	return float64(low) / float64(c.edges.len()), nil
}

// nearSums makes the vectors near a few edges after three blocks of random columns and a few columns of edges, adds another block,
// and calls f with ‖Ωᵀ(Wb − a)‖² of each edge, as it was summed up and from all columns again. If one block is forgotten it reports
// whether the vectors are made at all.
func nearSums(ctx context.Context, m Model, u []float64, forget bool, f func(sum, again float64)) (made bool, err error) {
	c, _, err := screenOf(ctx, m, u, [32]byte{3}, 1e-9)
	if err != nil {
		return false, err
	}
	const few = 3
	steps := []func(context.Context) error{
		c.project, c.near.apply,
		func(ctx context.Context) error { return c.evaluate(ctx, c.operator, c.rest[:few]) },
		c.project, c.project,
		func(context.Context) error {
			if c.rest = c.rest[:few]; forget {
				c.near.kept = c.near.kept[:1]
			}
			return nil
		},
		c.near.apply, c.project,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return false, err
		}
	}
	sums := slices.Clone(c.near.squares)
	clear(c.near.squares)
	for b := 0; c.near.list != nil && b*c.block < c.columns; b++ {
		c.draw(b, c.x)
		if err := c.d.Apply(ctx, c.y, true, c.x, c.block); err != nil {
			return false, err
		}
		c.near.add(c.y)
	}
	for at, sum := range sums {
		f(sum, c.near.squares[at])
	}
	return c.near.list != nil, nil
}

// eachMoment calls f with the O(1) bounds of every edge, in the norm, and the exact ones.
func eachMoment(ctx context.Context, m Model, f func(low, up, exactLow, exactUp float64)) error {
	c, d, err := screenOf(ctx, m, nil, [32]byte{}, 0.5)
	if err != nil {
		return err
	}
	b := c.moments()
	for _, e := range c.edges.all() {
		v := d.norm(e)
		over, under := d.errorBounds(e, v)
		up, low := b.bounds(e)
		if !c.uniform {
			low = 0
		}
		f(c.scaled(e, low)*(1-64*unit), c.scaled(e, up), v-under, v+over)
	}
	return nil
}

// momentsOf returns the O(1) upper bound on bᵀe^{-2τL}b of one edge, and the
// computed moments that it comes from.
func momentsOf(m Model, u, v int32, b float64) (up float64, err error) {
	p, err := newProblem(m, nil, &Options{})
	if err != nil {
		return 0, err
	}
	up, _ = p.moments().bounds(edge{u: u, v: v, b: b, scale: 1})
	return up, nil
}

// eachConductance calls f with the ends of every edge and a lower bound on its effective
// conductance: by common neighbours, and by a detour. It does so a second time where the numbers of searches
// begin again.
func eachConductance(m Model, f func(u, v int, common, detour float64)) error {
	p, err := newProblem(m, nil, &Options{})
	if err != nil {
		return err
	}
	find := newPathFinder(p)
	for range 2 {
		for _, e := range p.edges.all() {
			f(int(e.u), int(e.v), find.commonNeighbours(e, math.Inf(1)), e.b+find.detour(e))
		}
		for t := range find.mark {
			find.mark[t] = 2
		}
		find.search = math.MaxUint32 - 3
	}
	return nil
}

// krylovAll brackets every edge by Lanczos steps, as narrowly as tol says where its value is above least, and calls f with
// the bracket and the exact one.
func krylovAll(ctx context.Context, m Model, u []float64, least, tol float64, f func(low, up, exactLow, exactUp float64)) error {
	c, d, err := screenOf(ctx, m, u, [32]byte{}, 0)
	if err != nil {
		return err
	}
	k := newKrylov(c.problem)
	for _, e := range c.edges.all() {
		up, low := k.bracket(e, least, tol)
		v := d.norm(e)
		over, under := d.errorBounds(e, v)
		f(low, up, v-under, v+over)
	}
	return nil
}

// perSensorByRows is PerSensor without the eigendecomposition of small graphs.
func perSensorByRows(ctx context.Context, m Model, opts Options) ([]Bracket, error) {
	p, err := newProblem(m, nil, &opts)
	if err != nil {
		return nil, err
	}
	out := make([]Bracket, len(m.Sensors))
	return out, p.bracketByRows(ctx, m, m.Sensors, opts, out)
}

// failureShares returns the failure probability of one bound of a screen, and how many edges there are.
func failureShares(ctx context.Context, m Model, failure float64) (bound float64, edges int, err error) {
	c, _, err := screenOf(ctx, m, nil, [32]byte{1}, 0)
	if err != nil {
		return 0, 0, err
	}
	c.opts.Failure = failure
	return c.failurePerBound(), len(c.rest), nil
}

// tauByProducts is WorstCase over an interval of τ as for a graph that is too large for all eigenpairs.
func tauByProducts(ctx context.Context, m Model, u []float64, set Uncertainty, opts Options) (Envelope, error) {
	m.Tau = set.Tau.From
	p, err := newProblem(m, u, &opts)
	if err != nil {
		return Envelope{}, err
	}
	return byProducts(ctx, p, m, u, set, opts)
}

// newFamily is what the certificate of the model's graph rests on.
func newFamily(ctx context.Context, m Model, u []float64, set Uncertainty) (*operatorFamily, error) {
	m.Tau = set.Tau.From
	p, err := newProblem(m, u, &Options{})
	if err != nil {
		return nil, err
	}
	return newOperatorFamily(ctx, p, m, u, set, -1)
}

// boundWithin bounds one edge's norm between two values of τ, from bounds at the ends.
func boundWithin(from, to float64, upper, curvature [2]float64, two, four float64) float64 {
	var ends [2]*evaluation
	for k, tau := range [2]float64{from, to} {
		ends[k] = &evaluation{tau: tau, upper: upper[k : k+1], curvature: curvature[k : k+1], two: two, four: four}
	}
	return newCell(ends[0], ends[1]).upper
}
