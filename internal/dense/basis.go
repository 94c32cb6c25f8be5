// SPDX-License-Identifier: Apache-2.0

// Package dense has the dense linear algebra that several packages share and gonum lacks.
package dense

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// DependenceTolerance is the norm of the remainder, relative to its column, below which
// a column counts as linearly dependent: the rounding error of two passes of
// Gram–Schmidt.
const DependenceTolerance = 1e-14

// Basis is an orthonormal basis of the columns that it was extended by.
type Basis struct {
	M         int       // length of a vector
	K         int       // number of vectors
	Q         []float64 // the vectors, one after the other
	Tolerance float64   // relative remainder below which a column adds no vector; at least DependenceTolerance
}

// Vector returns vector i, a part of Q.
func (b *Basis) Vector(i int) []float64 { return b.Q[i*b.M : (i+1)*b.M] }

// Matrix returns the vectors as rows, K × M.
func (b *Basis) Matrix() blas64.General {
	return blas64.General{Rows: b.K, Cols: b.M, Stride: b.M, Data: b.Q}
}

// Reserve makes room for p more vectors at once.
func (b *Basis) Reserve(p int) { b.Q = slices.Grow(b.Q, p*b.M) }

// Extend adds p columns, stored one after the other in cols, which it overwrites,
// and returns their coordinates. A column that depends on the basis adds no vector.
//
// Block Gram–Schmidt runs twice against the old vectors, then column by column against
// those of the block, or against all where the remainder is below a tenth of the column.
// While a sweep halves the remainder another over all vectors follows: a remainder that
// is mostly rounding would otherwise not be orthogonal.
func (b *Basis) Extend(cols []float64, p int) [][]float64 {
	block := blas64.General{Rows: p, Cols: b.M, Stride: b.M, Data: cols}
	old := b.K
	coef := make([]float64, p*old)
	norms := make([]float64, p)
	for i := range p {
		norms[i] = floats.Norm(cols[i*b.M:(i+1)*b.M], 2)
	}
	if old > 0 {
		h := blas64.General{Rows: p, Cols: old, Stride: old, Data: make([]float64, p*old)}
		for range 2 {
			b.coordinates(block, h.Data)
			b.subtract(block, h)
			floats.Add(coef, h.Data)
		}
	}
	out := make([][]float64, p)
	for i := range p {
		w := cols[i*b.M : (i+1)*b.M]
		c := append(make([]float64, 0, old+p), coef[i*old:(i+1)*old]...)
		c = append(c, make([]float64, b.K-old)...)
		b.sweep(w, c, old)
		from, rest := old, floats.Norm(w, 2)
		if rest < 0.1*norms[i] {
			from = 0
		}
		for before := math.Inf(1); rest < before/2; from = 0 {
			before = rest
			b.sweep(w, c, from)
			rest = floats.Norm(w, 2)
		}
		if rest > max(DependenceTolerance, b.Tolerance)*norms[i] && b.K < b.M {
			floats.Scale(1/rest, w)
			b.Q = append(b.Q, w...)
			b.K++
			c = append(c, rest)
		}
		out[i] = c
	}
	return out
}

// between returns columns lo … hi−1 of a matrix.
func between(a blas64.General, lo, hi int) blas64.General {
	return blas64.General{Rows: a.Rows, Cols: hi - lo, Stride: a.Stride, Data: a.Data[lo : (a.Rows-1)*a.Stride+hi]}
}

// columnWork is the work of one column of a product of matrices, in values that a loop
// reads: arithmetic is a few times faster.
func columnWork(p, q int) int { return p + q + p*q/4 }

// coordinates sets h, p × K, to the inner products of the p rows of x with the vectors.
func (b *Basis) coordinates(x blas64.General, h []float64) {
	parallel.Sum(b.M, columnWork(x.Rows, b.K), h, func(lo, hi int, sum []float64) {
		to := blas64.General{Rows: x.Rows, Cols: b.K, Stride: b.K, Data: sum}
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, between(x, lo, hi), between(b.Matrix(), lo, hi), 1, to)
	})
}

