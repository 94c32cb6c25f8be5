// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// newChecks tests the measurements of the first of some operators.
func newChecks(ctx context.Context, data []measurement.Data, opts posterior.CheckOptions) (*posterior.Check, error) {
	c, err := posterior.NewChecker(ctx, data, opts)
	if err != nil {
		return nil, err
	}
	return c.Check(data[0].Y), nil
}

// newCheck tests those of one.
func newCheck(ctx context.Context, d measurement.Data, opts posterior.CheckOptions) (*posterior.Check, error) {
	return newChecks(ctx, []measurement.Data{d}, opts)
}

// TestChecksOverTau: where one of several operators made the measurements, which of them is not known, the
// model is refused no more often than it says, at any of them; the p-value is the largest of those
// under each.
func TestChecksOverTau(t *testing.T) {
	const n, runs = 12, 240
	var operators []linop.Operator
	for _, tau := range []float64{.5, 1, 2, 4} {
		m := heatOn(n, tau)
		m.Scale(1/.08, m)
		operators = append(operators, linop.Dense{M: m})
	}
	for truth, a := range operators {
		var alarms [2]int
		for run := range runs {
			rnd := rand.New(rand.NewPCG(uint64(truth), uint64(run)))
			y := mat.Col(nil, rnd.IntN(n), a.(linop.Dense).M)
			for s := range y {
				y[s] += rnd.NormFloat64()
			}
			opts := posterior.CheckOptions{Trials: 39, Seed: uint64(run)}
			c := must.Get(newChecks(t.Context(), under(y, operators...), opts))(t)
			for k, level := range [2]float64{.05, .25} {
				if c.Fit <= level+1e-12 {
					alarms[k]++
				}
			}
			if run > 3 {
				continue
			}
			largest := 0.0
			for _, b := range operators {
				one := must.Get(newCheck(t.Context(), measurement.Data{A: b, Y: y}, opts))(t)
				largest = max(largest, one.Fit)
			}
			if c.Fit != largest {
				t.Errorf("operator %d, run %d: p = %v, want %v, the largest", truth, run, c.Fit, largest)
			}
		}
		for k, level := range [2]float64{.05, .25} { // 4 standard errors
			if most := runs*level + 4*math.Sqrt(runs*level*(1-level)); float64(alarms[k]) > most {
				t.Errorf("operator %d: the fit is below %v in %d of %d runs", truth, level, alarms[k], runs)
			}
		}
		t.Logf("operator %d: %v of %d", truth, alarms, runs)
	}
}
