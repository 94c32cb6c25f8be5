// SPDX-License-Identifier: Apache-2.0

// Package linop describes linear operators that are known through their
// products only.
//
// [Operator] is the one interface between diffusion and recovery. [Dense], [Rows] and
// [Scaled] make operators from a matrix and from some rows of another operator;
// [ColumnsTo] reads columns of any.
package linop

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/dense"
)

// Operator is an r × c matrix A. It is safe for concurrent use.
type Operator interface {
	// Dims returns the numbers of rows and columns.
	Dims() (r, c int)
	// MulVecTo sets dst to A x, or to Aᵀx where trans is true. It panics when a
	// length does not fit; dst and x must not overlap.
	MulVecTo(dst []float64, trans bool, x []float64)
}

// BlockOperator also multiplies k vectors at once, which may cost much less than
// k products.
type BlockOperator interface {
	Operator
	// MulBlockTo sets dst to A X, or to Aᵀ X. X and dst hold k columns in row-major
	// order: entry (i, j) is at i·k + j.
	MulBlockTo(dst []float64, trans bool, x []float64, k int)
}

// Approximation is an operator Ã that approximates another one, A.
type Approximation interface {
	Operator
	// Err returns an upper bound on ‖Ã − A‖₂, rounding included.
	Err() float64
}

// Err returns the error that an operator declares: 0 unless it is an
// [Approximation].
func Err(a Operator) float64 {
	if a, ok := a.(Approximation); ok {
		return a.Err()
	}
	return 0
}

// Normed is an operator that bounds its norm.
type Normed interface {
	Operator
	// Norm returns an upper bound on ‖A‖₂ of what is computed.
	Norm() float64
}

// Norm returns the bound that an operator declares: +Inf unless it is [Normed].
func Norm(a Operator) float64 {
	if a, ok := a.(Normed); ok {
		return a.Norm()
	}
	return math.Inf(1)
}

// MulBlockTo multiplies k row-major columns, by the operator's own block product
// where it has one, and column by column otherwise.
func MulBlockTo(a Operator, dst []float64, trans bool, x []float64, k int) {
	if b, ok := a.(BlockOperator); ok {
		b.MulBlockTo(dst, trans, x, k)
		return
	}
	r, c := a.Dims()
	if trans {
		r, c = c, r
	}
	in, out := make([]float64, c), make([]float64, r)
	for j := range k {
		for i := range in {
			in[i] = x[i*k+j]
		}
		a.MulVecTo(out, trans, in)
		for i, v := range out {
			dst[i*k+j] = v
		}
	}
}

// Dense is a matrix as an operator. Where M approximates another matrix M', Bound is a
// bound on the error: ‖M − M'‖₂ ≤ Bound.
type Dense struct {
	M     *mat.Dense
	Bound float64
}

func (d Dense) stored() *mat.Dense { return d.M }

// Dims returns the shape of the matrix.
func (d Dense) Dims() (r, c int) { return d.M.Dims() }

// Err returns Bound.
func (d Dense) Err() float64 { return d.Bound }

// Norm returns the Frobenius norm, rounded up.
func (d Dense) Norm() float64 {
	r, c := d.M.Dims()
	return mat.Norm(d.M, 2) * (1 + float64(r*c+4)*0x1p-52)
}

// MulVecTo sets dst to M x or Mᵀx.
func (d Dense) MulVecTo(dst []float64, trans bool, x []float64) { d.MulBlockTo(dst, trans, x, 1) }

// MulBlockTo sets dst to M X or Mᵀ X for k row-major columns.
func (d Dense) MulBlockTo(dst []float64, trans bool, x []float64, k int) {
	t, r, c := shape(d, trans)
	check(dst, r*k)
	check(x, c*k)
	MulDense(dst, t, d.M.RawMatrix(), x, k)
}

// MulDense sets dst to A X or AᵀX for k row-major columns: (XᵀAᵀ)ᵀ or (XᵀA)ᵀ, since a product is fast along long rows
// and slow along those of a few columns.
func MulDense(dst []float64, t blas.Transpose, a blas64.General, x []float64, k int) {
	r, c, across := a.Rows, a.Cols, blas.Trans
	if t == blas.Trans {
		r, c, across = c, r, blas.NoTrans
	}
	if k == 1 {
		blas64.Gemv(t, 1, a, blas64.Vector{N: c, Inc: 1, Data: x}, 0, blas64.Vector{N: r, Inc: 1, Data: dst})
		return
	}
	in, out := GetBlock(c*k), GetBlock(r*k)
	defer in.Put()
	defer out.Put()
	dense.TransposeTo(in.V, x, c, k)
	blas64.Gemm(blas.NoTrans, across, 1, blas64.General{Rows: k, Cols: c, Stride: c, Data: in.V}, a,
		0, blas64.General{Rows: k, Cols: r, Stride: r, Data: out.V})
	dense.TransposeTo(dst, out.V, k, r)
}

func shape(a Operator, trans bool) (t blas.Transpose, r, c int) {
	r, c = a.Dims()
	if trans {
		return blas.Trans, c, r
	}
	return blas.NoTrans, r, c
}

func check(v []float64, n int) {
	if len(v) != n {
		panic("linop: length of a vector does not fit the operator")
	}
}

// allRows reports whether pick has all rows 0 … n−1 in their order.
func allRows(pick []int, n int) bool {
	if len(pick) != n {
		return false
	}
	for s, i := range pick {
		if s != i {
			return false
		}
	}
	return true
}
