// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/expm"
)

// largeStudy asks whether τ that is chosen by equal noise, as beyond 10,000 nodes, is good for the
// allocated noise that the plan then has.
func largeStudy() experiment {
	return experiment{name: "large", about: "the diffusion time of large graphs, under equal and under allocated noise", trials: 64, run: runLarge}
}

func runLarge(ctx context.Context, s settings) ([]table, error) {
	graphs := s.chosenGraphs("road-like,n=20000", "sbm,n=20000,k=20,in=0.01,out=0.00002,seed=1", "knn,n=20000,k=8,seed=1")
	var tables []table
	for _, b := range s.budgets() {
		t := table{
			title: fmt.Sprintf("ε = %v, δ = %v: how often the right community is the likeliest among all nodes, and in brackets the mean log loss, in the simulation of 32 or 64 "+
				"releases that an allocation ends with; the same sources and noise at every τ.", b.Epsilon, b.Delta),
			columns: []string{"graph", "τ", "chosen", "equal noise", "allocated"},
		}
		for _, name := range graphs {
			rows, err := s.largeRows(ctx, name, graphcloak.PlanOptions{Budget: b, Alpha: 1})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			t.rows = append(t.rows, rows...)
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// largeRows are a graph at the chosen τ and at factors of 2 and 4 from it.
func (s settings) largeRows(ctx context.Context, name string, opts graphcloak.PlanOptions) (rows [][]string, err error) {
	chosen := 0.0
	err = instance.With(ctx, s.data, name, 0, func(m *graphcloak.Model) error {
		_, err := m.ChooseTau(ctx, opts)
		chosen = m.Tau
		return err
	})
	for _, factor := range []float64{.0625, .25, .5, 1, 2, 4} {
		if err != nil {
			return nil, err
		}
		row := []string{name, fmt.Sprint(factor * chosen), "", "–", "–"}
		if factor == 1 {
			row[2] = "yes"
		}
		err = instance.With(ctx, s.data, name, factor*chosen, func(m *graphcloak.Model) error {
			p, err := m.Plan(ctx, opts)
			if err != nil {
				return err
			}
			if p.Allocated != nil && p.Allocated.Simulated != nil {
				x := p.Allocated.Simulated
				row[3], row[4] = fmt.Sprintf("%s (%.3f)", rate(x.Equal), x.EqualLoss), fmt.Sprintf("%s (%.3f)", rate(x.Right), x.Loss)
			} else {
				row[4] = p.UniformReason
			}
			return nil
		})
		if errors.Is(err, graphcloak.ErrTau) || errors.Is(err, expm.ErrAccuracy) {
			row[4], err = "beyond double precision", nil
		}
		log.Print(row)
		rows = append(rows, row)
	}
	return rows, err
}
