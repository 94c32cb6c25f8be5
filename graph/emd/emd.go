// SPDX-License-Identifier: Apache-2.0

package emd

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/graph"
)

// ErrMass says that two distributions cannot be transported into each other: their
// masses differ, in total or within a component of the graph.
var ErrMass = errors.New("emd: masses differ")

// MassTolerance is the difference of masses, relative to the larger total, up to
// which they count as equal: room for the rounding of sums and for the loss of
// mass of an approximate diffusion. The second distribution is scaled to the mass
// of the first.
const MassTolerance = 1e-9

// Distance returns the earth mover's distance between p and q, one value a node,
// under the shortest-path metric of g's lengths (hops where it has none). It is
// mass times length: divide by the mass for a mean distance. In a disconnected
// graph every component must carry equal mass in both, else [ErrMass].
func Distance(ctx context.Context, g *graph.Graph, p, q []float64) (float64, error) {
	if len(p) != g.Order() || len(q) != g.Order() {
		return 0, fmt.Errorf("emd: distributions of %d and %d values on a graph of order %d", len(p), len(q), g.Order())
	}
	labels, sizes := g.Components()
	b, err := supplies(p, q, labels, len(sizes))
	if err != nil {
		return 0, err
	}
	s := newSimplex(g, b)
	if err := s.solve(ctx); err != nil {
		return 0, err
	}
	return s.cost(b), nil
}

// supplies checks p and q and returns p − q, with q scaled to the mass of p in
// each component.
func supplies(p, q []float64, component []int32, components int) ([]float64, error) {
	massP, massQ := make([]sum, components), make([]sum, components)
	var totalP, totalQ sum
	for i := range p {
		for _, x := range [2]float64{p[i], q[i]} {
			if !(x >= 0) || math.IsInf(x, 1) {
				return nil, fmt.Errorf("emd: value %v at node %d, want a finite number ≥ 0", x, i)
			}
		}
		massP[component[i]].add(p[i])
		massQ[component[i]].add(q[i])
		totalP.add(p[i])
		totalQ.add(q[i])
	}
	larger := max(totalP.value(), totalQ.value())
	if !(larger <= math.MaxFloat64) { // also NaN, from the compensation
		return nil, errors.New("emd: the total mass overflows")
	}
	if d := math.Abs(totalP.value() - totalQ.value()); d > MassTolerance*larger {
		return nil, fmt.Errorf("%w: %v and %v", ErrMass, totalP.value(), totalQ.value())
	}
	scale := make([]float64, components)
	for c := range scale {
		mp, mq := massP[c].value(), massQ[c].value()
		if math.Abs(mp-mq) > MassTolerance*larger {
			return nil, fmt.Errorf("%w within component %d of the graph: %v and %v", ErrMass, c, mp, mq)
		}
		if mq > 0 && mp > 0 {
			scale[c] = mp / mq
		}
	}
	b := make([]float64, len(p))
	for i := range b {
		if f := scale[component[i]]; f > 0 {
			b[i] = p[i] - f*q[i]
		}
	}
	return b, nil
}
