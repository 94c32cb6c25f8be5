// SPDX-License-Identifier: Apache-2.0

package audit_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/audit"
)

// The textbook's reading + σ·normal, in floating point, promises ε = 4 and lets the
// low bits tell which reading it was.
func ExampleLowBits() {
	budget := privacy.Budget{Epsilon: 4, Delta: 0.1}
	sigma, err := privacy.Analytic{}.Sigma(budget, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	rng := rand.New(rand.NewPCG(7, 7))
	textbook := func(y []float64) ([]float64, error) { return []float64{y[0] + sigma*rng.NormFloat64()}, nil }
	lattice := func(y []float64) ([]float64, error) {
		n := privacy.SensorNoise{Sensor: privacy.Sensor{ID: "s"}, Exponent: -35, Steps: 1 << 34, Weight: 1}
		v, err := n.Perturb(y[0], privacy.Interval{Lo: 0, Hi: 1}, "r", nil)
		return []float64{v.Value}, err
	}
	for _, m := range []audit.Mechanism{textbook, lattice} {
		r, err := audit.LowBits(context.Background(), m, 1, audit.Options{Delta: budget.Delta})
		fmt.Printf("refuted up to ε = 4: %v, told apart at all: %v %v\n", r.Epsilon > 4, r.Hits+r.FalseHits > 0, err)
	}
	// Output:
	// refuted up to ε = 4: true, told apart at all: true <nil>
	// refuted up to ε = 4: false, told apart at all: false <nil>
}
