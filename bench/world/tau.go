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

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/bench/internal/usage"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/study"
)

// tauStudy compares diffusion times at one guarantee with those that are chosen.
func tauStudy() experiment {
	return experiment{name: "tau", about: "accuracy and mean earth mover's distance over the diffusion time", trials: 2000, run: runTau}
}

// budgets are those of the study.
func (s settings) budgets() []privacy.Budget {
	all := []privacy.Budget{{Epsilon: 4, Delta: 1e-5}, {Epsilon: 1, Delta: 1e-6}}
	return slices.DeleteFunc(all, func(b privacy.Budget) bool { return s.epsilon != 0 && b.Epsilon != s.epsilon })
}

// tauBefore is the fixed τ that the choice is compared with, and is always in the grid.
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

// cellKey is what a cell is of.
type cellKey struct {
	Graph  string         `json:"graph"`
	Budget privacy.Budget `json:"budget"`
	Tau    float64        `json:"tau"`
	Trials int            `json:"trials"`
	Seed   uint64         `json:"seed"`
}

// tauCell is what a plan at one τ is worth, trial by trial.
type tauCell struct {
	cellKey
	Right    []float64 `json:"right"`    // 1 or 0
	Distance []float64 `json:"distance"` // of the posterior from the source
	Chance   float64   `json:"chance"`
	CPU      float64   `json:"cpu"`              // seconds of the plan
	Beyond   bool      `json:"beyond,omitempty"` // of double precision
}

// loss is what τ is chosen for, to be small, by trial.
func (c tauCell) loss(aim graphcloak.Aim) []float64 {
	if aim == graphcloak.AimLocation {
		return c.Distance
	}
	wrong := make([]float64, len(c.Right))
	for t, r := range c.Right {
		wrong[t] = 1 - r
	}
	return wrong
}

func (c tauCell) String() string {
	if c.Beyond {
		return "–"
	}
	return fmt.Sprintf("%s (%.3g)", rate(stat.Mean(c.Right, nil)), stat.Mean(c.Distance, nil))
}

// worth is a cell in a table for an aim.
func (c tauCell) worth(aim graphcloak.Aim) string {
	if aim == graphcloak.AimLocation && !c.Beyond {
		return fmt.Sprintf("%.3g", stat.Mean(c.Distance, nil))
	}
	return c.String()
}

// choiceKey is what a choice is for.
type choiceKey struct {
	Graph  string         `json:"graph"`
	Budget privacy.Budget `json:"budget"`
	Aim    string         `json:"aim"`
}

// tauChoice is what `--tau auto` finds.
type tauChoice struct {
	choiceKey
	Tau float64 `json:"tau"`
	CPU float64 `json:"cpu"` // seconds of the search
}

// tauRow is a graph at one budget.
type tauRow struct {
	graph  string
	budget privacy.Budget
	grid   []tauCell
	auto   map[graphcloak.Aim]tauCell
	search map[graphcloak.Aim]float64 // CPU seconds
}

// tauAims are what τ is chosen for.
var tauAims = []graphcloak.Aim{graphcloak.AimCommunity, graphcloak.AimLocation}

func runTau(ctx context.Context, s settings) ([]table, error) {
	graphs := s.chosenGraphs("karate", "net3", "lfr", "sbm,n=500,k=5,in=0.05,out=0.001,seed=1", "minnesota", "net6")
	grid, err := s.tauGrid()
	if err != nil {
		return nil, err
	}
	known, err := openCells(s.cells)
	if err != nil {
		return nil, err
	}
	defer known.close()
	var rows []tauRow
	for _, name := range graphs {
		for _, b := range s.budgets() {
			row, err := s.tauRow(ctx, known, name, b, grid)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			rows = append(rows, row)
		}
	}
	tables := []table{gridTable(rows, grid)}
	for _, aim := range tauAims {
		tables = append(tables, choiceTable(rows, aim))
	}
	return append(tables, costTable(rows)), nil
}

