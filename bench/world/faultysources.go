// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"runtime"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/posterior"
)

// faultySourcesStudy measures two sources beside stuck sensors on large graphs.
func faultySourcesStudy() experiment {
	return experiment{name: "faulty-sources", about: "two sources beside stuck sensors, on more than 6,000 nodes", trials: 10, run: runFaultySources}
}

// faultSourcesNoise are the noises of the study, against readings of 1.
func faultSourcesNoise() []float64 { return []float64{.05, .02} }

// runFaultySources draws two sources of amplitude 1 in two communities, and sticks one sensor in a hundred at 1.
func runFaultySources(ctx context.Context, s settings) ([]table, error) {
	t := table{
		title:   fmt.Sprintf("Two sources of amplitude 1 in two communities, τ = %v, a sensor at every node, one in a hundred stuck at 1; %d trials a row.", faultTau, s.trials),
		columns: []string{"graph", "noise", "both named", "told from one", "stuck ones among suspects", "suspects that are stuck", "not mixed", "CPU s, a second?", "CPU s, two"},
	}
	for _, name := range s.chosenGraphs("road-like,n=20000,seed=1") {
		err := instance.With(ctx, s.data, name, faultTau, func(m *graphcloak.Model) error {
			for _, noise := range faultSourcesNoise() {
				row, err := sourcesBesideFaults(ctx, m, s, noise)
				if err != nil {
					return err
				}
				t.rows = append(t.rows, append([]string{name, fmt.Sprint(noise)}, row...))
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return []table{t}, nil
}

// foundSources is what trials of a row add up to.
type foundSources struct {
	both, told, found, stuck, suspects, unmixed int
	second, two                                 float64 // processor seconds
}

// sourcesBesideFaults makes a row.
func sourcesBesideFaults(ctx context.Context, m *graphcloak.Model, s settings, noise float64) ([]string, error) {
	part, err := m.Partition(ctx)
	if err != nil {
		return nil, err
	}
	n := m.Graph.Order()
	var in analyst.Measurements
	for i := range n {
		in.Nodes, in.Sigmas, in.Values = append(in.Nodes, i), append(in.Sigmas, noise), append(in.Values, 0)
	}
	w, err := m.Operator().Whiten(ctx, in)
	if err != nil {
		return nil, err
	}
	f := posterior.Faults{Rate: analyst.DefaultFaultRate, Low: make([]float64, n), High: make([]float64, n)}
	floats.AddConst(1/noise, f.High)
	opts := posterior.Options{Faults: f}
	norms, err := posterior.ColumnNorms(ctx, w.Data, opts)
	if err != nil {
		return nil, err
	}
	opts.Norms = &norms
	var sum foundSources
	for trial := range s.trials {
		r := rand.New(rand.NewPCG(s.seed, uint64(trial)))
		truth, stuck := drawSources(r, w, part.Labels, f.High)
		if err := sum.add(ctx, w, opts, part.Labels, truth, stuck); err != nil {
			return nil, err
		}
		log.Printf("trial %d: %+v", trial, sum)
	}
	k := float64(s.trials)
	share := func(x, of int) string { return fmt.Sprintf("%.2f", float64(x)/float64(max(1, of))) }
	return []string{
		share(sum.both, s.trials), share(sum.told, s.trials), share(sum.found, sum.stuck), share(sum.found, sum.suspects),
		fmt.Sprint(sum.unmixed), fmt.Sprintf("%.1f", sum.second/k), fmt.Sprintf("%.1f", sum.two/k),
	}, nil
}

// drawSources sets the measurements, and returns the communities of the sources and which sensors are stuck.
func drawSources(r *rand.Rand, w *analyst.Whitened, labels []int, high []float64) (truth [2]int, stuck []bool) {
	n := len(labels)
	unit := make([]float64, n)
	for k := range truth {
		i := r.IntN(n)
		for unit[i] != 0 || k > 0 && labels[i] == truth[0] {
			i = r.IntN(n)
		}
		unit[i], truth[k] = 1, labels[i]
	}
	w.Data.A.MulVecTo(w.Data.Y, false, unit)
	stuck = make([]bool, n)
	for i := range stuck {
		if stuck[i] = r.IntN(100) == 0; stuck[i] {
			w.Data.Y[i] = high[i]
		}
		w.Data.Y[i] += r.NormFloat64()
	}
	return truth, stuck
}

// add adds a trial.
func (f *foundSources) add(ctx context.Context, w *analyst.Whitened, opts posterior.Options, labels []int, truth [2]int, stuck []bool) error {
	runtime.GC()
	from := userSeconds()
	second, err := posterior.Second(ctx, w.Data, opts)
	if err != nil {
		return err
	}
	at := userSeconds()
	f.second += at - from
	if second >= 3 {
		f.told++
	}
	two, named, err := namedSources(ctx, w, opts, labels, truth)
	if err != nil {
		return err
	}
	f.two += userSeconds() - at
	f.both += one(named)
	f.unmixed += one(two.RHat > 1.01 || two.ESS < 400)
	for i, p := range two.Faulty {
		f.stuck += one(stuck[i])
		f.suspects += one(p > .5)
		f.found += one(stuck[i] && p > .5)
	}
	return nil
}

// namedSources samples two sources, and reports whether the two likeliest communities are theirs.
func namedSources(ctx context.Context, w *analyst.Whitened, opts posterior.Options, labels []int, truth [2]int) (*posterior.Sample, bool, error) {
	s, err := posterior.NewSample(ctx, w.Data, posterior.SampleOptions{Options: opts, Sources: 2})
	if err != nil {
		return nil, false, err
	}
	groups, err := s.Groups(labels)
	if err != nil {
		return nil, false, err
	}
	for range 2 {
		best := floats.MaxIdx(groups)
		if best != truth[0] && best != truth[1] {
			return s, false, nil
		}
		groups[best] = -1
	}
	return s, true, nil
}
