// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// blocks is a block structure: a matrix and its error are 0 except between sensors and
// nodes of one block. M has it for the components of the graph.
type blocks struct {
	rows, columns []int32 // block of each sensor and of each node
	count         int
}

// Separate declares that m, the operator of measurements before whitening, is exactly 0
// between sensor s and node i wherever rows[s] ≠ columns[i], and so is the exact operator
// that m approximates. Blocks are numbered from 0.
//
// Under allocated noise, a sensor in a small component may have 1e-6 of the noise of
// another. Without the blocks its whitened error would be assumed of every row, and no
// answer elsewhere could be certified.
func Separate(m linop.Operator, rows, columns []int32) (linop.Operator, error) {
	r, c := m.Dims()
	if len(rows) != r || len(columns) != c || r == 0 || c == 0 {
		return nil, fmt.Errorf("%w: %d and %d blocks for %d sensors and %d nodes", ErrInvalid, len(rows), len(columns), r, c)
	}
	if min(slices.Min(rows), slices.Min(columns)) < 0 {
		return nil, fmt.Errorf("%w: a block is below 0", ErrInvalid)
	}
	return separate{m, &blocks{rows, columns, 1 + int(max(slices.Max(rows), slices.Max(columns)))}}, nil
}

// separate is an operator with its blocks.
type separate struct {
	linop.Operator
	blocks *blocks
}

func (s separate) Err() float64 { return linop.Err(s.Operator) }

func (s separate) Norm() float64 { return linop.Norm(s.Operator) }

func (s separate) MulBlockTo(dst []float64, trans bool, x []float64, k int) {
	linop.MulBlockTo(s.Operator, dst, trans, x, k)
}

func (s separate) ColumnSquares(ctx context.Context, js []int, weights []float64, tol float64, most int, low,
	high []float64,
) (bool, error) {
	return linop.ColumnSquares(ctx, s.Operator, js, weights, tol, most, low, high)
}

func (s separate) ReadColumns(js []int, tol float64, most int) (linop.ColumnReader, bool) {
	return linop.ReadColumns(s.Operator, js, tol, most)
}

func (s separate) ReadNormalColumns(weights []float64, js []int, tol float64, most int) (linop.ColumnReader, bool) {
	return linop.ReadNormalColumns(s.Operator, weights, js, tol, most)
}

func (s separate) Dense() *mat.Dense { return linop.Entries(s.Operator) }

// operatorError bounds the error E of an operator, and Eᵀz for one z, block by block.
type operatorError struct {
	along []float64 // ‖(Eᵀz)_b‖₂ ≤ along[b]
	norm  []float64 // ‖E_b‖₂ ≤ norm[b]
	of    []int32   // block of each node; nil: there is one block
}

// entry bounds |(Eᵀz)_i|.
func (b operatorError) entry(i int) float64 {
	if b.of == nil {
		return b.along[0]
	}
	return b.along[b.of[i]]
}

// blockNorms returns ‖f_b‖₂ of each block b.
func (b operatorError) blockNorms(f []float64) []float64 {
	if b.of == nil {
		return []float64{floats.Norm(f, 2)}
	}
	out := make([]float64, len(b.along))
	for i, v := range f {
		if v != 0 {
			out[b.of[i]] = math.Hypot(out[b.of[i]], v)
		}
	}
	return out
}

// bilinear bounds |zᵀEf| given the block norms of f.
func (b operatorError) bilinear(lengths []float64) (sum float64) {
	for k, v := range lengths {
		if v > 0 {
			sum += b.along[k] * v
		}
	}
	return sum * (1 + few*unit*float64(len(lengths)))
}

// imageNorm bounds ‖Ef‖₂ given the block norms of f.
func (b operatorError) imageNorm(lengths []float64) (sum float64) {
	for k, v := range lengths {
		if v > 0 {
			sum = math.Hypot(sum, b.norm[k]*v)
		}
	}
	return sum * (1 + few*unit*float64(len(lengths)))
}

// onesNorms returns the block norms of the vector of ones of length n.
func (b operatorError) onesNorms(n int) []float64 {
	if b.of == nil {
		return []float64{math.Sqrt(float64(n))}
	}
	out := make([]float64, len(b.along))
	for _, k := range b.of {
		out[k]++
	}
	for k, v := range out {
		out[k] = math.Sqrt(v)
	}
	return out
}

// structured is an operator that knows more of its error than a bound on its norm.
type structured interface {
	errorAlong(z []float64) operatorError
}

// errorAlong bounds the error of an operator along z: by Err in a single block where its
// structure is unknown.
func errorAlong(a linop.Operator, z []float64) operatorError {
	switch a := a.(type) {
	case linop.Scaled:
		if a.Scale != nil {
			return scaledErrorAlong(a, z)
		}
	case structured:
		return a.errorAlong(z)
	}
	d := linop.Err(a)
	return operatorError{along: []float64{d * floats.Norm(z, 2)}, norm: []float64{d}}
}

// multiplyAlong sets dst to Aᵀz, and bounds the error of A along z: the normal equations have the one
// on the way to the other.
func multiplyAlong(a linop.Operator, dst, z []float64) operatorError {
	if a, ok := a.(interface {
		multiplyAlong(dst, z []float64) operatorError
	}); ok {
		return a.multiplyAlong(dst, z)
	}
	a.MulVecTo(dst, true, z)
	return errorAlong(a, z)
}

// scaledErrorAlong is errorAlong for scaled rows: with the error F of the operator before
// scaling, (Eᵀz)_b = F_bᵀ(√u∘z)_b, and ‖F_b‖ ≤ ‖F‖ ≤ Err as F_b is a block of F.
func scaledErrorAlong(w linop.Scaled, z []float64) operatorError {
	d := linop.Err(w.A)
	s, _ := w.A.(separate)
	if s.blocks == nil {
		s.blocks = &blocks{count: 1}
	}
	b := operatorError{along: make([]float64, s.blocks.count), norm: make([]float64, s.blocks.count), of: s.blocks.columns}
	if s.blocks.count == 1 {
		b.along[0], b.norm[0] = floats.Norm(floats.MulTo(make([]float64, len(z)), w.Scale, z), 2), floats.Max(w.Scale)
		z = nil
	}
	for i, x := range z {
		k := int(s.blocks.rows[w.Rows[i]])
		b.along[k] = math.Hypot(b.along[k], w.Scale[i]*x)
		b.norm[k] = max(b.norm[k], w.Scale[i])
	}
	for k := range b.along {
		b.along[k] *= d * (1 + float64(2*len(w.Scale)+few)*unit)
		b.norm[k] *= d * (1 + few*unit)
	}
	return b
}

// projection is a matrix PᵀA of an operator A, with orthonormal columns P.
type projection struct {
	linop.BlockOperator
	from linop.Operator
	rows *mat.Dense // Pᵀ
}

func (p projection) Err() float64 { return linop.Err(p.BlockOperator) }

func (p projection) Dense() *mat.Dense { return linop.Entries(p.BlockOperator) }

// errorAlong bounds the error of the projection: Eᵀz = Fᵀ(Pz) with the error F of
// A, and ‖PᵀFf‖ ≤ ‖Ff‖.
func (p projection) errorAlong(z []float64) operatorError {
	var v mat.VecDense
	v.MulVec(p.rows.T(), mat.NewVecDense(len(z), z))
	return errorAlong(p.from, v.RawVector().Data)
}
