// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// fitStudy measures how often the test of the fit and that of a source speak up: under the
// model, and where the world is not the model.
func fitStudy() experiment {
	return experiment{"fit", "false alarms and power of the test of the fit, and of that of a source", 200, fitTables}
}

// sourcesStudy measures how often a source is found where there is none.
func sourcesStudy() experiment {
	return experiment{"sources", "false alarms of the test of a source", 1000, sourceTables}
}

// sensed is a model with what its sensors see of every node, and their noise.
type sensed struct {
	m      *graphcloak.Model
	in     analyst.Measurements
	kernel *analyst.Operator
}

// withSensed calls do with a graph under the uniform noise of a plan, all nodes sensors.
func withSensed(ctx context.Context, s settings, name string, tau, delta float64, do func(sensed) error) error {
	return instance.With(ctx, s.data, name, tau, func(m *graphcloak.Model) error {
		p, err := m.Plan(ctx, graphcloak.PlanOptions{
			Budget: privacy.Budget{Epsilon: 4, Delta: delta}, Alpha: 1, Allocation: graphcloak.Allocation{Uniform: true},
		})
		if err != nil {
			return err
		}
		x := sensed{m: m, kernel: m.Operator()}
		for _, sensor := range p.Sensors {
			x.in.Nodes, x.in.Sigmas = append(x.in.Nodes, sensor.Node), append(x.in.Sigmas, sensor.Sigma())
		}
		return do(x)
	})
}

// readings are what the sensors read of source masses after a time, with noise.
func (x sensed) readings(f []float64, tau, loudness float64, random *rand.Rand) ([]float64, error) {
	d, err := x.kernel.Diffusion.WithTau(tau)
	if err != nil {
		return nil, err
	}
	heat := make([]float64, len(f))
	d.MulVecTo(heat, false, f)
	y := make([]float64, len(x.in.Nodes))
	for k, s := range x.in.Nodes {
		y[k] = heat[s] + loudness*x.in.Sigmas[k]*random.NormFloat64()
	}
	return y, nil
}

// misfit is one way in which the world is not the model.
type misfit struct {
	name           string
	sources        int
	mass           float64
	tau, loudness  float64 // times what is supposed
	prior          posterior.Amplitude
	blob           bool // half of the mass is at the neighbours
	stuck          bool // one sensor reads 1
	added, instead float64
}

func misfits() []misfit {
	base := misfit{sources: 1, mass: 1, tau: 1, loudness: 1}
	with := func(name string, change func(m *misfit)) misfit {
		m := base
		m.name = name
		change(&m)
		return m
	}
	return []misfit{
		with("the model", func(*misfit) {}),
		with("the model, amplitude .3", func(m *misfit) { m.mass = .3 }),
		with("no source", func(m *misfit) { m.sources = 0 }),
		with("two sources", func(m *misfit) { m.sources = 2 }),
		with("amplitude .3 where 1 is supposed", func(m *misfit) { m.mass, m.prior = .3, posterior.UnitAmplitude }),
		with("noise 1.5 times as large", func(m *misfit) { m.loudness = 1.5 }),
		with("one sensor stuck at 1", func(m *misfit) { m.stuck = true }),
		with("a background of .05", func(m *misfit) { m.added = .05 }),
		with("every reading .5", func(m *misfit) { m.instead = .5 }),
		with("τ half of what is supposed", func(m *misfit) { m.tau = .5 }),
		with("τ twice what is supposed", func(m *misfit) { m.tau = 2 }),
		with("a blob", func(m *misfit) { m.blob = true }),
	}
}

// draw returns the readings of one trial.
func (w misfit) draw(x sensed, random *rand.Rand) ([]float64, error) {
	n := x.m.Graph.Order()
	f := make([]float64, n)
	for range w.sources {
		i := random.IntN(n)
		near := x.m.Graph.Neighbors(i)
		if !w.blob || len(near) == 0 {
			f[i] += w.mass
			continue
		}
		f[i] += w.mass / 2
		for _, j := range near {
			f[j] += w.mass / 2 / float64(len(near))
		}
	}
	y, err := x.readings(f, w.tau*x.m.Tau, w.loudness, random)
	if err != nil {
		return nil, err
	}
	for k := range y {
		y[k] += w.added
		if w.instead > 0 {
			y[k] = w.instead + x.in.Sigmas[k]*random.NormFloat64()
		}
	}
	if w.stuck {
		k := random.IntN(len(y))
		y[k] = 1 + x.in.Sigmas[k]*random.NormFloat64()
	}
	return y, nil
}

