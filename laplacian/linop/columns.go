// SPDX-License-Identifier: Apache-2.0

package linop

import (
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/dense"
	"github.com/graphcloak/graphcloak/internal/parallel"
)

// A block of vectors has at most blockWidth columns, and blockMemory values: 16 columns
// of 10⁶.
const (
	blockWidth  = 64
	blockMemory = 1 << 24
)

// BlockColumns returns how many columns of n values to multiply at once, at least one; above 16 a multiple of 16, and below a power
// of two: the widths at which products are fastest.
func BlockColumns(n int) int {
	w := max(1, min(blockWidth, blockMemory/max(1, n)))
	if w > 16 {
		return w - w%16
	}
	return 1 << (bits.Len(uint(w)) - 1)
}

// Entries returns the matrix of a where it is stored, or nil where a is known by
// products only.
func Entries(a Operator) *mat.Dense {
	switch a := a.(type) {
	case interface{ stored() *mat.Dense }: // Dense, and what embeds it
		return a.stored()
	case interface{ Dense() *mat.Dense }:
		return a.Dense()
	}
	return nil
}

// HoldsEntries reports whether the matrix of a is stored, or for a [Scaled] with scales that of the
// operator that it scales: then columns are read without products, and a product costs
// that of a dense matrix.
func HoldsEntries(a Operator) bool {
	if s, ok := a.(Scaled); ok && s.Scale != nil {
		a = s.A
	}
	return Entries(a) != nil
}

// ColumnsTo writes the columns js of a, r × c, one after the other: entry i of column
// js[k] is at k·r + i. Where a holds no entries they come from products.
func ColumnsTo(a Operator, dst []float64, js []int) {
	m, n := a.Dims()
	check(dst, m*len(js))
	if s, ok := a.(Scaled); ok && s.Scale != nil {
		s.columnsTo(dst, js)
		return
	}
	if s, ok := a.(interface {
		Column(j int) (rows []int32, x []float64)
	}); ok {
		setZero(dst)
		for k, j := range js {
			rows, x := s.Column(j)
			for p, i := range rows {
				dst[k*m+int(i)] = x[p]
			}
		}
		return
	}
	if e := Entries(a); e != nil {
		for i := range m {
			row := e.RawRowView(i)
			for k, j := range js {
				dst[k*m+i] = row[j]
			}
		}
		return
	}
	width := min(len(js), BlockColumns(max(m, n)))
	in, out := GetBlock(n*width), GetBlock(m*width)
	defer in.Put()
	defer out.Put()
	for first := 0; first < len(js); first += width {
		part := js[first:min(first+width, len(js))]
		productColumns(a, dst[first*m:], part, in.V[:n*len(part)], out.V[:m*len(part)])
	}
}

// productColumns writes columns of a from one product with the memory of a block.
func productColumns(a Operator, dst []float64, js []int, in, out []float64) {
	m, _ := a.Dims()
	w := len(js)
	setZero(in)
	for k, j := range js {
		in[j*w+k] = 1
	}
	MulBlockTo(a, out, false, in, w)
	dense.TransposeTo(dst, out, m, w)
}

// Rows returns S A, where S picks the given rows of A: m sensors of n nodes. Its
// error is at most that of A, since ‖S‖₂ ≤ 1 for distinct rows.
func Rows(a Operator, pick []int) Operator { return Scaled{A: a, Rows: pick} }

// Scaled is diag(Scale) S A, where S picks the distinct rows Rows of A and Scale has a
// value ≥ 0 for each of them; nil: 1.
type Scaled struct {
	A     Operator
	Rows  []int
	Scale []float64
}

// Dims returns the number of rows picked and of columns of A.
func (s Scaled) Dims() (r, c int) {
	_, c = s.A.Dims()
	return len(s.Rows), c
}

// Err returns the largest scale times the error that A declares.
func (s Scaled) Err() float64 { return s.largest() * Err(s.A) }

// Norm returns the largest scale times the bound on the norm of A.
func (s Scaled) Norm() float64 {
	if s.Scale == nil {
		return Norm(s.A)
	}
	return s.largest() * Norm(s.A) * (1 + 0x1p-50)
}

func (s Scaled) largest() float64 {
	if s.Scale == nil {
		return 1
	}
	largest := 0.0
	for _, v := range s.Scale {
		if v > largest { // no NaN: they are ≥ 0
			largest = v
		}
	}
	return largest
}

// MulVecTo sets dst to the product with x, or with the transpose.
func (s Scaled) MulVecTo(dst []float64, trans bool, x []float64) { s.MulBlockTo(dst, trans, x, 1) }

// MulBlockTo sets dst to the product with k row-major columns, or with the transpose.
func (s Scaled) MulBlockTo(dst []float64, trans bool, x []float64, k int) {
	m, c := s.A.Dims()
	if trans {
		check(dst, c*k)
		check(x, len(s.Rows)*k)
	} else {
		check(dst, len(s.Rows)*k)
		check(x, c*k)
	}
	all := allRows(s.Rows, m)
	if all && (!trans || s.Scale == nil) {
		MulBlockTo(s.A, dst, trans, x, k)
		if s.Scale != nil {
			parallel.ScaleRows(dst, s.Scale, k)
		}
		return
	}
	full := GetBlock(m * k)
	defer full.Put()
	if trans {
		if !all {
			setZero(full.V)
		}
		s.each(k, func(whole, picked int, scale float64) { scaleTo(full.V[whole:whole+k], x[picked:picked+k], scale) })
		MulBlockTo(s.A, dst, true, full.V, k)
		return
	}
	MulBlockTo(s.A, full.V, false, x, k)
	s.each(k, func(whole, picked int, scale float64) { scaleTo(dst[picked:picked+k], full.V[whole:whole+k], scale) })
}

// each calls f with the places of every picked row in blocks of k columns, that in all rows and that in the picked ones,
// and its scale.
func (s Scaled) each(k int, f func(whole, picked int, scale float64)) {
	parallel.Rows(len(s.Rows), 2*k, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			scale := 1.0
			if s.Scale != nil {
				scale = s.Scale[i]
			}
			f(s.Rows[i]*k, i*k, scale)
		}
	})
}

func (s Scaled) columnsTo(dst []float64, js []int) {
	m, _ := s.A.Dims()
	r, full := len(s.Rows), dst
	if !allRows(s.Rows, m) {
		block := GetBlock(m * len(js))
		defer block.Put()
		full = block.V
	}
	ColumnsTo(s.A, full, js)
	parallel.Rows(r, 2*len(js), func(lo, hi int) {
		for k := range js {
			for i := lo; i < hi; i++ {
				dst[k*r+i] = s.Scale[i] * full[k*m+s.Rows[i]]
			}
		}
	})
}

// scaleTo sets dst to scale·x.
func scaleTo(dst, x []float64, scale float64) {
	for j, v := range x {
		dst[j] = scale * v
	}
}
