// SPDX-License-Identifier: Apache-2.0

package testgraph_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/testgraph"
)

// The closed forms are those of a dense eigendecomposition:
// ‖e^{-τL}b‖² = Σ e^{-2τλ}(uᵢ − uⱼ)².
func TestClosedForms(t *testing.T) {
	for _, f := range testgraph.All() {
		g := f.Graph
		n := g.Order()
		l := mat.NewSymDense(n, nil)
		for e := range g.Edges() {
			l.SetSym(e.U, e.V, -1)
			l.SetSym(e.U, e.U, l.At(e.U, e.U)+1)
			l.SetSym(e.V, e.V, l.At(e.V, e.V)+1)
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(l, true) {
			t.Fatalf("%s: no eigendecomposition", f.Name)
		}
		values := eigen.Values(nil)
		var u mat.Dense
		eigen.VectorsTo(&u)
		if len(f.Eigenvalues) != n {
			t.Fatalf("%s: %d eigenvalues of %d nodes", f.Name, len(f.Eigenvalues), n)
		}
		for k, want := range values {
			if got := f.Eigenvalues[k]; math.Abs(got-want) > 1e-13*float64(n) {
				t.Errorf("%s: eigenvalue %d is %v, dense %v", f.Name, k, got, want)
			}
		}
		for _, tau := range []float64{0.05, 0.5, 1, 2} {
			want := 0.0
			for e := range g.Edges() {
				sum := 0.0
				for k, v := range values {
					d := u.At(e.U, k) - u.At(e.V, k)
					sum += math.Exp(-2*tau*v) * d * d
				}
				want = max(want, sum)
			}
			if got := f.Squared(tau); math.Abs(got-want) > 1e-11*want {
				t.Errorf("%s, τ = %v: Δ₂² = %v, dense %v", f.Name, tau, got, want)
			}
		}
	}
}
