// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// togetherStudy has sensors fail by themselves or together.
func togetherStudy() experiment {
	return experiment{
		name: "together", about: "what a recovery says where sensors fail by themselves, or neighbours together", trials: 60,
		run: runTogether,
	}
}

// failing are the readings of every node in a trial, and the source.
type failing struct {
	name string
	draw func(random *rand.Rand) (readings []float64, source int)
}

// runTogether measures the plans of two noises.
func runTogether(ctx context.Context, s settings) (tables []table, err error) {
	for _, name := range s.chosenGraphs("net3", "grid,rows=12,cols=12") {
		for _, epsilon := range []float64{4, 16} {
			err := instance.With(ctx, s.data, name, faultTau, func(m *graphcloak.Model) error {
				t, err := togetherTable(ctx, s, name, m, epsilon)
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

// togetherTable recovers as a release of measured readings would be.
func togetherTable(ctx context.Context, s settings, name string, m *graphcloak.Model, epsilon float64) (table, error) {
	t := table{
		title: fmt.Sprintf("%s, τ = %v, ε = %v, δ = .1, equal noise, all nodes sensors.", name, faultTau, epsilon),
		columns: []string{
			"readings", "does not fit", "no sign of a source", "named", "right of those", "confident (> .9) and wrong",
			"said: does not fit, poorly, or not if all are sound", "named instead most",
		},
	}
	p, err := m.Plan(ctx, graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: epsilon, Delta: .1}, Alpha: 1, Measured: true})
	if err != nil {
		return t, err
	}
	part, err := m.Partition(ctx)
	if err != nil {
		return t, err
	}
	rate := analyst.DefaultFaultRate
	for _, k := range failings(m, p.Sensors[0].Sigma()) {
		in, seen, instead := analyst.Measurements{Clip: &p.Clip}, map[string]int{}, counts{named: map[string]int{}}
		for trial := range s.trials {
			random := rand.New(rand.NewPCG(s.seed, uint64(trial)))
			y, source := k.draw(random)
			in.Nodes, in.Sigmas, in.Values = nil, nil, nil
			for _, x := range p.Sensors {
				v := min(max(y[x.Node], p.Clip.Lo), p.Clip.Hi) + x.Sigma()*random.NormFloat64()
				in.Nodes, in.Sigmas, in.Values = append(in.Nodes, x.Node), append(in.Sigmas, x.Sigma()), append(in.Values, v)
			}
			rep, err := m.RecoverFrom(ctx, in, analyst.Options{FaultRate: &rate, Sources: analyst.OneOrTwo})
			if err != nil {
				return t, err
			}
			verdict, right := rep.Verdict(), rep.Communities[0].CommunityID == part.Labels[source]
			named := verdict == report.Named || verdict == report.Perhaps
			seen[verdict]++
			seen["named at all"] += one(named)
			seen["right"] += one(named && right)
			seen["wrong"] += one(rep.Answers() && !right && rep.Communities[0].Probability > .9)
			f := rep.Fit
			seen["said"] += one(verdict == report.Misfit || f.PValue < report.PoorFit ||
				f.PValueAllSound != nil && *f.PValueAllSound < report.NoFit)
			if len(f.Alternatives) > 0 && verdict == report.Misfit {
				instead.named[f.Alternatives[0].Name]++
			}
		}
		of := func(what string, all int) string {
			if all == 0 {
				return "–"
			}
			return rated(seen[what], all)
		}
		t.rows = append(t.rows, []string{
			k.name, of(report.Misfit, s.trials), of(report.NoSource, s.trials), of("named at all", s.trials),
			of("right", seen["named at all"]), fmt.Sprintf("%.3f", float64(seen["wrong"])/float64(s.trials)), of("said", s.trials),
			instead.most(),
		})
		log.Printf("%s: | %s |", name, strings.Join(t.rows[len(t.rows)-1], " | "))
	}
	return t, nil
}

func rated(k, n int) string { return rate(float64(k) / float64(n)) }

// failings are heat, and heat with a twentieth of the sensors failing.
func failings(m *graphcloak.Model, sigma float64) []failing {
	g := m.Graph
	n := g.Order()
	few := (n + 19) / 20
	heat := func(random *rand.Rand) ([]float64, int) {
		f, y, i := make([]float64, n), make([]float64, n), random.IntN(n)
		f[i] = 1
		m.Operator.Diffusion.MulVecTo(y, false, f)
		return y, i
	}
	list := []failing{{"heat", heat}}
	fails := func(what string, together bool, reading func(y float64, random *rand.Rand) float64) {
		list = append(list, failing{fmt.Sprintf("heat, %d sensors %s", few, what), func(random *rand.Rand) ([]float64, int) {
			y, i := heat(random)
			which := random.Perm(n)[:few]
			if together {
				which = nearest(g, random.IntN(n), few)
			}
			for _, v := range which {
				y[v] = reading(y[v], random)
			}
			return y, i
		}})
	}
	fails("anywhere read anything", false, func(_ float64, random *rand.Rand) float64 { return random.Float64() })
	fails("anywhere 3.5σ off", false, func(y float64, random *rand.Rand) float64 { return y + 3.5*sigma*float64(1-2*random.IntN(2)) })
	for _, by := range []float64{2, 3, 4, 6} {
		fails(fmt.Sprintf("of one logger %vσ too high", by), true, func(y float64, _ *rand.Rand) float64 { return y + by*sigma })
	}
	return list
}

// nearest returns k nodes around one, by hops.
func nearest(g *graph.Graph, from, k int) []int {
	seen, walk := map[int]bool{from: true}, []int{from}
	for at := 0; at < len(walk) && len(walk) < k; at++ {
		for _, v := range g.Neighbors(walk[at]) {
			if !seen[int(v)] {
				seen[int(v)], walk = true, append(walk, int(v))
			}
		}
	}
	return walk[:min(k, len(walk))]
}
