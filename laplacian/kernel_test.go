// SPDX-License-Identifier: Apache-2.0

package laplacian

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// TestKernels: multiply and generic give the same bits for 1 to 35 columns, with a
// hub of several segments, rows of every length and none, an old dst that is not a
// number where it must not be read, and pieces that begin and end anywhere.
func TestKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	var b graph.Builder
	const n = 700
	for i := range n {
		b.AddNode(graph.ID(string(rune('a' + i))))
	}
	for i := 1; i < n-5; i++ { // node 0 is a hub, the last five have no neighbour
		b.Connect(0, i, r.ExpFloat64(), 1)
		for j := i + 1; j < n-5 && r.IntN(min(i, 40)) > 0; j += 1 + r.IntN(i) {
			b.Connect(i, j, r.ExpFloat64(), 1)
		}
	}
	g := must.Get(b.Graph())(t)
	lengths := map[int]bool{}
	for i := range n {
		lengths[g.Degree(i)%lanes] = true
	}
	if len(lengths) < lanes || g.Degree(0) < 4*segment {
		t.Fatalf("rows of %d remainders, hub of %d", len(lengths), g.Degree(0))
	}
	weighted := New(g, Combinatorial)
	ones := New(g, Combinatorial)
	ones.rows.val = nil
	for name, l := range map[string]*Laplacian{"weighted": weighted, "ones": ones} {
		for k := 1; k <= 35; k++ {
			for _, c := range []float64{0.75, 0, math.Copysign(0, -1)} {
				for _, accumulate := range []bool{true, false} {
					size := n * k
					x, want, got := make([]float64, size), make([]float64, size), make([]float64, size)
					var wantAcc, gotAcc []float64
					for i := range x {
						x[i], want[i] = r.NormFloat64(), r.NormFloat64()
						if c == 0 {
							want[i] = math.NaN()
						}
					}
					copy(got, want)
					if accumulate {
						wantAcc = make([]float64, size)
						for i := range wantAcc {
							wantAcc[i] = r.NormFloat64()
						}
						gotAcc = append(gotAcc, wantAcc...)
					}
					lo, hi := r.IntN(n/2), n-r.IntN(n/2)
					if k%2 == 0 {
						lo, hi = 0, n
					}
					l.generic(&job{l: l, dst: want, acc: wantAcc, x: x, k: k, a: 1.5, b: -0.25, c: c, d: 2}, lo, hi)
					l.multiply(&job{l: l, dst: got, acc: gotAcc, x: x, k: k, a: 1.5, b: -0.25, c: c, d: 2}, lo, hi)
					if !same(got, want) || !same(gotAcc, wantAcc) {
						t.Fatalf("%s, %d columns, c = %v, sum %v: other bits", name, k, c, accumulate)
					}
				}
			}
		}
	}
}

func same(a, b []float64) bool {
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}