// tauRow chooses τ for each aim, and plans and simulates at these τ and over the grid.
func (s settings) tauRow(ctx context.Context, known *cellFile, name string, b privacy.Budget, taus []float64) (tauRow, error) {
	row := tauRow{graph: name, budget: b, auto: make(map[graphcloak.Aim]tauCell), search: make(map[graphcloak.Aim]float64)}
	for _, tau := range taus {
		c, err := s.tauCell(ctx, known, name, b, tau)
		if err != nil {
			return row, err
		}
		row.grid = append(row.grid, c)
	}
	for _, aim := range tauAims {
		c, err := s.chooseTau(ctx, known, name, b, aim)
		if err != nil {
			return row, err
		}
		row.search[aim] = c.CPU
		if row.auto[aim], err = s.tauCell(ctx, known, name, b, c.Tau); err != nil {
			return row, err
		}
		log.Printf("%s, ε = %v: %s", name, b.Epsilon, strings.Join(row.choice(aim), " | "))
	}
	return row, nil
}

// chooseTau searches as `--tau auto` does, unless the choice is known.
func (s settings) chooseTau(ctx context.Context, known *cellFile, name string, b privacy.Budget, aim graphcloak.Aim) (c tauChoice, err error) {
	c.choiceKey = choiceKey{Graph: name, Budget: b, Aim: aim.String()}
	if done, ok := known.choices[c.choiceKey]; ok {
		return done, nil
	}
	err = instance.With(ctx, s.data, name, 0, func(m *graphcloak.Model) error {
		start := userSeconds()
		_, err := m.ChooseTau(ctx, graphcloak.PlanOptions{Budget: b, Alpha: 1, Aim: aim})
		c.Tau, c.CPU = m.Tau, userSeconds()-start
		return err
	})
	if err != nil {
		return c, err
	}
	return c, known.add(line{Choice: &c})
}

// tauCell plans as the command does with τ given, and simulates; a cell that is known is not
// computed again.
func (s settings) tauCell(ctx context.Context, known *cellFile, name string, b privacy.Budget, tau float64) (c tauCell, err error) {
	c.cellKey = cellKey{Graph: name, Budget: b, Tau: tau, Trials: s.trials, Seed: s.seed}
	if done, ok := known.cells[c.cellKey]; ok {
		return done, nil
	}
	err = instance.With(ctx, s.data, name, tau, func(m *graphcloak.Model) error {
		start := userSeconds()
		p, err := m.Plan(ctx, graphcloak.PlanOptions{Budget: b, Alpha: 1})
		if err != nil {
			return err
		}
		c.CPU = userSeconds() - start
		part, err := m.Partition(ctx)
		if err != nil {
			return err
		}
		n := m.Graph.Order()
		c.Chance = floats.Max(part.Sums(slices.Repeat([]float64{1}, n))) / float64(n)
		trials, err := study.PlanTrials(ctx, m, p, analyst.Options{}, study.Sample{Trials: s.trials, Seed: s.seed})
		for _, t := range trials {
			right := 0.
			if t.Right {
				right = 1
			}
			c.Right, c.Distance = append(c.Right, right), append(c.Distance, t.Distance)
		}
		return err
	})
	c.Beyond = errors.Is(err, graphcloak.ErrTau) || errors.Is(err, expm.ErrAccuracy)
	if err != nil && !c.Beyond {
		return c, fmt.Errorf("τ = %v: %w", tau, err)
	}
	log.Printf("%s, ε = %v, τ = %v: %s, planned in %.1f CPU s", name, b.Epsilon, tau, c, c.CPU)
	return c, known.add(line{Cell: &c})
}

// best returns the cell of the grid that is best for an aim.
func (r tauRow) best(aim graphcloak.Aim) tauCell {
	feasible := slices.DeleteFunc(slices.Clone(r.grid), func(c tauCell) bool { return c.Beyond })
	return slices.MinFunc(feasible, func(x, y tauCell) int {
		return cmp.Compare(stat.Mean(x.loss(aim), nil), stat.Mean(y.loss(aim), nil))
	})
}

// at returns the cell of the grid at τ.
func (r tauRow) at(tau float64) tauCell {
	return r.grid[slices.IndexFunc(r.grid, func(c tauCell) bool { return c.Tau == tau })]
}

