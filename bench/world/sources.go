// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/report"
)

// sourcesStudy measures how often a source is found where there is none.
func sourcesStudy() experiment {
	return experiment{"sources", "false alarms of the test of a source", 1000, sourceTables}
}

// sourceTables counts how often a source is found where there is none, on eight graphs.
func sourceTables(ctx context.Context, s settings) ([]table, error) {
	t := table{
		title:   fmt.Sprintf("How often a source is found where there is none, at a false-alarm rate of .05; ε = 4, δ = 10⁻⁵, uniform noise, all nodes sensors, %d trials a graph; 95 %% intervals", s.trials),
		columns: []string{"graph", "nodes", "τ", "found", "5 % is within", "threshold of the log odds", "found where there is one of amplitude 1"},
	}
	for _, name := range s.chosenGraphs(
		"karate", "net3", "sbm,n=300,k=3,in=0.1,out=0.002,seed=1", "grid,rows=15,cols=15",
		"barabasi-albert,n=300,m=2,seed=1", "knn,n=300,k=6,seed=1", "minnesota", "net6",
	) {
		tau := sourcesTau(name)
		err := withSensed(ctx, s, name, tau, 1e-5, func(x *sensed) error {
			row, err := x.alarms(ctx, s, name)
			t.rows = append(t.rows, row)
			log.Print(row)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return []table{t}, nil
}

// sourcesTau is the diffusion time of the study of sources: on the two large graphs one at which a
// source is found at all.
func sourcesTau(name string) float64 {
	if name == "minnesota" || name == "net6" {
		return 32
	}
	return 2
}

// alarms holds the log odds of trials against the threshold of the plan.
func (x *sensed) alarms(ctx context.Context, s settings, name string) ([]string, error) {
	opts := x.options(posterior.MixedAmplitude)
	c, err := posterior.NewPresenceTest(ctx, x.whitened.Data, posterior.CheckOptions{Options: opts, FalseAlarm: analyst.DefaultFalseAlarm})
	if err != nil {
		return nil, err
	}
	var found [2]int
	for sources := range found {
		what := inModel()
		what.sources = sources
		w, err := x.world(what)
		if err != nil {
			return nil, err
		}
		var all [][]float64
		for trial := range s.trials {
			y, _, err := w.draw(ctx, rand.New(rand.NewPCG(s.seed, uint64(trial)|1<<62)))
			if err != nil {
				return nil, err
			}
			all = append(all, x.whitened.WithValues(y).Data.Y)
		}
		for _, p := range c.Test(all) {
			found[sources] += one(p.NoSource <= analyst.DefaultFalseAlarm)
		}
	}
	null := c.Presence(0)
	return []string{
		name, fmt.Sprint(x.m.Graph.Order()), fmt.Sprint(x.m.Tau), share(found[0], s.trials), within(found[0], s.trials, analyst.DefaultFalseAlarm),
		fmt.Sprintf("%.2f", null.Threshold(analyst.DefaultFalseAlarm)), share(found[1], s.trials),
	}, nil
}

// within says whether a rate is within the 95 % interval of k of n.
func within(k, n int, rate float64) string {
	if lower, upper := report.ScoreInterval(k, n); lower <= rate && rate <= upper {
		return "yes"
	}
	return "no"
}
