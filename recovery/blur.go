// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/linop"
)

// blocks says that a matrix and its error are 0 but between sensors and nodes of one
// block: M keeps to the components of the graph.
type blocks struct {
	rows, columns []int32 // block of each sensor and of each node
	count         int
}

// Separate declares that m, the operator of measurements before they are whitened, is 0 between
// sensor s and node i wherever rows[s] ≠ columns[i], exactly, and so is the operator
// that it stands for. Blocks are numbered from 0.
//
// Where noise is allocated, a sensor that sees little but the mass of its small
// component may have 1e-6 of the noise of another. The error of the whitened rows is
// then that of this sensor, and no answer elsewhere would be certified.
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

func (s separate) MulBlockTo(dst []float64, trans bool, x []float64, k int) {
	linop.MulBlockTo(s.Operator, dst, trans, x, k)
}

func (s separate) Dense() *mat.Dense { return linop.Entries(s.Operator) }

// blur bounds what the error E of an operator does along z, block by block.
type blur struct {
	along []float64 // ‖(Eᵀz)_b‖₂ ≤ along[b]
	norm  []float64 // ‖E_b‖₂ ≤ norm[b]
	of    []int32   // block of each node; nil: there is one block
}

// at bounds |(Eᵀz)_i|.
func (b blur) at(i int) float64 {
	if b.of == nil {
		return b.along[0]
	}
	return b.along[b.of[i]]
}

// lengths returns ‖f_b‖₂.
func (b blur) lengths(f []float64) []float64 {
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

// dot bounds |zᵀEf| given the lengths of f.
func (b blur) dot(lengths []float64) (sum float64) {
	for k, v := range lengths {
		if v > 0 {
			sum += b.along[k] * v
		}
	}
	return sum * (1 + few*unit*float64(len(lengths)))
}

// size bounds ‖Ef‖₂ given the lengths of f.
func (b blur) size(lengths []float64) (sum float64) {
	for k, v := range lengths {
		if v > 0 {
			sum = math.Hypot(sum, b.norm[k]*v)
		}
	}
	return sum * (1 + few*unit*float64(len(lengths)))
}

// sizes returns the lengths of the vector whose entries are all 1.
func (b blur) sizes(n int) []float64 {
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

// blurOf returns the blur of an operator along z: Err in one block for those that know
// no more.
func blurOf(a linop.Operator, z []float64) blur {
	switch a := a.(type) {
	case linop.Scaled:
		return blurOfScaled(a, z)
	case projection:
		return a.blurAlong(z)
	}
	d := linop.Err(a)
	return blur{along: []float64{d * floats.Norm(z, 2)}, norm: []float64{d}}
}

// blurOfScaled: with the error F of the operator before its rows are scaled, ‖F_b‖ ≤ ‖F‖
// ≤ Err as F_b is a part of F, (Eᵀz)_b = F_bᵀ(√u∘z)_b.
func blurOfScaled(w linop.Scaled, z []float64) blur {
	d := linop.Err(w.A)
	s, _ := w.A.(separate)
	if s.blocks == nil {
		s.blocks = &blocks{count: 1}
	}
	b := blur{along: make([]float64, s.blocks.count), norm: make([]float64, s.blocks.count), of: s.blocks.columns}
	for i, x := range z {
		k := 0
		if b.of != nil {
			k = int(s.blocks.rows[w.Rows[i]])
		}
		b.along[k] = math.Hypot(b.along[k], w.Scale[i]*x)
		b.norm[k] = max(b.norm[k], w.Scale[i])
	}
	for k := range b.along {
		b.along[k] *= d * (1 + float64(2*len(z)+few)*unit)
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

// blurAlong: Eᵀz = Fᵀ(Pz) with the error F of A, and ‖PᵀFf‖ ≤ ‖Ff‖.
func (p projection) blurAlong(z []float64) blur {
	var v mat.VecDense
	v.MulVec(p.rows.T(), mat.NewVecDense(len(z), z))
	return blurOf(p.from, v.RawVector().Data)
}
