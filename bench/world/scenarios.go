// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/study"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// scenarioStudy lets what happens differ from the model.
func scenarioStudy() experiment {
	return experiment{
		name: "scenarios", about: "accuracy, calibration and coverage where the world is not the model", trials: 1000,
		run: runScenarios,
	}
}

// scenarioTau is the diffusion time that plan and posterior suppose.
const scenarioTau = 4

func runScenarios(ctx context.Context, s settings) ([]table, error) {
	var tables []table
	for _, name := range s.chosenGraphs("karate", "net3", "sbm,n=250,k=5,in=0.1,out=0.002,seed=1") {
		for _, measured := range []bool{false, true} {
			err := instance.With(ctx, s.data, name, scenarioTau, func(m *graphcloak.Model) error {
				t, err := scenarioTable(ctx, s, name, m, measured)
				tables = append(tables, t)
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return tables, nil
}

// scenarioTable is a graph under the plan for readings that the tool computes, with
// allocated noise, or that sensors measure, with equal noise and faults supposed.
func scenarioTable(ctx context.Context, s settings, name string, m *graphcloak.Model, measured bool) (table, error) {
	p, err := m.Plan(ctx, graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: 4, Delta: .01}, Alpha: 1, Measured: measured})
	if err != nil {
		return table{}, err
	}
	how := "computed readings, allocated noise, sound sensors supposed"
	if measured {
		how = "measured readings, equal noise, broken sensors supposed possible"
	}
	t := table{
		title: fmt.Sprintf("%s, τ = %v, ε = 4, δ = 0.01: %s.", name, scenarioTau, how),
		columns: []string{
			"scenario", "what happens", "right", "source found", "stands out", "mean confidence", "ECE",
			"coverage of the 95 % set",
		},
	}
	for _, x := range simulate.Scenarios() {
		e, err := study.Evaluate(ctx, m.Model, p, study.Options{
			Trials: s.trials, Options: simulate.Options{Amplitude: 1, Seed: s.seed, Scenario: x},
		})
		if err != nil {
			return table{}, err
		}
		row := []string{
			x.Name, x.About, rate(e.Right.Rate), rate(e.Detected.Rate), rate(e.Answered.Rate),
			rate(e.Calibration.MeanConfidence), rate(e.Calibration.Error), rate(e.Coverage.Rate),
		}
		if x.Sourceless() {
			row[2], row[5], row[6], row[7] = "–", "–", "–", "–"
		}
		log.Printf("%s: %v", name, row)
		t.rows = append(t.rows, row)
	}
	return t, nil
}
