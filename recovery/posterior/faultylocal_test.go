// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// TestLocalFaults: where columns are local the posterior is within its bound of the exact one, whatever the noise, with sensors at
// some of the nodes, and of the same bits with any number of workers.
func TestLocalFaults(t *testing.T) {
	g, _, err := graph.RoadLike(200, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.RandomWalk} {
		d := must.Get(expm.New(t.Context(), laplacian.New(g, kind), 1, expm.Options{Method: expm.Chebyshev, Tolerance: 1e-10}))(t)
		for _, sigma := range []float64{.3, .03, .004} {
			testLocalFaults(t, d, sigma)
		}
	}
}

func testLocalFaults(t *testing.T, d *expm.Diffusion, sigma float64) {
	t.Helper()
	n, _ := d.Dims()
	rnd := rand.New(rand.NewPCG(23, 1))
	unit, heat := make([]float64, n), make([]float64, n)
	unit[77] = 1
	d.MulVecTo(heat, false, unit)
	var nodes []int
	var y, u []float64
	f := posterior.Faults{Rate: .01}
	for i := 0; i < n; i += 2 {
		reading := heat[i]
		if rnd.IntN(30) == 0 {
			reading = 1
		}
		nodes, y, u = append(nodes, i), append(y, reading+sigma*rnd.NormFloat64()), append(u, 1/(sigma*sigma))
		f.Low, f.High = append(f.Low, 0), append(f.High, 1/sigma)
	}
	w := must.Get(measurement.Whiten(linop.Rows(d, nodes), y, u))(t)
	opts := posterior.Options{Faults: f}
	got := must.Get(posterior.New(t.Context(), w, opts))(t)
	all, columns := make([]int, n), make([]float64, n*len(y))
	for i := range all {
		all[i] = i
	}
	linop.ColumnsTo(w.A, columns, all)
	entries := mat.DenseCopyOf(mat.NewDense(n, len(y), columns).T())
	want := must.Get(posterior.New(t.Context(), measurement.Data{A: linop.Dense{M: entries}, Y: w.Y}, opts))(t)
	apart := floats.Distance(got.Probability, want.Probability, 1) / 2
	if apart > got.ProbabilityError || got.ProbabilityError > .01 || got.ProbabilityError == 0 ||
		math.Abs(got.LogPresence-want.LogPresence) > got.LogOddsError {
		t.Errorf("σ = %v: %v apart with a bound of %v, log presence %v and %v with %v", sigma, apart, got.ProbabilityError, got.LogPresence,
			want.LogPresence, got.LogOddsError)
	}
	if floats.Distance(got.Faulty, want.Faulty, math.Inf(1)) > 3*got.ProbabilityError {
		t.Errorf("σ = %v: suspects are %v apart", sigma, floats.Distance(got.Faulty, want.Faulty, math.Inf(1)))
	}
	before := runtime.GOMAXPROCS(1)
	again, err := posterior.New(t.Context(), w, opts)
	runtime.GOMAXPROCS(before)
	if err != nil || !slices.Equal(again.Probability, got.Probability) || !slices.Equal(again.Faulty, got.Faulty) {
		t.Errorf("σ = %v: one worker gives other bits (%v)", sigma, err)
	}
}
