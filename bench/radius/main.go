// SPDX-License-Identifier: Apache-2.0

// Command radius compares the rules for the radius of Basis Pursuit Denoising on the
// same simulated releases, and writes the table of docs/explanation/radius.md:
//
//	go run ./bench/radius              every setting: ten minutes on two cores
//	go run ./bench/radius karate       the settings with this text in their name
//
// A source of amplitude 1 stands at a random node; noise is uniform, at ε = 4 and
// δ = 0.1, drawn by the sampler of a release. Seeds are fixed, so that a row can be
// repeated.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/study"
)

var data = flag.String("data", "examples/data", "folder of the graphs")

// setting is a graph, or several of a generator, and how it is released from.
type setting struct {
	name, graph string
	tau         float64
	calibration privacy.Calibration // nil: analytic
	graphs      int                 // seeds from 1 on, where the graph is generated
	each        int                 // trials on each
}

const two, five = "sbm,n=500,k=2,in=0.05,out=0.001,seed=%d", "sbm,n=500,k=5,in=0.1,out=0.002,seed=%d"

var settings = []setting{
	{"block model, n = 500, 2 communities, τ = 2", two, 2, nil, 20, 50},
	{"the same at the paper's σ", two, 2, privacy.Paper{}, 20, 50},
	{"block model, n = 500, 5 communities, τ = 4", five, 4, nil, 20, 50},
	{"karate, τ = 1", "karate", 1, nil, 1, 1000},
	{"net3, τ = 1", "net3", 1, nil, 1, 1000},
	{"net3, τ = 4", "net3", 4, nil, 1, 1000},
	{"minnesota, τ = 4", "minnesota", 4, nil, 1, 1000},
	{"minnesota, τ = 16", "minnesota", 16, nil, 1, 1000},
	{"net6, τ = 4", "net6", 4, nil, 1, 200},
	{"road-like, n = 7,000, τ = 4", "road-like,n=7000,seed=%d", 4, nil, 1, 100},
	{"road-like, n = 7,000, τ = 16", "road-like,n=7000,seed=%d", 16, nil, 1, 100},
}

var rules = []recovery.RuleKind{recovery.Paper, recovery.Projected, recovery.Auto, recovery.NormalEquations}

func main() {
	flag.Parse()
	fmt.Print("| setting | trials |")
	for _, kind := range rules {
		fmt.Printf(" %v |", kind)
	}
	fmt.Println(" posterior |")
	fmt.Println(strings.Repeat("|---", len(rules)+3) + "|")
	for _, s := range settings {
		if !strings.Contains(s.name, flag.Arg(0)) {
			continue
		}
		start := time.Now()
		if err := s.run(context.Background()); err != nil {
			log.Fatalf("%s: %v", s.name, err)
		}
		log.Printf("%s: %v", s.name, time.Since(start).Round(time.Second))
	}
}

// run writes a row: for each rule answers, right communities and the mean distance of
// the answers; for the posterior, which always answers, the last two.
func (s setting) run(ctx context.Context) error {
	trials := make([][]study.Trial, len(rules))
	for seed := 1; seed <= s.graphs; seed++ {
		name := s.graph
		if strings.Contains(name, ",") {
			name = fmt.Sprintf(name, seed)
		}
		if err := instance.With(ctx, *data, name, s.tau, func(m *graphcloak.Model) error {
			return s.simulate(ctx, m, uint64(seed), trials)
		}); err != nil {
			return err
		}
	}
	fmt.Printf("| %s | %d |", s.name, len(trials[0]))
	for _, list := range trials {
		f, err := study.Summarize(list, 1)
		if err != nil {
			return err
		}
		d, distance := f.BPDN, "–"
		if d.MeanEMD != nil {
			distance = fmt.Sprintf("%.2f", *d.MeanEMD)
		}
		fmt.Printf(" %.3f / %.3f / %s |", d.Answered.Rate, d.Right.Rate, distance)
	}
	f, err := study.Summarize(trials[0], 1)
	if err != nil {
		return err
	}
	fmt.Printf(" %.3f / %.2f |\n", f.Right.Rate, f.MeanEMD)
	return nil
}

// simulate adds the trials on one graph, the same releases for every rule.
func (s setting) simulate(ctx context.Context, m *graphcloak.Model, seed uint64, trials [][]study.Trial) error {
	options := graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: 4, Delta: .1}, Alpha: 1, Calibration: s.calibration}
	options.Allocation.Uniform = true
	p, err := m.Plan(ctx, options)
	if err != nil {
		return err
	}
	for i, kind := range rules {
		e, err := study.Evaluate(ctx, m, p, study.Options{
			Trials: s.each, Seed: seed, Amplitude: 1, Denoise: true,
			Recover: analyst.Options{Rule: recovery.Rule{Kind: kind}},
		})
		if err != nil {
			return err
		}
		trials[i] = append(trials[i], e.Outcomes...)
	}
	return nil
}
