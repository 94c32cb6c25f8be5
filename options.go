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

	// Measured says that sensors measure y themselves. Otherwise the error of the
	// computed e^{-τL}f is charged.
	Measured bool
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
	Objective              allocation.Objective // of the optimal allocation; Auto is uniform above 10,000 nodes
	MaxSensors, MinSensors int                  // that report; 0: no limit
	Time                   time.Duration        // 0: until the gap is small
}

// autoLimit is the order up to which noise is allocated unless an objective is
// named: beyond it the search takes many minutes.
const autoLimit = 10_000

// IsUniform reports whether every sensor gets the same σ on a graph of n nodes.
func (a Allocation) IsUniform(n int) bool {
	return a.Uniform || a.Objective == allocation.Auto && n > autoLimit
}
