// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math/rand/v2"
	"testing"
)

// TestPlainlyFeasible: what one sum calls feasible has no Farkas certificate, whatever the error of the operator,
// and a gain well beyond the largest loss is not called so.
func TestPlainlyFeasible(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	const n, u = 40_000, 2.
	v := dualPoint{c: make([]float64, n), norm: 1, opErr: operatorError{along: []float64{0}, norm: []float64{0}}}
	loss := 0.0
	for i := range v.c {
		v.c[i] = rnd.NormFloat64()
		loss += u * max(0, v.c[i])
	}
	for _, share := range []float64{-1, 0, .5, .9999, 1 - 1e-7, 1, 1 + 1e-7, 1.01, 2} {
		for _, v.unit = range []float64{0, 1e-9, .1} {
			v.gain = share * loss
			if got, f := v.feasible(u), v.farkas(u, 1); got && f >= 0 || got != (share < 1-1e-6) {
				t.Errorf("a gain of %v of the loss, error %v: feasible is %v, the certificate %v", share, v.unit, got, f)
			}
		}
	}
}
