// SPDX-License-Identifier: Apache-2.0

package linop

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// A block of vectors has at most blockWidth columns, and blockMemory values: 16 columns
// of 10⁶.
const (
	blockWidth  = 64
	blockMemory = 1 << 24
)

// BlockColumns returns how many columns of n values to multiply at once, at least one;
// above 16 a multiple of 16, the width at which products are fastest.
func BlockColumns(n int) int {
	w := max(1, min(blockWidth, blockMemory/max(1, n)))
	if w > 16 {
		w -= w % 16
	}
	return w
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

// HoldsEntries reports whether the matrix of a is stored, or for a [Scaled] that of the
// operator that it scales: then columns are read without products, and a product costs
// that of a dense matrix.
func HoldsEntries(a Operator) bool {
	if s, ok := a.(Scaled); ok {
		a = s.A
	}
	return Entries(a) != nil
}

// ColumnsTo writes the columns js of a, r × c, one after the other: entry i of column
// js[k] is at k·r + i. Where a holds no entries they come from products.
func ColumnsTo(a Operator, dst []float64, js []int) {
	m, n := a.Dims()
	check(dst, m*len(js))
	if s, ok := a.(Scaled); ok {
		s.columnsTo(dst, js)
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
	width := BlockColumns(max(m, n))
	for first := 0; first < len(js); first += width {
		part := js[first:min(first+width, len(js))]
		w := len(part)
		in, out := make([]float64, n*w), make([]float64, m*w)
		for k, j := range part {
			in[j*w+k] = 1
		}
		MulBlockTo(a, out, false, in, w)
		for k := range part {
			for i := range m {
				dst[(first+k)*m+i] = out[i*w+k]
			}
		}
	}
}

// Scaled is diag(Scale) S A, where S picks the distinct rows Rows of A and Scale has a
// value ≥ 0 for each of them.
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
func (s Scaled) Norm() float64 { return s.largest() * Norm(s.A) * (1 + 0x1p-50) }

func (s Scaled) largest() float64 {
	largest := 0.0
	for _, v := range s.Scale {
		largest = math.Max(largest, v)
	}
	return largest
}

// MulVecTo sets dst to the product with x, or with the transpose.
func (s Scaled) MulVecTo(dst []float64, trans bool, x []float64) { s.MulBlockTo(dst, trans, x, 1) }

// MulBlockTo sets dst to the product with k row-major columns, or with the transpose.
func (s Scaled) MulBlockTo(dst []float64, trans bool, x []float64, k int) {
	m, _ := s.A.Dims()
	full := make([]float64, m*k)
	if trans {
		for i, row := range s.Rows {
			for j := range k {
				full[row*k+j] = s.Scale[i] * x[i*k+j]
			}
		}
		MulBlockTo(s.A, dst, true, full, k)
		return
	}
	MulBlockTo(s.A, full, false, x, k)
	for i, row := range s.Rows {
		for j := range k {
			dst[i*k+j] = s.Scale[i] * full[row*k+j]
		}
	}
}

func (s Scaled) columnsTo(dst []float64, js []int) {
	m, _ := s.A.Dims()
	full := make([]float64, m*len(js))
	ColumnsTo(s.A, full, js)
	r := len(s.Rows)
	for k := range js {
		for i, row := range s.Rows {
			dst[k*r+i] = s.Scale[i] * full[k*m+row]
		}
	}
}
