// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"context"
	"math"
	"slices"
)

// MulPrivateTo sets dst to M̃x for a private x with |x_i| ≤ 1: no branch depends on x,
// and no operand is subnormal, since processors handle those many times more slowly.
// ‖dst − Mx‖₂ ≤ Err()·√n.
//
// Every vector is rounded to a grid as it is made (see [roundToGrid]), so that each entry
// is 0 or at least 2⁻²⁰¹ of the largest s, and products with weights above 2⁻⁶⁰⁰·λ_max
// stay normal. A step loses at most gridUnits units of the vector and 2⁻²⁰¹√n. The first
// is in Err; the second, which the recurrence adds up at most maxDegree² = 2⁴⁰ times, is
// below one unit, for which Err leaves room.
func (d *Diffusion) MulPrivateTo(ctx context.Context, dst, x []float64) error {
	n := d.gen.Order()
	if len(dst) != n || len(x) != n {
		panic("expm: length of a vector does not fit the operator")
	}
	w := newWorkspace(n, true)
	defer func() {
		for _, v := range [][]float64{w.x, w.y, w.t0, w.t1} {
			clear(v) // the memory goes to others
		}
		w.release()
	}()
	grid := d.grid()
	d.toSymmetric(w, x, false, 1, 0, 1)
	w.toGrid(w.x, grid)
	var err error
	if d.method == Eigen {
		d.spec.apply(w.y, w.x, w.t0, 1, d.tau, grid)
		err = ctx.Err()
	} else {
		err = recurrence(ctx, d.gen, d.weights, w.y, w.x, w, 1, grid)
	}
	d.fromSymmetric(dst, w, false, 1, 0, 1)
	return err
}

// grid returns C of [roundToGrid] for vectors diag(s)x: 1.5·2⁻¹⁴⁸ times the power of two
// above the largest s.
func (d *Diffusion) grid() float64 {
	exp := 0
	if s := d.gen.Similarity(); s != nil {
		_, exp = math.Frexp(slices.Max(s))
	}
	return math.Ldexp(1.5, exp-148)
}
