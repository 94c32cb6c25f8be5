// SPDX-License-Identifier: Apache-2.0

package expm

import "github.com/graphcloak/graphcloak/laplacian/linop"

// Coarse returns the polynomial whose truncation error is tol, where that saves a tenth of
// the products with L, and M̃ itself elsewhere. Its Err bounds the distance from M too.
func (d *Diffusion) Coarse(tol float64) linop.Operator {
	if d.method != Chebyshev || !(tol > d.tol) {
		return d
	}
	o, err := newUnprepared(d.gen, d.tau, Options{Method: Chebyshev, Tolerance: tol})
	if err != nil {
		return d
	}
	if o, err = o.finish(); err != nil || 10*o.Degree() > 9*d.Degree() {
		return d
	}
	return o
}
