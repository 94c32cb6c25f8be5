// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/allocation"
)

// PlanOptions say which guarantee a release shall have. Epsilon and Delta
// are required; zero means the default elsewhere.
type Options struct {
	privacy.Budget
	Alpha       float64             // 0: 1
	Calibration privacy.Calibration // nil: analytic
	Guarantee   privacy.Guarantee
	Randomness  privacy.Randomness

	// Measured says that sensors measure y themselves. Otherwise the error of the
	// computed e^{-τL}f is charged.
	Measured bool
	// Clip is the public range of readings; nil: what sources in [0, 1] can reach.
	Clip *privacy.Interval

	Allocation Allocation

	SensitivityTolerance float64 // relative width of the bracket; 0: 0.001 up to 10,000 nodes, else 0.05
}

// Allocation says how noise is shared among the sensors. The zero value shares it
// so that the communities of [Public] are told apart best.
type Allocation struct {
	Uniform bool // the same σ everywhere, as in the paper
	// asked for by name: also above 200,000 nodes, and where sensors measure and nothing is declared of how far the model is off
	Optimal    bool
	MaxSensors int           // that report; 0: no limit
	Time       time.Duration // 0: until the gap is small
}

// autoLimit is the order up to which noise is allocated unless that is asked for by name:
// beyond it the search takes many minutes.
const autoLimit = 200_000

// IsUniform reports whether every sensor gets the same σ on a graph of n nodes.
func (a Allocation) IsUniform(n int) bool {
	return a.Uniform || !a.Optimal && n > autoLimit
}

// Allocates reports whether noise is allocated over the sensors of a graph of n nodes under these settings. An
// allocation saves noise where the model says that nothing can be told. Where sensors
// measure it is made only where that is asked for, or it is declared how far the model may be off.
func (o Options) Allocates(s Settings, n int) bool {
	a := o.Allocation
	if o.Guarantee == privacy.PerSensor || a.IsUniform(n) {
		return false
	}
	asked := a.Optimal || a.MaxSensors > 0
	if len(s.Operators) > 0 {
		return n <= allocation.RowsLimit
	}
	return !o.Measured || s.isUncertain() || asked
}

// equalReason says why noise that is not allocated on a graph of n nodes is uniform, "" where
// that was asked for, or follows from a guarantee that was.
func (o Options) equalReason(s Settings, n int) string {
	a := o.Allocation
	switch {
	case a.Uniform || o.Allocates(s, n):
		return ""
	case o.Guarantee == privacy.PerSensor && !a.Optimal:
		return ""
	case o.Guarantee == privacy.PerSensor:
		return "the guarantee is for each sensor by itself, and an allocation is for all readings together (--guarantee joint)"
	case len(s.Operators) > 0:
		return fmt.Sprintf("noise is allocated for a given operator of up to %d nodes, and here are %d", allocation.RowsLimit, n)
	case a.IsUniform(n):
		return fmt.Sprintf("an allocation is searched for up to %d nodes, and here are %d; --allocation optimal has one made all the same",
			autoLimit, n)
	}
	return "sensors measure, and nothing is declared of how far their process may be from the model, which an allocation forgives less; " +
		"--tau FROM..TO or --scenario FILE declares it, and noise is allocated for all of that; --allocation optimal has it " +
		"allocated without"
}

// unitNoise is σ for a sensitivity of 1.
func (o Options) unitNoise() (float64, error) {
	if o.Calibration == nil {
		return privacy.Analytic{}.Sigma(o.Budget, 1)
	}
	return o.Calibration.Sigma(o.Budget, 1)
}
