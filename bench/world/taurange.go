// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/study"
)

// tauRangeStudy has sensors measure a process whose τ is known within a range alone.
func tauRangeStudy() experiment {
	return experiment{name: "taurange", about: "noise, accuracy and calibration where τ is known within a range", trials: 1000, run: runTauRange}
}

// tauRanges are around [scenarioTau]; the first is τ itself.
func tauRanges() []privacy.Uncertainty {
	return []privacy.Uncertainty{{}, {TauFrom: 3, TauTo: 5.333}, {TauFrom: 2, TauTo: 8}, {TauFrom: 1, TauTo: 16}}
}

func runTauRange(ctx context.Context, s settings) ([]table, error) {
	var tables []table
	for _, name := range s.chosenGraphs("karate", "net3") {
		for _, epsilon := range []float64{4, 40} {
			if s.epsilon != 0 && epsilon != s.epsilon {
				continue
			}
			err := instance.With(ctx, s.data, name, scenarioTau, func(m *graphcloak.Model) error {
				t, err := tauRangeTable(ctx, s, name, m, epsilon)
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

func tauRangeTable(ctx context.Context, s settings, name string, m *graphcloak.Model, epsilon float64) (table, error) {
	t := table{
		title:   fmt.Sprintf("%s, measured readings, equal noise, ε = %v, δ = 0.01: τ is drawn from the range, and the posterior, which supposes an amplitude that is uniform in [0, 1], as it is, and sound sensors, sums over τ.", name, epsilon),
		columns: []string{"τ", "σ", "right", "mean confidence", "ECE", "of a calibrated answer, at most", "coverage of the 95 % set"},
	}
	for _, u := range tauRanges() {
		p, err := m.Plan(ctx, graphcloak.PlanOptions{
			Budget: privacy.Budget{Epsilon: epsilon, Delta: .01}, Alpha: 1, Measured: true, Uncertainty: u, Allocation: graphcloak.Allocation{Uniform: true},
		})
		if err != nil {
			return table{}, err
		}
		e, err := study.Evaluate(ctx, m, p, study.Options{Trials: s.trials, Seed: s.seed, Recover: analyst.Options{Amplitude: posterior.UniformAmplitude, FaultRate: new(float64)}})
		if err != nil {
			return table{}, err
		}
		tau := fmt.Sprint(scenarioTau)
		if u.Any() {
			tau = fmt.Sprintf("%v..%v", u.TauFrom, u.TauTo)
		}
		row := []string{tau, fmt.Sprintf("%.3g", p.Sigma()), rate(e.Right.Rate), rate(e.Calibration.MeanConfidence), rate(e.Calibration.Error), rate(e.Calibration.Limit), rate(e.Coverage.Rate)}
		log.Printf("%s: %v", name, row)
		t.rows = append(t.rows, row)
	}
	return t, nil
}
