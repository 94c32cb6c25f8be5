// SPDX-License-Identifier: Apache-2.0

package linop_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// known is a matrix that is known by its products only.
type known struct{ linop.BlockOperator }

// Products and columns of scaled rows are those of the matrix, row by row: for all rows in
// order, all in another order, and some; whatever earlier products left in memory.
func TestScaled(t *testing.T) {
	const m, n, k = 300, 200, 5
	rnd := rand.New(rand.NewPCG(1, 1))
	random := func(size int) []float64 {
		x := make([]float64, size)
		for i := range x {
			x[i] = rnd.NormFloat64()
		}
		return x
	}
	a := linop.Dense{M: mat.NewDense(m, n, random(m*n))}
	inOrder := make([]int, m)
	for i := range inOrder {
		inOrder[i] = i
	}
	for name, pick := range map[string][]int{"all": inOrder, "shuffled": rnd.Perm(m), "some": rnd.Perm(m)[:m/3]} {
		scale := random(len(pick))
		want := mat.NewDense(len(pick), n, nil)
		for s, i := range pick {
			for j, v := range a.M.RawRowView(i) {
				want.Set(s, j, scale[s]*v)
			}
		}
		ones := slices.Repeat([]float64{1}, len(pick))
		first := make([]int, len(pick))
		for s := range first {
			first[s] = s
		}
		operators := map[string]linop.Operator{
			"scaled":         linop.Scaled{A: known{a}, Rows: pick, Scale: scale},
			"of picked rows": linop.Scaled{A: linop.Rows(known{a}, pick), Rows: first, Scale: scale},
			"twice":          linop.Scaled{A: linop.Scaled{A: known{a}, Rows: pick, Scale: ones}, Rows: first, Scale: scale},
			"stored":         linop.Scaled{A: a, Rows: pick, Scale: scale},
		}
		for kind, op := range operators {
			t.Run(name+" "+kind, func(t *testing.T) { sameProducts(t, op, linop.Dense{M: want}, random, k) })
		}
	}
}

// sameProducts compares products, products with the transpose and columns.
func sameProducts(t *testing.T, got, want linop.Operator, random func(int) []float64, k int) {
	t.Helper()
	m, n := want.Dims()
	x, y := random(n*k), random(m*k)
	gotX, gotY, wantX, wantY := random(n*k), random(m*k), make([]float64, n*k), make([]float64, m*k)
	linop.MulBlockTo(got, gotY, false, x, k)
	linop.MulBlockTo(want, wantY, false, x, k)
	linop.MulBlockTo(got, gotX, true, y, k)
	linop.MulBlockTo(want, wantX, true, y, k)
	js := []int{n - 1, 0, 7}
	gotC, wantC := random(m*len(js)), make([]float64, m*len(js))
	linop.ColumnsTo(got, gotC, js)
	linop.ColumnsTo(want, wantC, js)
	for what, pair := range map[string][2][]float64{"A x": {gotY, wantY}, "Aᵀy": {gotX, wantX}, "columns": {gotC, wantC}} {
		for i, v := range pair[1] {
			if d := pair[0][i] - v; d > 1e-12 || d < -1e-12 {
				t.Fatalf("%s: entry %d is %v, want %v", what, i, pair[0][i], v)
			}
		}
	}
}

// TestBlockColumns: a block fits 2²⁴ values, or is one column, of a width at which products are fast.
func TestBlockColumns(t *testing.T) {
	for n, want := range map[int]int{
		0: 64, 1000: 64, 300_000: 48, 1 << 20: 16, 1_100_000: 8, 1 << 21: 8, 3_000_000: 4, 8_000_000: 2, 1 << 25: 1,
	} {
		if got := linop.BlockColumns(n); got != want {
			t.Errorf("%d values: %d columns, want %d", n, got, want)
		}
	}
}
