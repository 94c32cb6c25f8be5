// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/report"
)

// With little noise the measurements tell their τ from all of the grid; the model that made them, with
// a τ of the declared range that lies between two of those or at an end, is not called one
// that does not fit. One with a τ outside of the range is.
func TestFitBetweenTaus(t *testing.T) {
	const from, to, sigma = 1.0, 16.0, .001
	border := math.Pow(to, 5./9) // halfway between two of the grid
	for _, c := range []struct {
		tau    float64
		source int
		fits   bool
	}{{from, 10, true}, {border, 10, true}, {border, 0, true}, {math.Pow(to, .73), 22, true}, {to, 10, true}, {1.3 * to, 10, false}} {
		o := pathOperator(t, 24, c.tau)
		nodes, y, sigmas := make([]int, 24), make([]float64, 24), make([]float64, 24)
		source := make([]float64, 24)
		source[c.source] = 1
		o.Diffusion.MulVecTo(y, false, source)
		rnd := rand.New(rand.NewPCG(8, 1))
		for s := range y {
			nodes[s], sigmas[s] = s, sigma
			y[s] += sigma * rnd.NormFloat64()
		}
		rep := new(report.Report)
		in := Measurements{Nodes: nodes, Values: y, Sigmas: sigmas}
		must.Do(t, pathOperator(t, 24, 4).Analyse(t.Context(), in,
			detected(community.Partition{Labels: make([]int, 24), Count: 1, Names: []string{"all"}}), nil,
			Options{Tau: tau.Range{From: from, To: to}}, rep))
		if p := rep.Fit.PValue; c.fits && p < report.PoorFit || !c.fits && p > .001 {
			t.Errorf("%+v: p = %v", c, p)
		}
	}
}

// detected is a partition that is known already.
func detected(p community.Partition) func(context.Context) (community.Partition, error) {
	return func(context.Context) (community.Partition, error) { return p, nil }
}

func pathOperator(t *testing.T, n int, tau float64) *Operator {
	t.Helper()
	g := must.Get(graph.Path(n))(t)
	l := laplacian.New(g, laplacian.Combinatorial)
	d := must.Get(expm.New(t.Context(), l, tau, expm.Options{}))(t)
	return &Operator{Graph: g, Laplacian: l, Diffusion: d}
}