// fitTables counts, for every misfit, how often the fit is poor or none, how often a source
// is found, and how often two are supposed.
func fitTables(ctx context.Context, s settings) (tables []table, err error) {
	for _, name := range s.chosenGraphs("karate", "net3") {
		tau := 4.0
		if name == "karate" {
			tau = 1
		}
		t := table{
			title:   fmt.Sprintf("%s, τ = %v, ε = 4, δ = .01, uniform noise, all nodes sensors, %d trials a row; 95 %% intervals", name, tau, s.trials),
			columns: []string{"world", "p < .05", "p < .001", "a source is found", "two supposed", "the explanation named most where p < .05"},
		}
		err = withSensed(ctx, s, name, tau, .01, func(x sensed) error {
			for _, w := range misfits() {
				row, err := x.judge(ctx, s, w)
				if err != nil {
					return fmt.Errorf("%s: %w", w.name, err)
				}
				t.rows = append(t.rows, row)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// judge recovers from the trials of one misfit.
func (x sensed) judge(ctx context.Context, s settings, w misfit) ([]string, error) {
	var poor, none, found, two int
	named := map[string]int{}
	for trial := range s.trials {
		y, err := w.draw(x, rand.New(rand.NewPCG(s.seed, uint64(trial))))
		if err != nil {
			return nil, err
		}
		in := x.in
		in.Values = y
		rep, err := x.m.RecoverFrom(ctx, in, analyst.Options{Amplitude: w.prior, Sources: analyst.OneOrTwo})
		if err != nil {
			return nil, err
		}
		poor, none = poor+one(rep.Fit.PValue < report.PoorFit), none+one(rep.Fit.PValue < report.NoFit)
		found, two = found+one(rep.Detected()), two+one(rep.Sources.Count == 2)
		if a := rep.Fit.Alternatives; len(a) > 0 {
			named[a[0].Name]++
		}
	}
	most := "–"
	for name, k := range named {
		if k > named[most] || k == named[most] && name < most {
			most = name
		}
	}
	return []string{w.name, share(poor, s.trials), share(none, s.trials), share(found, s.trials), share(two, s.trials), most}, nil
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// share writes k of n with its 95 % interval.
func share(k, n int) string {
	lower, upper := report.ScoreInterval(k, n)
	return fmt.Sprintf("%.3f (%.3f to %.3f)", float64(k)/float64(n), lower, upper)
}

// sourceTables counts how often a source is found where there is none, on eight graphs.
func sourceTables(ctx context.Context, s settings) ([]table, error) {
	t := table{
		title:   fmt.Sprintf("How often a source is found where there is none, at a false-alarm rate of .05; ε = 4, δ = 10⁻⁵, τ = 2, uniform noise, %d trials a graph; 95 %% intervals", s.trials),
		columns: []string{"graph", "found", "threshold of the log odds", "found where there is one of amplitude 1"},
	}
	for _, name := range s.chosenGraphs(
		"karate", "net3", "sbm,n=300,k=3,in=0.1,out=0.002,seed=1", "grid,rows=15,cols=15", "path,n=100", "barabasi-albert,n=300,m=2,seed=1",
		"knn,n=300,k=6,seed=1", "star,n=60",
	) {
		err := withSensed(ctx, s, name, 2, 1e-5, func(x sensed) error {
			row, err := x.alarms(ctx, s, name)
			t.rows = append(t.rows, row)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return []table{t}, nil
}

// alarms holds the log odds of trials against the threshold of the plan.
func (x sensed) alarms(ctx context.Context, s settings, name string) ([]string, error) {
	in := x.in
	in.Values = make([]float64, len(in.Nodes))
	w, err := x.kernel.Whiten(ctx, in)
	if err != nil {
		return nil, err
	}
	norms, err := posterior.ColumnNorms(ctx, w.Data, posterior.Options{})
	if err != nil {
		return nil, err
	}
	opts := posterior.Options{Norms: &norms}
	c, err := posterior.NewCheck(ctx, w.Data, posterior.CheckOptions{Options: opts})
	if err != nil {
		return nil, err
	}
	threshold := c.Threshold(analyst.DefaultFalseAlarm)
	var found [2]int
	for sources := range found {
		for trial := range s.trials {
			y, err := misfit{sources: sources, mass: 1, tau: 1, loudness: 1}.draw(x, rand.New(rand.NewPCG(s.seed, uint64(trial))))
			if err != nil {
				return nil, err
			}
			p, err := posterior.New(ctx, w.WithValues(y).Data, opts)
			if err != nil {
				return nil, err
			}
			found[sources] += one(p.LogPresence > threshold)
		}
	}
	return []string{name, share(found[0], s.trials), fmt.Sprintf("%.2f", threshold), share(found[1], s.trials)}, nil
}
