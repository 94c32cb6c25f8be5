// SPDX-License-Identifier: Apache-2.0

package study

import (
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/expm"
)

// perPosterior is the seconds that posterior and distances take for a node.
const perPosterior = 0.6e-6

// affordable returns [ErrLong] where so many trials, with the column norms before them, are foreseen to take longer than limit.
func affordable(m *graphcloak.Model, p *graphcloak.Plan, trials int, brief bool, limit time.Duration) error {
	cost, err := expm.Estimate(m.Operator().Laplacian, m.Tau, expm.Options{Method: m.Method})
	if err != nil {
		return err
	}
	u, order := p.Uncertainty, m.Graph.Order()
	processes, _ := m.Operator().Processes(m.ListedGraphs(), u.TauFrom, u.TauTo, len(p.Sensors))
	products := float64(processes) * float64(normProducts(order, len(p.Sensors), brief)+2*trials)
	if products*cost.Column+float64(trials)*perPosterior*float64(order) > limit.Seconds() {
		return ErrLong
	}
	return nil
}
