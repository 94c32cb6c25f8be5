// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
)

// limitStudy compares what is reached with what no mechanism exceeds.
func limitStudy() experiment {
	return experiment{name: "limit", about: "accuracy beside what no mechanism with the guarantee exceeds", trials: 400, run: runLimit}
}

func runLimit(ctx context.Context, s settings) ([]table, error) {
	t := table{
		title: "Right, by simulation, and the certified limits: for Gaussian privacy with the μ of the noise, and for (ε, δ) alone. τ is the best of 2, 8 and 32.",
		columns: []string{
			"graph", "ε", "δ", "chance", "right", "τ", "limit, Gaussian", "limit, any mechanism",
		},
	}
	graphs := s.chosenGraphs("karate", "net3", "minnesota", "net6", "sbm,n=250,k=5,in=0.1,out=0.002,seed=1")
	for _, name := range graphs {
		for _, b := range append(s.budgets(), privacy.Budget{Epsilon: 4, Delta: .1}) {
			row, err := limitRow(ctx, s, name, b)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			t.rows = append(t.rows, row)
		}
	}
	return []table{t}, nil
}

func limitRow(ctx context.Context, s settings, name string, b privacy.Budget) ([]string, error) {
	var best *report.Accuracy
	var at float64
	for _, tau := range []float64{2, 8, 32} {
		start := time.Now()
		err := instance.With(ctx, s.data, name, tau, func(m *graphcloak.Model) error {
			p, err := m.Plan(ctx, graphcloak.PlanOptions{Budget: b, Alpha: 1})
			if err != nil {
				return err
			}
			if err := study.Expect(ctx, m, p, analyst.Options{}, study.Sample{Trials: s.trials}); err != nil {
				return err
			}
			if best == nil || p.Accuracy.Probability > best.Probability {
				best, at = p.Accuracy, tau
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("τ = %v: %w", tau, err)
		}
		log.Printf("%s, %+v, τ = %v: right %.3f, limit %+v in %.1f s", name, b, at, best.Probability, best.Limit, time.Since(start).Seconds())
	}
	return []string{
		name, fmt.Sprint(b.Epsilon), fmt.Sprint(b.Delta), rate(best.Chance), rate(best.Probability), fmt.Sprint(at),
		rate(best.Limit.Gaussian), rate(*best.Limit.AnyMechanism),
	}, nil
}
