// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"time"

	"github.com/graphcloak/graphcloak/allocation"
	"github.com/graphcloak/graphcloak/privacy"
)

// PlanOptions say which guarantee a release shall have. Epsilon, Delta and Alpha
// are required; zero means the default elsewhere.
type PlanOptions struct {
	privacy.Budget
	Alpha       float64
	Calibration privacy.Calibration // nil: analytic
	Guarantee   privacy.Guarantee
	Randomness  privacy.Randomness

	// Aim is what τ is judged by where [Settings].Tau is 0.
	Aim Aim

	// Measured says that sensors measure y themselves. Otherwise the error of the
	// computed e^{-τL}f is charged.
	Measured bool
	// Uncertainty is how far the process that sensors measure may be from the model: the
	// guarantee is certified for all of it; that of weights and relationships for at most
	// [sensitivity.MaxUncertain] nodes and where the guarantee is joint. Its
	// alternative graphs are those of [Settings].
	Uncertainty privacy.Uncertainty
	// Clip is the public range of readings; nil: what sources in [0, 1] can reach.
	Clip *privacy.Interval

	Allocation Allocation

	SensitivityTolerance float64       // relative width of the bracket; 0: 0.001 up to 10,000 nodes, else 0.05
	SensitivityTime      time.Duration // 0: until the tolerance is met
}

// Allocation says how noise is shared among the sensors. The zero value shares it
// so that the communities of [Public] are told apart best.
type Allocation struct {
	Uniform                bool                 // the same σ everywhere, as in the paper
	Objective              allocation.Objective // of the optimal allocation; Auto is uniform above 200,000 nodes
	MaxSensors, MinSensors int                  // that report; 0: no limit
	Time                   time.Duration        // 0: until the gap is small
	// TolerateFaulty is how many sensors may lie, within the range that readings are clipped to, and
	// not turn at least half of the answers of a simulation; 0: none need be. An optimal allocation
	// is mixed with uniform noise as far as that takes.
	TolerateFaulty int
}

// autoLimit is the order up to which noise is allocated unless an objective is
// named: beyond it the search takes many minutes.
const autoLimit = 200_000

// IsUniform reports whether every sensor gets the same σ on a graph of n nodes.
func (a Allocation) IsUniform(n int) bool {
	return a.Uniform || a.Objective == allocation.Auto && n > autoLimit
}

// Allocates reports whether noise is allocated over the sensors of a graph of n nodes. An
// allocation saves noise where the model says that nothing can be told. Where sensors
// measure it is made only for who asks, unless it is declared how far the model may be
// off, weights aside: their error counts by the sensor that is weighted most.
func (o PlanOptions) Allocates(n int) bool {
	a := o.Allocation
	if o.Guarantee == privacy.PerSensor || a.IsUniform(n) {
		return false
	}
	asked := a.Objective != allocation.Auto || a.MaxSensors > 0 || a.MinSensors > 0 || a.TolerateFaulty > 0
	return !o.Measured || o.Uncertainty.Any() && o.Uncertainty.WeightError == 0 || asked
}
