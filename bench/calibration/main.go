// SPDX-License-Identifier: Apache-2.0

// Command calibration measures how often the posterior names the right community
// and what its confidence is worth, and writes the tables of
// docs/explanation/calibration.md:
//
//	go run ./bench/calibration karate net3 net6 minnesota figure
//
// On the graphs of examples/data a source stands at every node in turn, several
// times. figure is the paper's: block models of 500 nodes with two communities, 5 %
// inside and 0.1 % across. Noise is that of a plan and of its uniform counterpart,
// drawn by the sampler of a release. Seeds are fixed, so that a row can be repeated.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/allocation"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/study"
)

var (
	data    = flag.String("data", "examples/data", "folder of the graphs")
	least   = flag.Int("trials", 2000, "least number of trials on a graph; every node is a source equally often")
	rounds  = flag.Int("rounds", 2, "least number of trials at a node")
	graphs  = flag.Int("graphs", 20, "block models of the figure")
	each    = flag.Int("each", 100, "trials on each of them")
	epsilon = flag.Float64("epsilon", 4, "ε")
	delta   = flag.Float64("delta", .1, "δ")
)

// setting is what sources are and what the posterior supposes.
type setting struct {
	amplitude float64 // 0: uniform in [0, 1]
	assumed   posterior.Amplitude
	name      string
}

var settings = []setting{
	{1, posterior.UnitAmplitude, "1 / 1"},
	{1, posterior.UniformAmplitude, "1 / uniform"},
	{0, posterior.UniformAmplitude, "uniform / uniform"},
}

func main() {
	flag.Parse()
	fmt.Println("| graph | τ | noise | sensors | sources / posterior | trials | right | confidence | ECE | if calibrated | coverage | set | stands out | then right |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, name := range flag.Args() {
		start := time.Now()
		var err error
		if name == "figure" {
			err = figure(context.Background())
		} else {
			err = example(context.Background(), name)
		}
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		log.Printf("%s: %v", name, time.Since(start).Round(time.Second))
	}
}

// example measures a graph of the folder of graphs.
func example(ctx context.Context, name string) error {
	tau := 4.0
	if name == "karate" {
		tau = 1
	}
	return instance.With(ctx, *data, name, tau, func(m *graphcloak.Model) error {
		p, err := plan(ctx, m, false)
		if err != nil {
			return err
		}
		sources := make([]int, m.Graph.Order())
		for i := range sources {
			sources[i] = i
		}
		times := max(*rounds, (*least+len(sources)-1)/len(sources))
		for _, x := range settings {
			e, err := study.Evaluate(ctx, m, p, study.Options{
				Trials: times * len(sources), Seed: 1, Amplitude: x.amplitude, Sources: sources,
				Recover: analyst.Options{Amplitude: x.assumed, FalseAlarm: 1},
			})
			if err != nil {
				return err
			}
			if e.Uniform != nil {
				print(name, tau, p.Allocated.Objective.String(), x.name, e.Trials, e.Performance)
				print(name, tau, "uniform", x.name, e.Trials, e.Uniform)
			} else {
				print(name, tau, "uniform", x.name, e.Trials, e.Performance)
			}
		}
		return nil
	})
}

// plan makes the plan of a graph. On thousands of nodes the objective is separation,
// which takes seconds and has a proof; elsewhere it is the tool's own choice.
func plan(ctx context.Context, m *graphcloak.Model, uniform bool) (*graphcloak.Plan, error) {
	options := graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: *epsilon, Delta: *delta}, Alpha: 1}
	options.Allocation.Uniform = uniform
	if m.Graph.Order() > 1000 {
		options.Allocation.Objective = allocation.Separation
	}
	return m.Plan(ctx, options)
}

// figure measures the paper's graph figure: uniform noise, as there, and the planted
// communities.
func figure(ctx context.Context) error {
	trials := make([][]study.Trial, len(settings))
	for seed := range *graphs {
		if err := block(ctx, seed+1, trials); err != nil {
			return err
		}
	}
	for i, x := range settings {
		f, err := study.Summarize(trials[i], 1)
		if err != nil {
			return err
		}
		f.SensorCount = 500
		print("figure", 2, "uniform", x.name, len(trials[i]), f)
	}
	return nil
}

// block adds the trials of one block model.
func block(ctx context.Context, seed int, trials [][]study.Trial) error {
	name := fmt.Sprintf("sbm,n=500,k=2,in=0.05,out=0.001,seed=%d", seed)
	return instance.With(ctx, *data, name, 2, func(m *graphcloak.Model) error {
		p, err := plan(ctx, m, true)
		if err != nil {
			return err
		}
		for i, x := range settings {
			e, err := study.Evaluate(ctx, m, p, study.Options{
				Trials: *each, Seed: uint64(seed), Amplitude: x.amplitude,
				Recover: analyst.Options{Amplitude: x.assumed, FalseAlarm: 1},
			})
			if err != nil {
				return err
			}
			trials[i] = append(trials[i], e.Outcomes...)
		}
		return nil
	})
}

// print writes a row.
func print(name string, tau float64, noise, amplitudes string, trials int, f *study.Performance) {
	c := f.Calibration
	then := "–"
	if f.RightAnswers != nil {
		then = fmt.Sprintf("%.3f", f.RightAnswers.Rate)
	}
	fmt.Printf("| %s | %v | %s | %d | %s | %d | %.3f (%.3f – %.3f) | %.3f | %.3f (%.3f – %.3f) | %.3f | %.3f (%.3f – %.3f) | %.1f | %.3f | %s |\n",
		name, tau, noise, f.SensorCount, amplitudes, trials, f.Right.Rate, f.Right.Lower, f.Right.Upper, c.MeanConfidence,
		c.Error, c.Lower, c.Upper, c.Limit, f.Coverage.Rate, f.Coverage.Lower, f.Coverage.Upper, f.CredibleSetSize, f.Answered.Rate, then)
}
