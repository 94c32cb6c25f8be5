// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// basis is an orthonormal basis of the columns of a working set, and of nothing
// more: q holds its vectors one after the other.
type basis struct {
	m, k  int
	q     []float64
	least float64 // relative remainder below which a column adds no vector; at least dependence
}

func (b *basis) vector(i int) []float64 { return b.q[i*b.m : (i+1)*b.m] }

func (b *basis) matrix() blas64.General {
	return blas64.General{Rows: b.k, Cols: b.m, Stride: b.m, Data: b.q}
}

// extend adds p columns, stored one after the other in cols, which it overwrites,
// and returns their coordinates. A column that depends on the basis adds no vector.
//
// Block Gram–Schmidt runs twice, then inside the block, or over everything where little
// is left of the column. As long as a sweep takes half, another over everything follows:
// a remainder that is mostly rounding would otherwise not be orthogonal.
func (b *basis) extend(cols []float64, p int) [][]float64 {
	block := blas64.General{Rows: p, Cols: b.m, Stride: b.m, Data: cols}
	old := b.k
	coef := make([]float64, p*old)
	norms := make([]float64, p)
	for i := range p {
		norms[i] = floats.Norm(cols[i*b.m:(i+1)*b.m], 2)
	}
	if old > 0 {
		h := blas64.General{Rows: p, Cols: old, Stride: old, Data: make([]float64, p*old)}
		for range 2 {
			blas64.Gemm(blas.NoTrans, blas.Trans, 1, block, b.matrix(), 0, h)
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, h, b.matrix(), 1, block)
			floats.Add(coef, h.Data)
		}
	}
	out := make([][]float64, p)
	for i := range p {
		w := cols[i*b.m : (i+1)*b.m]
		c := append(make([]float64, 0, old+p), coef[i*old:(i+1)*old]...)
		c = append(c, make([]float64, b.k-old)...)
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
		if rest > max(dependence, b.least)*norms[i] && b.k < b.m {
			floats.Scale(1/rest, w)
			b.q = append(b.q, w...)
			b.k++
			c = append(c, rest)
		}
		out[i] = c
	}
	return out
}

// sweep subtracts from w its components along the vectors from on, adding them to c.
func (b *basis) sweep(w, c []float64, from int) {
	k := b.k - from
	if k == 0 {
		return
	}
	q := blas64.General{Rows: k, Cols: b.m, Stride: b.m, Data: b.q[from*b.m:]}
	h := blas64.Vector{N: k, Inc: 1, Data: make([]float64, k)}
	v := blas64.Vector{N: b.m, Inc: 1, Data: w}
	blas64.Gemv(blas.NoTrans, 1, q, v, 0, h)
	blas64.Gemv(blas.Trans, -1, q, h, 1, v)
	floats.Add(c[from:], h.Data)
}

// project splits y into coordinates and the squared length and vector of the rest.
func (b *basis) project(y []float64) (q, rest []float64, rho2 float64) {
	rest = append([]float64(nil), y...)
	q = make([]float64, b.k)
	b.sweep(rest, q, 0)
	b.sweep(rest, q, 0)
	n := floats.Norm(rest, 2)
	if math.IsNaN(n) {
		n = 0
	}
	return q, rest, n * n
}
