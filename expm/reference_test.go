// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

type reference struct {
	Graphs map[string]struct {
		N           int
		Edges       [][3]float64
		Eigenvalues []float64
		Tau         map[string]struct{ Expm [][]float64 }
	}
}

func load(t testing.TB) (r reference) {
	t.Helper()
	b := must.Get(os.ReadFile("testdata/kernels.json"))(t)
	must.Do(t, json.Unmarshal(b, &r))
	return r
}

// build makes a graph whose nodes 0 … n−1 keep their numbers.
func build(t testing.TB, n int, edges [][3]float64) *graph.Graph {
	t.Helper()
	var b graph.Builder
	for i := range n {
		must.Get(b.AddNode(graph.ID(fmt.Sprintf("%09d", i))))(t)
	}
	for _, e := range edges {
		must.Do(t, b.Connect(int(e[0]), int(e[1]), e[2], 1))
	}
	return must.Get(b.Graph())(t)
}

var methods = []expm.Method{expm.Eigen, expm.Chebyshev}

// TestReference compares every method with 60-digit values: the error in the
// 2-norm of each column is within the declared bound, and within 1e-12.
func TestReference(t *testing.T) {
	for name, g := range load(t).Graphs {
		l := laplacian.New(build(t, g.N, g.Edges), laplacian.Combinatorial)
		for ts, want := range g.Tau {
			tau, _ := strconv.ParseFloat(ts, 64)
			for _, m := range methods {
				d := must.Get(expm.New(context.Background(), l, tau, expm.Options{Method: m}))(t)
				if d.Err() > 1e-11*(1+tau*l.Bound()) {
					t.Errorf("%s τ=%v %v: Err() = %g, want ≤ 1e-11·(1 + τλ)", name, tau, m, d.Err())
				}
				for _, trans := range []bool{false, true} {
					worst := columnError(d, trans, want.Expm)
					if worst > min(d.Err(), 1e-12) {
						t.Errorf("%s τ=%v %v: ‖(M̃−M)e_j‖ = %g exceeds 1e-12 or Err() = %g", name, tau, m, worst, d.Err())
					}
				}
			}
		}
	}
}

func columnError(d *expm.Diffusion, trans bool, want [][]float64) (worst float64) {
	n := len(want)
	x, y := make([]float64, n), make([]float64, n)
	for j := range n {
		clear(x)
		x[j] = 1
		d.MulVecTo(y, trans, x)
		var sum float64
		for i := range n {
			sum = math.Hypot(sum, y[i]-want[i][j])
		}
		worst = max(worst, sum)
	}
	return worst
}

func TestReferenceEigenvalues(t *testing.T) {
	for name, g := range load(t).Graphs {
		l := laplacian.New(build(t, g.N, g.Edges), laplacian.Combinatorial)
		s := must.Get(expm.Decompose(context.Background(), l, nil))(t)
		for k, want := range g.Eigenvalues {
			if got := s.Lambda()[k]; math.Abs(got-want) > s.BackwardError() || s.BackwardError() > 1e-12 {
				t.Errorf("%s: λ_%d = %v, want %v within %g ≤ 1e-12", name, k, got, want, s.BackwardError())
			}
		}
		if top := g.Eigenvalues[g.N-1]; l.Bound() < top || l.Bound() > 1.7*top {
			t.Errorf("%s: Bound() = %v, want in [λ_max, 1.7·λ_max] with λ_max = %v", name, l.Bound(), top)
		}
	}
}
