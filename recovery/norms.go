// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"

	"gonum.org/v1/gonum/floats"
)

// Norms are the squared column norms N_i = ‖A e_i‖² of whitened data.
type Norms struct {
	N   []float64
	Err []float64 // N_i is right within Err_i; nil: exact
}

// Norms returns the exact column norms: from the entries where A holds a matrix,
// else by n products in blocks.
func (d Data) Norms(ctx context.Context) (Norms, error) {
	m, n := d.A.Dims()
	out := Norms{N: make([]float64, n)}
	if d.rowNorms(out.N) {
		return out, ctx.Err()
	}
	cols := make([]float64, m*min(blockWidth, n))
	for at := 0; at < n; at += blockWidth {
		if err := ctx.Err(); err != nil {
			return Norms{}, err
		}
		js := make([]int, min(blockWidth, n-at))
		for k := range js {
			js[k] = at + k
		}
		part := cols[:m*len(js)]
		columnsTo(d.A, part, js)
		for k := range js {
			col := part[k*m : (k+1)*m]
			out.N[at+k] = floats.Dot(col, col)
		}
	}
	return out, nil
}

// rowNorms adds up the squares row by row where A holds its entries.
func (d Data) rowNorms(sum []float64) bool {
	w, ok := d.A.(whitened)
	if !ok {
		w = whitened{a: d.A}
	}
	e := entries(w.a)
	if e == nil {
		return false
	}
	if !ok {
		m, _ := e.Dims()
		for s := range m {
			w.pick, w.root = append(w.pick, s), append(w.root, 1)
		}
	}
	for k, s := range w.pick {
		u := w.root[k] * w.root[k]
		for j, v := range e.RawRowView(s) {
			sum[j] += u * v * v
		}
	}
	return true
}
