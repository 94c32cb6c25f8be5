// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/study"
)

// amplitudeStudy holds the priors of the amplitude against sources of several.
func amplitudeStudy() experiment {
	return experiment{name: "amplitude", about: "calibration of the priors of the amplitude", trials: 1000, run: runAmplitude}
}

func runAmplitude(ctx context.Context, s settings) ([]table, error) {
	var tables []table
	for _, name := range s.chosenGraphs("karate", "net3") {
		t := table{
			title:   fmt.Sprintf("%s, τ = %v, ε = 4, δ = .01, allocated noise, %d trials a row.", name, scenarioTau, s.trials),
			columns: []string{"amplitude", "prior", "right", "mean confidence", "ECE", "by chance at most", "coverage of the 95 % set"},
		}
		err := instance.With(ctx, s.data, name, scenarioTau, func(m *graphcloak.Model) (err error) {
			t.rows, err = amplitudeRows(ctx, s, m)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		tables = append(tables, t)
	}
	return tables, nil
}

func amplitudeRows(ctx context.Context, s settings, m *graphcloak.Model) (rows [][]string, err error) {
	p, err := m.Plan(ctx, graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: 4, Delta: .01}, Alpha: 1})
	if err != nil {
		return nil, err
	}
	for _, amplitude := range []float64{.2, .3, .5, 1} {
		for _, prior := range []posterior.Amplitude{posterior.MixedAmplitude, posterior.UniformAmplitude, posterior.UnitAmplitude} {
			e, err := study.Evaluate(ctx, m, p, study.Options{Trials: s.trials, Amplitude: amplitude, Seed: s.seed, Recover: analyst.Options{Amplitude: prior}})
			if err != nil {
				return nil, err
			}
			c := e.Calibration
			rows = append(rows, []string{fmt.Sprint(amplitude), prior.String(), rate(e.Right.Rate), rate(c.MeanConfidence), rate(c.Error), rate(c.Limit), rate(e.Coverage.Rate)})
		}
	}
	return rows, nil
}
