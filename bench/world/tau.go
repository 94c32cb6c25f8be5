// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
)

// tauStudy compares diffusion times at one guarantee.
func tauStudy() experiment {
	return experiment{name: "tau", about: "accuracy and mean earth mover's distance over the diffusion time", trials: 400, run: runTau}
}

// budgets are those of the study.
func budgets() []privacy.Budget {
	return []privacy.Budget{{Epsilon: 4, Delta: 1e-5}, {Epsilon: 1, Delta: 1e-6}}
}

// tauGrid are the diffusion times that are compared.
func tauGrid() []float64 { return []float64{.25, .5, 1, 2, 4, 8, 16, 32, 64, 128, 256} }

func runTau(ctx context.Context, s settings) ([]table, error) {
	graphs := s.chosenGraphs("karate", "net3", "minnesota", "net6",
		"sbm,n=500,k=5,in=0.05,out=0.001,seed=1", "barabasi-albert,n=1000,m=2,seed=1")
	var tables []table
	for _, b := range budgets() {
		t := table{
			title:   fmt.Sprintf("ε = %v, δ = %v: the right community is named (mean distance of the posterior from the source, in hops).", b.Epsilon, b.Delta),
			columns: []string{"graph", "chance"},
		}
		for _, tau := range tauGrid() {
			t.columns = append(t.columns, fmt.Sprintf("τ = %v", tau))
		}
		for _, name := range graphs {
			row, err := tauRow(ctx, s, name, b)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			t.rows = append(t.rows, row)
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// tauRow is a graph at one budget.
func tauRow(ctx context.Context, s settings, name string, b privacy.Budget) ([]string, error) {
	cells, chance := []string{}, "–"
	for _, tau := range tauGrid() {
		start := time.Now()
		a, err := expectation(ctx, s, name, tau, b)
		if errors.Is(err, graphcloak.ErrTau) || errors.Is(err, expm.ErrAccuracy) {
			cells = append(cells, "–")
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("τ = %v: %w", tau, err)
		}
		chance = rate(a.Chance)
		cells = append(cells, fmt.Sprintf("%s (%.3g)", rate(a.Probability), a.MeanEMD))
		log.Printf("%s, ε = %v, τ = %v: %s in %.1f s", name, b.Epsilon, tau, cells[len(cells)-1], time.Since(start).Seconds())
	}
	return append([]string{name, chance}, cells...), nil
}

// expectation plans as the command does, and simulates.
func expectation(ctx context.Context, s settings, name string, tau float64, b privacy.Budget) (a *report.Accuracy, err error) {
	err = instance.With(ctx, s.data, name, tau, func(m *graphcloak.Model) error {
		p, err := m.Plan(ctx, graphcloak.PlanOptions{Budget: b, Alpha: 1})
		if err != nil {
			return err
		}
		err = study.Expect(ctx, m, p, analyst.Options{}, s.trials)
		a = p.Accuracy
		return err
	})
	return a, err
}
