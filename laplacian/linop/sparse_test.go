// SPDX-License-Identifier: Apache-2.0

package linop_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// sparse returns a random matrix of which most entries are 0, and the same as a dense one.
func sparse(rnd *rand.Rand, r, c int) (*linop.Sparse, *mat.Dense) {
	m := mat.NewDense(r, c, nil)
	start, row, value := []int64{0}, []int32(nil), []float64(nil)
	for j := range c {
		for i := range r {
			if rnd.IntN(3) == 0 {
				x := rnd.NormFloat64()
				m.Set(i, j, x)
				row, value = append(row, int32(i)), append(value, x)
			}
		}
		start = append(start, int64(len(row)))
	}
	return linop.NewSparse(r, start, row, value), m
}

// Products, rows, columns and norms are those of the dense matrix.
func TestSparse(t *testing.T) {
	rnd := rand.New(rand.NewPCG(32, 1))
	const r, c, k = 7, 11, 3
	s, m := sparse(rnd, r, c)
	if norm := mat.Norm(m, 2); !(s.Norm() >= norm && s.Norm() < norm*(1+1e-9)) || !(s.Err() > 0 && s.Err() < 1e-13) {
		t.Errorf("norm %v and error %v, want %v and a few units", s.Norm(), s.Err(), norm)
	}
	for _, trans := range []bool{false, true} {
		from, to := c, r
		if trans {
			from, to = r, c
		}
		x := mat.NewDense(from, k, nil)
		for i := range x.RawMatrix().Data {
			x.RawMatrix().Data[i] = rnd.NormFloat64()
		}
		var want mat.Dense
		if trans {
			want.Mul(m.T(), x)
		} else {
			want.Mul(m, x)
		}
		got := mat.NewDense(to, k, nil)
		must.Do(t, s.Apply(t.Context(), got.RawMatrix().Data, trans, x.RawMatrix().Data, k))
		if !mat.EqualApprox(got, &want, 1e-13) {
			t.Errorf("transposed %v: the product is another", trans)
		}
	}
	pick := []int{5, 0, 3}
	rows := must.Get(s.Rows(t.Context(), pick))(t)
	for p, i := range pick {
		if !slices.Equal(rows.RawRowView(p), m.RawRowView(i)) {
			t.Errorf("row %d is another", i)
		}
	}
	js, dst := []int{9, 2}, make([]float64, 2*r)
	linop.ColumnsTo(s, dst, js)
	weights := []float64{1, 0, 2, 3, 1, 1, .5}
	low, high := make([]float64, 2), make([]float64, 2)
	if ok := must.Get(s.ColumnSquares(t.Context(), js, weights, 0, 0, low, high))(t); !ok {
		t.Error("no squares")
	}
	read, _ := s.ReadColumns(js, 0, 0)
	for p, j := range js {
		want, square := mat.Col(nil, j, m), 0.0
		for i, v := range want {
			square += weights[i] * v * v
		}
		if !slices.Equal(dst[p*r:(p+1)*r], want) || !(low[p] <= square && square <= high[p] && high[p] < square*(1+1e-13)) {
			t.Errorf("column %d is another, or its square %v not in [%v, %v]", j, square, low[p], high[p])
		}
		read(j, func(rows []int32, x []float64, off float64) {
			all := make([]float64, r)
			for q, i := range rows {
				all[i] = x[q]
			}
			if off != 0 || !slices.Equal(all, want) {
				t.Errorf("column %d is read as another", j)
			}
		})
	}
}

// The difference of two columns is that of their entries, of all rows in which one has any.
func TestEachDifference(t *testing.T) {
	s, m := sparse(rand.New(rand.NewPCG(32, 2)), 9, 8)
	for u := range 8 {
		for v := range 8 {
			got, last := make([]float64, 9), -1
			s.EachDifference(u, v, func(i int, d float64) {
				if i <= last {
					t.Fatalf("row %d after row %d", i, last)
				}
				got[i], last = d, i
			})
			for i, d := range got {
				if d != m.At(i, u)-m.At(i, v) {
					t.Fatalf("columns %d and %d differ by %v in row %d", u, v, d, i)
				}
			}
		}
	}
}

// The norm of entries whose squares overflow or vanish is finite and right.
func TestSparseRange(t *testing.T) {
	for _, x := range []float64{1e-100, 1e100} {
		s := linop.NewSparse(2, []int64{0, 2}, []int32{0, 1}, []float64{3 * x, 4 * x})
		if got := s.Norm() / x; math.Abs(got-5) > 1e-9 {
			t.Errorf("norm %v, want 5", got)
		}
	}
}
