// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/linop"
)

// Data are measurements with unit noise: Y = A f₀ + N(0, I), one row of A for
// each reporting sensor.
type Data struct {
	A linop.Operator
	Y []float64
}

// Whiten scales sensor s by √u_s, u_s = 1/σ_s², and drops the silent sensors,
// u_s = 0. M is m × n; y and u have m values. The error of the operator grows to
// max √u_s times that of M.
func Whiten(m linop.Operator, y, u []float64) (Data, error) {
	if m == nil {
		return Data{}, fmt.Errorf("%w: no operator", ErrInvalid)
	}
	rows, n := m.Dims()
	if len(y) != rows || len(u) != rows {
		return Data{}, fmt.Errorf("%w: %d measurements and %d weights for %d sensors", ErrInvalid, len(y), len(u), rows)
	}
	if n == 0 {
		return Data{}, fmt.Errorf("%w: no nodes", ErrInvalid)
	}
	if err := checkFinite("measurement", y); err != nil {
		return Data{}, err
	}
	w := whitened{a: m, m: rows, n: n}
	var out []float64
	for s, v := range u {
		if !(v >= 0) || math.IsInf(v, 1) {
			return Data{}, fmt.Errorf("%w: weight of sensor %d is %v, want ≥ 0 and finite", ErrInvalid, s, v)
		}
		if v > 0 {
			w.pick, w.root = append(w.pick, s), append(w.root, math.Sqrt(v))
			out = append(out, math.Sqrt(v)*y[s])
		}
	}
	if len(out) == 0 {
		return Data{}, fmt.Errorf("%w: no sensor reports", ErrInvalid)
	}
	if norm := floats.Norm(out, 2); !(norm <= maxLength) {
		return Data{}, fmt.Errorf("%w: the measurements are %.3g times their noise, want at most %v", ErrInvalid, norm, maxLength)
	}
	return Data{A: w, Y: out}, nil
}

// Uniform returns the weights of m sensors with the same σ.
func Uniform(sigma float64, m int) []float64 {
	u := make([]float64, m)
	for s := range u {
		u[s] = 1 / (sigma * sigma)
	}
	return u
}

// whitened is diag(root) S a, where S picks rows.
type whitened struct {
	a    linop.Operator
	m, n int
	pick []int
	root []float64
}

func (w whitened) Dims() (r, c int) { return len(w.pick), w.n }

func (w whitened) Err() float64 {
	largest := 0.0
	for _, v := range w.root {
		largest = max(largest, v)
	}
	return largest * linop.Err(w.a)
}

func (w whitened) MulVecTo(dst []float64, trans bool, x []float64) { w.MulBlockTo(dst, trans, x, 1) }

func (w whitened) MulBlockTo(dst []float64, trans bool, x []float64, k int) {
	full := make([]float64, w.m*k)
	if trans {
		for i, s := range w.pick {
			for j := range k {
				full[s*k+j] = w.root[i] * x[i*k+j]
			}
		}
		linop.MulBlockTo(w.a, dst, true, full, k)
		return
	}
	linop.MulBlockTo(w.a, full, false, x, k)
	for i, s := range w.pick {
		for j := range k {
			dst[i*k+j] = w.root[i] * full[s*k+j]
		}
	}
}

func (w whitened) columnsTo(dst []float64, js []int) {
	full := make([]float64, w.m*len(js))
	columnsTo(w.a, full, js)
	r := len(w.pick)
	for k := range js {
		for i, s := range w.pick {
			dst[k*r+i] = w.root[i] * full[k*w.m+s]
		}
	}
}

// A block has at most blockWidth columns, and columnMemory values: 16 columns of 10⁶.
const (
	blockWidth   = 64
	columnMemory = 1 << 24
)

// blockColumns is the number of columns of a block of vectors of n values; beyond 16 a
// multiple of the 16 that products are best at.
func blockColumns(n int) int {
	w := max(1, min(blockWidth, columnMemory/n))
	if w > 16 {
		w -= w % 16
	}
	return w
}

// Matrix returns a matrix as an operator with the error that it declares: what a
// dense approximation of M should be passed as, since its entries can be read.
func Matrix(m *mat.Dense, err float64) linop.Operator { return approximate{linop.Dense{M: m}, err} }

// approximate is a matrix with a known error.
type approximate struct {
	linop.Dense
	err float64
}

func (a approximate) Err() float64 { return a.err }

// entries returns the matrix that a holds, or nil.
func entries(a linop.Operator) *mat.Dense {
	switch a := a.(type) {
	case linop.Dense:
		return a.M
	case approximate:
		return a.M
	case projection:
		return a.M
	case interface{ Dense() *mat.Dense }:
		return a.Dense()
	}
	return nil
}

// holdsEntries reports whether a product with a costs as much as one with a matrix.
func holdsEntries(a linop.Operator) bool {
	if w, ok := a.(whitened); ok {
		a = w.a
	}
	return entries(a) != nil
}

// columnsTo writes the columns js of a one after the other: entry i of column
// js[k] is at k·m + i.
func columnsTo(a linop.Operator, dst []float64, js []int) {
	m, n := a.Dims()
	if w, ok := a.(whitened); ok {
		w.columnsTo(dst, js)
		return
	}
	if e := entries(a); e != nil {
		for i := range m {
			row := e.RawRowView(i)
			for k, j := range js {
				dst[k*m+i] = row[j]
			}
		}
		return
	}
	width := blockColumns(max(m, n))
	for at := 0; at < len(js); at += width {
		part := js[at:min(at+width, len(js))]
		w := len(part)
		in, out := make([]float64, n*w), make([]float64, m*w)
		for k, j := range part {
			in[j*w+k] = 1
		}
		linop.MulBlockTo(a, out, false, in, w)
		for k := range part {
			for i := range m {
				dst[(at+k)*m+i] = out[i*w+k]
			}
		}
	}
}
