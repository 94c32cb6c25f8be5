// SPDX-License-Identifier: Apache-2.0

package study

import (
	"time"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy/allocation"
	"github.com/graphcloak/graphcloak/run"
)

// typicalSpread is λ_max·τ in the middle of the values of τ that are tried.
const typicalSpread = 256

// PlanTime is the least that a plan of the job takes one core of the 2020s on a model that is loaded, from sizes alone, so that it is
// the same on every machine. How long the search for an allocation takes, which is given a minute, only the search itself tells.
// It returns the errors of [expm.Estimate].
func PlanTime(m *plan.Model, job run.Job) (time.Duration, error) {
	const search = 60 // seconds that a search for τ, or of few rows for an allocation, is given
	l, nodes, allocates := laplacian.New(m.Graph, m.Laplacian), m.Graph.Order(), job.Plan.Allocates(job.Settings, m.Graph.Order())
	tau, searched := job.Tau.Value(), job.Tau.IsSearched()
	if searched {
		tau = typicalSpread / max(1e-300, l.Bound())
	}
	cost, err := expm.Estimate(l, tau, expm.Options{Method: job.Method})
	if err != nil {
		return 0, err
	}
	seconds := cost.Prepare + 100*cost.Apply
	if cost.Method == expm.Eigen {
		const perCell = 0.4e-9 // dense product, an entry
		seconds = cost.Prepare + 2*perCell*float64(nodes)*float64(m.Graph.Size())
	}
	if searched { // some 600 products with M for each of about ten
		seconds += min(search, 6000*cost.Column)
	}
	rows := min(float64(len(m.Sensors)), allocation.DefaultMemory/(8*float64(nodes)))
	switch {
	case !allocates:
	case nodes > allocation.RowsLimit:
		seconds += min(search, 2480*cost.Column)
	default:
		seconds += rows * cost.Column
	}
	return time.Duration(seconds / 2 * float64(time.Second)), nil
}
