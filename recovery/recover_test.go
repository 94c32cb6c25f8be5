// SPDX-License-Identifier: Apache-2.0

package recovery_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// One column (10, 10)ᵀ: its direction is visible, the other is noise.
func TestRecoverSecondTry(t *testing.T) {
	op := linop.Dense{M: mat.NewDense(2, 1, []float64{10, 10})}
	for _, c := range []struct {
		name    string
		rule    recovery.Rule
		y       []float64
		want    recovery.Status
		retried bool
		radius  float64
	}{
		// χ²₁: quantiles 0.454936 at ½ and 3.841459 at 0.95 (NIST/SEMATECH e-Handbook).
		{"auto", recovery.Auto, []float64{6, 5}, recovery.Optimal, false, math.Sqrt(0.454936)},
		{"auto, zero at the second try", recovery.Auto, []float64{-1, -1}, recovery.Zero, true, math.Sqrt(3.841459)},
		{"auto, infeasible", recovery.Auto, []float64{-5, -5}, recovery.Infeasible, true, math.Sqrt(3.841459)},
		{"projected has one try", recovery.Projected, []float64{-5, -5}, recovery.Infeasible, false, math.Sqrt(3.841459)},
	} {
		d := measurement.Data{A: op, Y: c.y}
		res, ball, err := recovery.Recover(t.Context(), d, recovery.ColumnGeneration{}, c.rule, nil)
		if err != nil || res.Status != c.want || ball.Retried != c.retried || math.Abs(ball.Radius-c.radius) > 1e-5 {
			t.Errorf("%s: %+v, %+v, %v, want %v, radius %v, retried %v", c.name, short(res), ball, err, c.want, c.radius, c.retried)
		}
	}
	d := measurement.Data{A: op, Y: []float64{math.NaN(), 0}}
	if _, _, err := recovery.Recover(t.Context(), d, recovery.ColumnGeneration{}, recovery.Chi2, nil); !errors.Is(err,
		recovery.ErrInvalid) {
		t.Errorf("NaN: %v, want invalid", err)
	}
}
