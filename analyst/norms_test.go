// SPDX-License-Identifier: Apache-2.0

package analyst_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// Bounds on the norms hold, and are not void, on a graph whose columns are all but the
// same: there the directions that they share are followed by rounding.
func TestNormsOfSmoothGraph(t *testing.T) {
	const n = 12_000
	g := must.Get(graph.BarabasiAlbert(n, 5, 1))(t)
	d := must.Get(expm.New(t.Context(), laplacian.New(g, laplacian.Combinatorial), 4, expm.Options{}))(t)
	const source = 77
	unit, y := make([]float64, n), make([]float64, n)
	unit[source] = 1
	d.MulVecTo(y, false, unit)
	sigma := floats.Norm(y, 2) / 7
	rnd := rand.New(rand.NewPCG(51, 1))
	for i := range y {
		y[i] += sigma * rnd.NormFloat64()
	}
	data := must.Get(measurement.Whiten(d, y, measurement.Uniform(sigma, n)))(t)
	norms := must.Get(posterior.ColumnNorms(t.Context(), data, posterior.Options{}))(t)
	column := make([]float64, n)
	for i := 0; i < n; i += 500 {
		clear(unit)
		unit[i] = 1
		d.MulVecTo(column, false, unit)
		want := floats.Dot(column, column) / (sigma * sigma)
		if !(norms.Low[i] <= want*(1+1e-9) && want*(1-1e-9) <= norms.High[i]) {
			t.Errorf("N[%d] is in [%v, %v], exactly %v", i, norms.Low[i], norms.High[i], want)
		}
	}
	p, err := posterior.New(t.Context(), data, posterior.Options{Norms: &norms})
	if err != nil || !(p.ProbabilityError < 0.1) || math.IsNaN(p.LogOddsError) || len(p.Credible()) < n/2 {
		t.Errorf("%v of the posterior open, %d nodes credible (%v)", p.ProbabilityError, len(p.Credible()), err)
	}
}

// On a graph on which heat stays near, norms are bounded without a product for any column,
// whatever the noise of each sensor, and as well as the posterior needs.
func TestNormsOfSpatialGraph(t *testing.T) {
	const n, source = 12_000, 777
	g, _, err := graph.RoadLike(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := must.Get(expm.New(t.Context(), laplacian.New(g, laplacian.Combinatorial), 2, expm.Options{Method: expm.Chebyshev}))(t)
	rnd := rand.New(rand.NewPCG(52, 1))
	unit, y, weight := make([]float64, n), make([]float64, n), make([]float64, n)
	unit[source] = 1
	d.MulVecTo(y, false, unit)
	for i := range y {
		sigma := 0.05 * (1 + rnd.Float64())
		weight[i] = 1 / (sigma * sigma)
		y[i] += sigma * rnd.NormFloat64()
	}
	data := must.Get(measurement.Whiten(d, y, weight))(t)
	products := int64(0)
	norms, err := posterior.ColumnNorms(t.Context(), data, posterior.Options{Progress: func(_ string, done, _ int64) { products = done }})
	if err != nil || products > 0 {
		t.Fatalf("%d products, %v", products, err)
	}
	column := make([]float64, n)
	for _, i := range []int{source, 0, 1, n / 2, n - 1} {
		clear(unit)
		unit[i] = 1
		d.MulVecTo(column, false, unit)
		want := 0.0
		for s, v := range column {
			want += weight[s] * v * v
		}
		if !(norms.Low[i] <= want*(1+1e-9) && want*(1-1e-9) <= norms.High[i]) {
			t.Errorf("N[%d] is in [%v, %v], exactly %v", i, norms.Low[i], norms.High[i], want)
		}
	}
	p, err := posterior.New(t.Context(), data, posterior.Options{Norms: &norms})
	if err != nil || !(p.ProbabilityError < 0.01) || !(p.LogOddsError < 0.01) || p.Best() != source {
		t.Errorf("%v of the posterior and %v of the log odds open, node %d the likeliest, %v", p.ProbabilityError,
			p.LogOddsError, p.Best(), err)
	}
}
