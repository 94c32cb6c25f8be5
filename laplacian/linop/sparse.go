// SPDX-License-Identifier: Apache-2.0

package linop

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Sparse is an r × c matrix of stored entries, by columns: those of column j are Row[Start[j]:Start[j+1]], ascending and
// distinct, with their Value. It takes 12 bytes an entry. Make it with [NewSparse].
type Sparse struct {
	Start []int64 // c+1 values
	Row   []int32
	Value []float64

	rows int
	norm float64 // ≥ ‖A‖_F
	err  float64
}

// NewSparse returns the matrix of so many rows, and takes the slices over.
func NewSparse(rows int, start []int64, row []int32, value []float64) *Sparse {
	s := &Sparse{Start: start, Row: row, Value: value, rows: rows}
	width := int64(0)
	counts := make([]int64, rows)
	for _, i := range row {
		counts[i]++
	}
	for _, k := range counts {
		width = max(width, k)
	}
	for j := range s.columns() {
		width = max(width, start[j+1]-start[j])
	}
	largest := 0.0
	for _, v := range value {
		largest = max(largest, math.Abs(v))
	}
	if largest > 0 { // no square underflows or overflows
		sum := 0.0
		for _, v := range value {
			sum += v / largest * (v / largest)
		}
		s.norm = largest * math.Sqrt(sum) * (1 + float64(len(value)+8)*0x1p-52)
	}
	s.err = s.norm * float64(width+4) * 0x1p-52
	return s
}

func (s *Sparse) columns() int { return len(s.Start) - 1 }

// Dims returns the numbers of rows and columns.
func (s *Sparse) Dims() (r, c int) { return s.rows, s.columns() }

// Norm returns the Frobenius norm, rounded up.
func (s *Sparse) Norm() float64 { return s.norm }

// Err bounds the rounding of a product: a sum of k terms in any order is off by at most k·2⁻⁵³(1 + o(1))·Σ|A_ij x_j| (Higham,
// Accuracy and Stability of Numerical Algorithms, §3.1), and ‖|A|‖₂ ≤ ‖A‖_F.
func (s *Sparse) Err() float64 { return s.err }

// Column returns the rows and entries of a column, which the caller must not change.
func (s *Sparse) Column(j int) (rows []int32, x []float64) {
	return s.Row[s.Start[j]:s.Start[j+1]], s.Value[s.Start[j]:s.Start[j+1]]
}

// MulVecTo sets dst to A x or Aᵀx. No branch depends on x.
func (s *Sparse) MulVecTo(dst []float64, trans bool, x []float64) { s.MulBlockTo(dst, trans, x, 1) }

// MulPrivateTo sets dst to A x for a private x with |x_j| ≤ 1: no branch depends on x, and no operand is subnormal, since
// processors handle those more slowly. x is rounded to multiples of 2⁻²⁰⁰, which costs less than a unit of Err, and its copy is
// cleared. Entries of A are to be 0 or at least 2⁻⁷⁰⁰ in size.
func (s *Sparse) MulPrivateTo(dst, x []float64) {
	const grid = 0x1.8p-148
	rounded := make([]float64, len(x))
	defer clear(rounded)
	for j, v := range x {
		rounded[j] = float64(v+grid) - grid
	}
	s.MulVecTo(dst, false, rounded)
}

// MulBlockTo sets dst to A X or AᵀX for k row-major columns.
func (s *Sparse) MulBlockTo(dst []float64, trans bool, x []float64, k int) {
	_, rows, columns := shape(s, trans)
	check(dst, rows*k)
	check(x, columns*k)
	width := k * (1 + len(s.Row)/max(1, s.columns()))
	if trans {
		parallel.Rows(s.columns(), width, func(lo, hi int) {
			for j := lo; j < hi; j++ {
				sum := dst[j*k:][:k]
				clear(sum)
				s.each(j, func(i int, v float64) { addScaled(sum, v, x[i*k:][:k]) })
			}
		})
		return
	}
	clear(dst)
	parallel.Sum(s.columns(), width, dst, func(lo, hi int, sum []float64) {
		for j := lo; j < hi; j++ {
			from := x[j*k:][:k]
			s.each(j, func(i int, v float64) { addScaled(sum[i*k:][:k], v, from) })
		}
	})
}

// each calls f with the entries of a column.
func (s *Sparse) each(j int, f func(i int, v float64)) {
	rows, x := s.Column(j)
	for p, i := range rows {
		f(int(i), x[p])
	}
}

func addScaled(sum []float64, a float64, x []float64) {
	for t, v := range x {
		sum[t] += a * v
	}
}

// Apply is [Sparse.MulBlockTo], unless ctx has ended.
func (s *Sparse) Apply(ctx context.Context, dst []float64, trans bool, x []float64, k int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.MulBlockTo(dst, trans, x, k)
	return ctx.Err()
}

// Rows returns the given distinct rows as a len(pick) × c matrix.
func (s *Sparse) Rows(ctx context.Context, pick []int) (*mat.Dense, error) {
	m := mat.NewDense(len(pick), s.columns(), nil)
	place := s.places(pick)
	for j := range s.columns() {
		s.each(j, func(i int, v float64) {
			if k := place[i]; k > 0 {
				m.Set(int(k)-1, j, v)
			}
		})
	}
	return m, ctx.Err()
}

// places returns the place of each picked row, from 1; 0: it is not picked.
func (s *Sparse) places(pick []int) []int32 {
	place := make([]int32, s.rows)
	for k, i := range pick {
		place[i] = int32(k) + 1
	}
	return place
}

// ReadColumns reads columns as they are stored.
func (s *Sparse) ReadColumns([]int, float64, int) (ColumnReader, bool) {
	return func(j int, do func(rows []int32, x []float64, off float64)) {
		rows, x := s.Column(j)
		do(append([]int32(nil), rows...), append([]float64(nil), x...), 0)
	}, true
}

// ColumnSquares bounds the squared norms from the entries, up to rounding.
func (s *Sparse) ColumnSquares(ctx context.Context, js []int, weights []float64, _ float64, _ int, low, high []float64) (bool, error) {
	parallel.Rows(len(js), 1+len(s.Row)/max(1, s.columns()), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			sum := 0.0
			s.each(js[k], func(i int, v float64) { sum += weights[i] * v * v })
			off := float64(s.Start[js[k]+1]-s.Start[js[k]]+4) * 0x1p-52
			low[k], high[k] = sum*(1-off), sum*(1+off)
		}
	})
	return true, ctx.Err()
}

// EachDifference calls f with the rows in which column u or v has an entry, ascending, and A_iu − A_iv.
func (s *Sparse) EachDifference(u, v int, f func(i int, d float64)) {
	p, pEnd, q, qEnd := s.Start[u], s.Start[u+1], s.Start[v], s.Start[v+1]
	for p < pEnd || q < qEnd {
		switch {
		case q == qEnd || p < pEnd && s.Row[p] < s.Row[q]:
			f(int(s.Row[p]), s.Value[p])
			p++
		case p == pEnd || s.Row[q] < s.Row[p]:
			f(int(s.Row[q]), -s.Value[q])
			q++
		default:
			f(int(s.Row[p]), s.Value[p]-s.Value[q])
			p, q = p+1, q+1
		}
	}
}
