// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/study"
)

// tauStudy compares diffusion times at one guarantee with the one that is chosen.
func tauStudy() experiment {
	return experiment{name: "tau", about: "accuracy and mean earth mover's distance over the diffusion time", trials: 1000, run: runTau}
}

// budgets are those of the study.
func (s settings) budgets() []privacy.Budget {
	all := []privacy.Budget{{Epsilon: 4, Delta: 1e-5}, {Epsilon: 1, Delta: 1e-6}}
	return slices.DeleteFunc(all, func(b privacy.Budget) bool { return s.epsilon != 0 && b.Epsilon != s.epsilon })
}

// tauBefore was the default, and is always in the grid.
const tauBefore = 2

// tauGrid are the diffusion times that are compared with the chosen one.
func (s settings) tauGrid() ([]float64, error) {
	if s.taus == "" {
		return []float64{1, 2, 4, 8, 16, 32, 64, 128}, nil
	}
	grid := []float64{tauBefore}
	for text := range strings.SplitSeq(s.taus, ",") {
		tau, err := strconv.ParseFloat(text, 64)
		if err != nil || !(tau > 0) {
			return nil, fmt.Errorf("-taus has %q, want numbers > 0", text)
		}
		grid = append(grid, tau)
	}
	slices.Sort(grid)
	return slices.Compact(grid), nil
}

// tauCell is what a plan at one τ is worth.
type tauCell struct {
	tau, accuracy, distance, chance float64
	cpu                             float64 // seconds of the plan
	beyond                          bool    // of double precision
}

// score is what τ is chosen for, and is to be small.
func (s settings) score(c tauCell) float64 {
	if s.aim == graphcloak.AimLocation {
		return c.distance
	}
	return -c.accuracy
}

func runTau(ctx context.Context, s settings) ([]table, error) {
	graphs := s.chosenGraphs("karate", "net3", "sbm,n=500,k=5,in=0.05,out=0.001,seed=1",
		"barabasi-albert,n=1000,m=2,seed=1", "minnesota", "net6")
	grid, err := s.tauGrid()
	if err != nil {
		return nil, err
	}
	var tables []table
	for _, b := range s.budgets() {
		t := table{
			title: fmt.Sprintf("ε = %v, δ = %v, chosen for the %v: how often the right community is named, and in brackets the mean distance of the posterior from the source in hops. "+
				"Short: by how much auto falls short of the best of the grid, in what it was chosen for. CPU: seconds of the plan with its search, and of the plan with that τ given.", b.Epsilon, b.Delta, s.aim),
			columns: []string{"graph", "chance", "auto", "before (τ = 2)", "best of the grid", "short", "CPU"},
		}
		for _, tau := range grid {
			t.columns = append(t.columns, fmt.Sprintf("τ = %v", tau))
		}
		for _, name := range graphs {
			row, err := tauRow(ctx, s, name, b, grid)
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
func tauRow(ctx context.Context, s settings, name string, b privacy.Budget, taus []float64) ([]string, error) {
	var cells []tauCell
	for _, tau := range append([]float64{0}, taus...) { // 0: auto
		c, err := tauAt(ctx, s, name, tau, b)
		if err != nil {
			return nil, fmt.Errorf("τ = %v: %w", tau, err)
		}
		log.Printf("%s, ε = %v, τ = %v: %s, planned in %.1f CPU s", name, b.Epsilon, c.tau, c, c.cpu)
		cells = append(cells, c)
	}
	auto, grid := cells[0], cells[1:]
	best := slices.MinFunc(grid, func(x, y tauCell) int { return cmp.Compare(s.score(x), s.score(y)) })
	planOnly := s
	planOnly.trials = 0
	given, err := tauAt(ctx, planOnly, name, auto.tau, b)
	if err != nil {
		return nil, err
	}
	row := []string{
		name, rate(auto.chance), fmt.Sprintf("τ = %v: %s", auto.tau, auto), grid[slices.Index(taus, tauBefore)].String(),
		fmt.Sprintf("τ = %v: %s", best.tau, best), fmt.Sprintf("%.2f", s.score(auto)-s.score(best)), fmt.Sprintf("%.1f, %.1f", auto.cpu, given.cpu),
	}
	for _, c := range grid {
		row = append(row, c.String())
	}
	return row, nil
}

func (c tauCell) String() string {
	if c.beyond {
		return "–"
	}
	return fmt.Sprintf("%s (%.3g)", rate(c.accuracy), c.distance)
}

// tauAt plans as the command does, and simulates.
func tauAt(ctx context.Context, s settings, name string, tau float64, b privacy.Budget) (c tauCell, err error) {
	err = instance.With(ctx, s.data, name, tau, func(m *graphcloak.Model) error {
		start := userSeconds()
		p, err := m.Plan(ctx, graphcloak.PlanOptions{Budget: b, Alpha: 1, Aim: s.aim})
		if err != nil {
			return err
		}
		c.cpu = userSeconds() - start
		if s.trials == 0 {
			return nil
		}
		e, err := study.Evaluate(ctx, m, p, study.Options{Trials: s.trials, Seed: s.seed, Amplitude: 1})
		if err != nil {
			return err
		}
		c.tau, c.accuracy, c.distance, c.chance = m.Tau, e.Right.Rate, e.MeanEMD, e.Chance
		return nil
	})
	if errors.Is(err, graphcloak.ErrTau) || errors.Is(err, expm.ErrAccuracy) {
		return tauCell{tau: tau, beyond: true, distance: math.Inf(1)}, nil
	}
	return c, err
}

// userSeconds is the processor time of this process so far, outside of the system.
func userSeconds() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return math.NaN()
	}
	return float64(r.Utime.Nano()) / 1e9
}
