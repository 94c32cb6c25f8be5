// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/study"
)

// graphsStudy has sensors measure a process that ran on the stored graph or on one of a list.
func graphsStudy() experiment {
	return experiment{name: "graphs", about: "accuracy and calibration where the graph is one of a list", trials: 1000, run: runGraphs}
}

func runGraphs(ctx context.Context, s settings) ([]table, error) {
	var tables []table
	for _, name := range s.chosenGraphs("karate", "net3") {
		for _, epsilon := range []float64{4, 40} {
			if s.epsilon != 0 && epsilon != s.epsilon {
				continue
			}
			set := graphcloak.Settings{Tau: scenarioTau}
			err := instance.Open(ctx, s.data, name, set, func(m *graphcloak.Model) error {
				set.Alternatives = listedFor(m.Graph)
				return nil
			})
			if err == nil {
				err = instance.Open(ctx, s.data, name, set, func(m *graphcloak.Model) error {
					t, err := graphsTable(ctx, s, name, m, epsilon)
					tables = append(tables, t)
					return err
				})
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return tables, nil
}

// listedFor are two graphs with shortcuts, one for every ten nodes, and two in which every second
// relationship weighs ten times as much.
func listedFor(g *graph.Graph) []graphcloak.Alternative {
	list := []graphcloak.Alternative{{Name: "shortcuts 1"}, {Name: "shortcuts 2"}, {Name: "wide 1"}, {Name: "wide 2"}}
	for k := range 2 {
		random := rand.New(rand.NewPCG(7, uint64(k)))
		for len(list[k].Changes) < g.Order()/10 {
			u, v := random.IntN(g.Order()), random.IntN(g.Order())
			known := slices.ContainsFunc(list[k].Changes, func(c graph.Change) bool {
				return c.Source == g.ID(u) && c.Target == g.ID(v) || c.Source == g.ID(v) && c.Target == g.ID(u)
			})
			if u != v && !known {
				list[k].Changes = append(list[k].Changes, graph.Change{Source: g.ID(u), Target: g.ID(v), Weight: 1})
			}
		}
	}
	k := 0
	for e := range g.Edges() {
		wide := &list[2+k%2]
		wide.Changes = append(wide.Changes, graph.Change{Source: g.ID(e.U), Target: g.ID(e.V), Weight: 10 * e.Weight})
		k++
	}
	return list
}

func graphsTable(ctx context.Context, s settings, name string, m *graphcloak.Model, epsilon float64) (table, error) {
	t := table{
		title: fmt.Sprintf("%s, τ = %v, measured readings, equal noise, ε = %v, δ = 0.01, amplitudes as the posterior supposes them and sound sensors. The posterior of the stored graph alone, "+
			"and the one that sums over the stored graph and four listed ones.", name, scenarioTau, epsilon),
		columns: []string{"the process ran on", "right: alone", "summed", "mean confidence: alone", "summed", "ECE: alone", "summed", "coverage of the 95 % set: alone", "summed"},
	}
	listed := m.Settings.Alternatives
	p, err := m.Plan(ctx, graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: epsilon, Delta: .01}, Alpha: 1, Measured: true, Allocation: graphcloak.Allocation{Uniform: true}})
	if err != nil {
		return t, err
	}
	all := [2]*pooled{{}, {}}
	for _, truth := range append([]string{"model"}, namesOf(listed)...) {
		var cells [2]*study.Evaluation
		for k := range cells {
			cells[k], err = study.Evaluate(ctx, m, p, study.Options{
				Trials: s.trials, Seed: s.seed, Scenario: truth, Alternatives: listed,
				Recover: analyst.Options{Amplitude: posterior.UniformAmplitude, FaultRate: new(float64), StoredGraph: k == 0},
			})
			if err != nil {
				return t, err
			}
			all[k].add(cells[k])
		}
		row := []string{truth}
		for _, of := range []func(*study.Evaluation) float64{
			func(e *study.Evaluation) float64 { return e.Right.Rate }, func(e *study.Evaluation) float64 { return e.Calibration.MeanConfidence },
			func(e *study.Evaluation) float64 { return e.Calibration.Error }, func(e *study.Evaluation) float64 { return e.Coverage.Rate },
		} {
			row = append(row, rate(of(cells[0])), rate(of(cells[1])))
		}
		log.Printf("%s: %v", name, row)
		t.rows = append(t.rows, row)
	}
	t.rows[0][0] = "the stored graph"
	row := []string{"each as likely"}
	for k := range all[0].cells() {
		row = append(row, rate(all[0].cells()[k]), rate(all[1].cells()[k]))
	}
	t.rows = append(t.rows, row)
	return t, nil
}

func namesOf(list []graphcloak.Alternative) (names []string) {
	for _, a := range list {
		names = append(names, a.Name)
	}
	return names
}

// pooled are evaluations of as many trials each, taken together.
type pooled struct {
	count                       float64
	right, confidence, coverage float64
	off                         map[float64]float64 // trials right less the sum of confidence, by bin
	trials                      float64
}

func (p *pooled) add(e *study.Evaluation) {
	p.count++
	p.right += e.Right.Rate
	p.confidence += e.Calibration.MeanConfidence
	p.coverage += e.Coverage.Rate
	if p.off == nil {
		p.off = make(map[float64]float64)
	}
	for _, b := range e.Calibration.Bins {
		p.off[b.From] += float64(b.Count) * (b.Right.Rate - b.Confidence)
		p.trials += float64(b.Count)
	}
}

// cells are accuracy, confidence, calibration error and coverage.
func (p *pooled) cells() []float64 {
	off := 0.0
	for _, x := range p.off {
		off += math.Abs(x)
	}
	return []float64{p.right / p.count, p.confidence / p.count, off / p.trials, p.coverage / p.count}
}