// subtract subtracts from the rows of x the combinations h of the vectors.
func (b *Basis) subtract(x, h blas64.General) {
	parallel.Rows(b.M, columnWork(x.Rows, b.K), func(lo, hi int) {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, h, between(b.Matrix(), lo, hi), 1, between(x, lo, hi))
	})
}

// Remove replaces each of the k columns of x, M × k in row-major order, by its component
// orthogonal to the vectors, up to rounding.
func (b *Basis) Remove(x []float64, k int) {
	if b.K == 0 {
		return
	}
	along := blas64.General{Rows: b.K, Cols: k, Stride: k, Data: make([]float64, b.K*k)}
	rows := func(lo, hi int) blas64.General {
		return blas64.General{Rows: hi - lo, Cols: k, Stride: k, Data: x[lo*k : hi*k]}
	}
	parallel.Sum(b.M, columnWork(b.K, k), along.Data, func(lo, hi int, sum []float64) {
		to := blas64.General{Rows: b.K, Cols: k, Stride: k, Data: sum}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, between(b.Matrix(), lo, hi), rows(lo, hi), 1, to)
	})
	parallel.Rows(b.M, columnWork(b.K, k), func(lo, hi int) {
		blas64.Gemm(blas.Trans, blas.NoTrans, -1, between(b.Matrix(), lo, hi), along, 1, rows(lo, hi))
	})
}

// sweep subtracts from w its components along vectors from, from + 1, …, and adds the
// coefficients to c.
func (b *Basis) sweep(w, c []float64, from int) {
	k := b.K - from
	if k == 0 {
		return
	}
	q := blas64.General{Rows: k, Cols: b.M, Stride: b.M, Data: b.Q[from*b.M:]}
	h := make([]float64, k)
	part := func(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Inc: 1, Data: v} }
	parallel.Sum(b.M, k+1, h, func(lo, hi int, sum []float64) {
		blas64.Gemv(blas.NoTrans, 1, between(q, lo, hi), part(w[lo:hi]), 1, part(sum))
	})
	parallel.Rows(b.M, k+1, func(lo, hi int) {
		blas64.Gemv(blas.Trans, -1, between(q, lo, hi), part(h), 1, part(w[lo:hi]))
	})
	floats.Add(c[from:], h)
}

// Project returns the coordinates q of y in the basis, the orthogonal remainder, and the
// squared norm of the remainder.
func (b *Basis) Project(y []float64) (q, rest []float64, rho2 float64) {
	rest = append([]float64(nil), y...)
	q = make([]float64, b.K)
	b.sweep(rest, q, 0)
	b.sweep(rest, q, 0)
	n := floats.Norm(rest, 2)
	if math.IsNaN(n) {
		n = 0
	}
	return q, rest, n * n
}

// Transpose returns the transpose of an r × c matrix in row-major order.
func Transpose(x []float64, r, c int) []float64 {
	out := make([]float64, r*c)
	TransposeTo(out, x, r, c)
	return out
}

// TransposeTo sets out to the transpose of an r × c matrix in row-major order.
func TransposeTo(out, x []float64, r, c int) {
	if r > c {
		parallel.Rows(r, 2*c, func(lo, hi int) {
			for j := range c {
				for i := lo; i < hi; i++ {
					out[j*r+i] = x[i*c+j]
				}
			}
		})
		return
	}
	parallel.Rows(c, 2*r, func(lo, hi int) {
		for i := range r {
			for j := lo; j < hi; j++ {
				out[j*r+i] = x[i*c+j]
			}
		}
	})
}

// Orthogonalize subtracts from w its components along orthonormal vectors, one after the
// other (modified Gram–Schmidt), and adds the coefficients to coef, which may be nil.
// After two calls w is orthogonal up to
// rounding, unless it is mostly rounding itself ("twice is enough", Kahan and Parlett).
func Orthogonalize(w []float64, vectors [][]float64, coef []float64) {
	for i, q := range vectors {
		c := floats.Dot(q, w)
		floats.AddScaled(w, -c, q)
		if coef != nil {
			coef[i] += c
		}
	}
}