// choice is a row of the table for an aim. The trials of two plans share source and random
// numbers, so that the standard error of short is that of the paired differences.
func (r tauRow) choice(aim graphcloak.Aim) []string {
	auto, best := r.auto[aim], r.best(aim)
	difference := slices.Clone(auto.loss(aim))
	for t, x := range best.loss(aim) {
		difference[t] -= x
	}
	mean, deviation := stat.MeanStdDev(difference, nil)
	return []string{
		r.graph, budgetName(r.budget), rate(auto.Chance), fmt.Sprintf("τ = %v: %s", auto.Tau, auto.worth(aim)), r.at(tauBefore).worth(aim),
		fmt.Sprintf("τ = %v: %s", best.Tau, best.worth(aim)), short(mean) + " ± " + short(deviation/math.Sqrt(float64(len(difference)))),
	}
}

// short writes a difference with three digits after the point.
func short(x float64) string {
	text := strings.Replace(fmt.Sprintf("%.3f", math.Abs(x)), "0.", ".", 1)
	if x < 0 && text != ".000" {
		return "−" + text
	}
	return text
}

func budgetName(b privacy.Budget) string { return fmt.Sprintf("%v, %v", b.Epsilon, b.Delta) }

// gridTable is accuracy and distance over the grid.
func gridTable(rows []tauRow, taus []float64) table {
	accuracy, distance := standardErrors(rows)
	t := table{
		title: fmt.Sprintf("How often the right community is named, and in brackets the mean distance of the posterior from the source in hops, "+
			"with the noise that is allocated for that τ. The standard errors are at most %s, and %.1f %% of the distance.", short(accuracy), 100*distance),
		columns: []string{"graph", "ε, δ", "chance"},
	}
	for _, tau := range taus {
		t.columns = append(t.columns, fmt.Sprintf("τ = %v", tau))
	}
	for _, r := range rows {
		cells := []string{r.graph, budgetName(r.budget), rate(r.grid[0].Chance)}
		for _, c := range r.grid {
			cells = append(cells, c.String())
		}
		t.rows = append(t.rows, cells)
	}
	return t
}

// standardErrors returns the largest of accuracy, and of distance relative to it.
func standardErrors(rows []tauRow) (accuracy, distance float64) {
	for _, r := range rows {
		for _, c := range r.grid {
			if c.Beyond {
				continue
			}
			root := math.Sqrt(float64(c.Trials))
			mean, deviation := stat.MeanStdDev(c.Distance, nil)
			accuracy, distance = max(accuracy, stat.StdDev(c.Right, nil)/root), max(distance, deviation/root/mean)
		}
	}
	return accuracy, distance
}

// choiceTable compares auto with the best of the grid.
func choiceTable(rows []tauRow, aim graphcloak.Aim) table {
	t := table{
		title:   fmt.Sprintf("τ chosen for the %v. Short: by how much auto is worse than the best of the grid, ± its standard error over paired trials.", aim),
		columns: []string{"graph", "ε, δ", "chance", "auto", fmt.Sprintf("τ = %v", tauBefore), "best of the grid", "short"},
	}
	for _, r := range rows {
		t.rows = append(t.rows, r.choice(aim))
	}
	if aim == graphcloak.AimLocation { // chance is that of a community
		t.columns = slices.Delete(t.columns, 2, 3)
		for k := range t.rows {
			t.rows[k] = slices.Delete(t.rows[k], 2, 3)
		}
	}
	return t
}

// costTable is what the search takes beside the plan.
func costTable(rows []tauRow) table {
	t := table{
		title:   "CPU seconds of the search, and of the plan at the τ that it found.",
		columns: []string{"graph", "ε, δ", "search, community", "plan", "search, location", "plan"},
	}
	for _, r := range rows {
		cells := []string{r.graph, budgetName(r.budget)}
		for _, aim := range tauAims {
			cells = append(cells, fmt.Sprintf("%.1f", r.search[aim]), fmt.Sprintf("%.1f", r.auto[aim].CPU))
		}
		t.rows = append(t.rows, cells)
	}
	return t
}

// userSeconds is the processor time of this process so far, outside of the system.
func userSeconds() float64 {
	return usage.User().Seconds()
}
