// SPDX-License-Identifier: Apache-2.0

// Package dense has the dense linear algebra that several packages share and gonum lacks.
package dense

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
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
			blas64.Gemm(blas.NoTrans, blas.Trans, 1, block, b.Matrix(), 0, h)
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, h, b.Matrix(), 1, block)
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

// sweep subtracts from w its components along vectors from, from + 1, …, and adds the
// coefficients to c.
func (b *Basis) sweep(w, c []float64, from int) {
	k := b.K - from
	if k == 0 {
		return
	}
	q := blas64.General{Rows: k, Cols: b.M, Stride: b.M, Data: b.Q[from*b.M:]}
	h := blas64.Vector{N: k, Inc: 1, Data: make([]float64, k)}
	v := blas64.Vector{N: b.M, Inc: 1, Data: w}
	blas64.Gemv(blas.NoTrans, 1, q, v, 0, h)
	blas64.Gemv(blas.Trans, -1, q, h, 1, v)
	floats.Add(c[from:], h.Data)
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
	for i := range r {
		for j, v := range x[i*c : (i+1)*c] {
			out[j*r+i] = v
		}
	}
	return out
}

// Orthogonalize subtracts from w its components along orthonormal vectors, one after the
// other (modified Gram–Schmidt), and adds the coefficients to coef, which may be nil. A
// vector shorter than w is padded with zeros. After two calls w is orthogonal up to
// rounding, unless it is mostly rounding itself ("twice is enough", Kahan and Parlett).
func Orthogonalize(w []float64, vectors [][]float64, coef []float64) {
	for i, q := range vectors {
		part := w[:len(q)]
		c := floats.Dot(q, part)
		floats.AddScaled(part, -c, q)
		if coef != nil {
			coef[i] += c
		}
	}
}
