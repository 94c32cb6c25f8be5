// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"math/rand/v2"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
)

// citations has hubs with leaves, many small components, and two relationships of a
// weight, in an order of its own: eigenvalues of high multiplicity, far below the norm.
func citations(t *testing.T, n int, heavy float64, seed uint64) *graph.Graph {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var edges [][3]float64
	perm := r.Perm(n)
	seen := map[[2]int]bool{}
	join := func(u, v int, weight float64) {
		if u == v || seen[[2]int{u, v}] {
			return
		}
		seen[[2]int{u, v}] = true
		edges = append(edges, [3]float64{float64(perm[u]), float64(perm[v]), weight})
	}
	join(0, 1, heavy)
	join(1, 2, heavy)
	at, ends := n*85/100, []int{0, 1}
	for i := 3; i < at; i++ {
		k := 1
		if r.IntN(3) == 0 {
			k += r.IntN(6)
		}
		for range k {
			v := ends[r.IntN(len(ends))] % i
			join(v, i, 1)
			ends = append(ends, i, v)
		}
	}
	for at < n {
		k := min(n-at, 1+r.IntN(7))
		for j := 1; j < k; j++ {
			join(at+r.IntN(j), at+j, 1)
		}
		at += k
	}
	return build(t, n, edges)
}

// Eigenvalues that are alike and far below the norm are found in a few sweeps, and the
// eigenpairs are those of S within the roundoff of its norm.
func TestEigenvaluesFarBelowTheNorm(t *testing.T) {
	for _, heavy := range []float64{1, 1e2, 1e4, 1e5, 1e6} {
		for seed := range uint64(20) {
			l := laplacian.New(citations(t, 150, heavy, seed), laplacian.Combinatorial)
			s, err := expm.Decompose(t.Context(), l, nil)
			if err != nil {
				t.Fatalf("weight %v, seed %d: %v", heavy, seed, err)
			}
			if limit := 1e-10 * l.Bound(); s.BackwardError() > limit {
				t.Errorf("weight %v, seed %d: backward error %g, want at most %g", heavy, seed, s.BackwardError(), limit)
			}
		}
	}
}
