// SPDX-License-Identifier: Apache-2.0

package study

import (
	"time"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/plan"
)

// perPosterior is the seconds that posterior and distances take for a node.
const perPosterior = 0.6e-6

// affordable returns [ErrLong] where so many trials, with the column norms before them, are estimated to take longer than limit.
func affordable(m *plan.Model, p *plan.Plan, trials int, brief bool, limit time.Duration) error {
	most, err := mostTrials(m, p, trials, brief, limit)
	if err == nil && most < trials {
		err = ErrLong
	}
	return err
}

// mostTrials is how many of so many trials are estimated to take no longer than limit with the column norms before them.
func mostTrials(m *plan.Model, p *plan.Plan, trials int, brief bool, limit time.Duration) (int, error) {
	cost, err := expm.Estimate(m.Operator.Laplacian, m.Tau, expm.Options{Method: m.Method})
	if err != nil {
		return 0, err
	}
	u, order := p.Uncertainty, m.Graph.Order()
	processes, _ := m.Operator.Processes(m.ListedGraphs(), u.TauFrom, u.TauTo, len(p.Sensors))
	product := float64(processes) * cost.Column
	left := limit.Seconds() - product*float64(normProducts(order, len(p.Sensors), brief))
	return int(min(float64(trials), max(0, left/(2*product+perPosterior*float64(order))))), nil
}
