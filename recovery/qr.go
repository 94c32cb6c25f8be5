// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/dense"
)

// qr is the factorisation Q R of columns that are appended and removed.
type qr struct {
	q [][]float64 // orthonormal
	r [][]float64 // column j holds rows 0..j
}

// len returns the number of columns.
func (d *qr) len() int { return len(d.q) }

// append adds a column by Gram–Schmidt, done twice. It returns false, and changes nothing,
// where the column depends on the others.
func (d *qr) append(col []float64) bool {
	w := append([]float64(nil), col...)
	h := make([]float64, len(d.q)+1)
	for range 2 {
		dense.Orthogonalize(w, d.q, h)
	}
	rest := floats.Norm(w, 2)
	if !(rest > dense.DependenceTolerance*floats.Norm(col, 2)) {
		return false
	}
	h[len(d.q)] = rest
	floats.Scale(1/rest, w)
	d.q, d.r = append(d.q, w), append(d.r, h)
	return true
}

// remove drops column i, by Givens rotations of neighbouring rows.
func (d *qr) remove(i int) {
	d.r = append(d.r[:i], d.r[i+1:]...)
	for j := i; j < len(d.r); j++ {
		a, b := d.r[j][j], d.r[j][j+1]
		h := math.Hypot(a, b)
		c, s := a/h, b/h
		d.r[j][j] = h
		d.r[j] = d.r[j][:j+1]
		for _, col := range d.r[j+1:] {
			col[j], col[j+1] = c*col[j]+s*col[j+1], c*col[j+1]-s*col[j]
		}
		p, q := d.q[j], d.q[j+1]
		for k := range p {
			p[k], q[k] = c*p[k]+s*q[k], c*q[k]-s*p[k]
		}
	}
	d.q = d.q[:len(d.r)]
}

// solveUpper overwrites b with R⁻¹b.
func (d *qr) solveUpper(b []float64) {
	for j := len(b) - 1; j >= 0; j-- {
		b[j] /= d.r[j][j]
		floats.AddScaled(b[:j], -b[j], d.r[j][:j])
	}
}

// solveLower overwrites b with R⁻ᵀb.
func (d *qr) solveLower(b []float64) {
	for j := range b {
		b[j] = (b[j] - floats.Dot(d.r[j][:j], b[:j])) / d.r[j][j]
	}
}
