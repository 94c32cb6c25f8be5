// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// fitStudy measures how often the test of the fit and that of a source speak up: under the
// model, and where the world is not the model.
func fitStudy() experiment {
	return experiment{"fit", "false alarms and power of the test of the fit, and of that of a source", 1000, fitTables}
}

// sourcesStudy measures how often a source is found where there is none.
func sourcesStudy() experiment {
	return experiment{"sources", "false alarms of the test of a source", 1000, sourceTables}
}

// sensed is a model with what its sensors see of every node, and their noise.
type sensed struct {
	m        *graphcloak.Model
	in       analyst.Measurements
	whitened *analyst.Whitened
	norms    posterior.Norms
}

// withSensed calls do with a graph under the uniform noise of a plan, all nodes sensors.
func withSensed(ctx context.Context, s settings, name string, tau, delta float64, do func(*sensed) error) error {
	return instance.With(ctx, s.data, name, tau, func(m *graphcloak.Model) error {
		p, err := m.Plan(ctx, graphcloak.PlanOptions{
			Budget: privacy.Budget{Epsilon: 4, Delta: delta}, Alpha: 1, Allocation: graphcloak.Allocation{Uniform: true},
		})
		if err != nil {
			return err
		}
		x := &sensed{m: m}
		for _, sensor := range p.Sensors {
			x.in.Nodes, x.in.Sigmas = append(x.in.Nodes, sensor.Node), append(x.in.Sigmas, sensor.Sigma())
		}
		in := x.in
		in.Values = make([]float64, len(in.Nodes))
		if x.whitened, err = m.Operator().Whiten(ctx, in); err != nil {
			return err
		}
		if x.norms, err = posterior.ColumnNorms(ctx, x.whitened.Data, posterior.Options{}); err != nil {
			return err
		}
		return do(x)
	})
}

// options are those of a posterior with one prior of the amplitude.
func (x *sensed) options(a posterior.Amplitude) posterior.Options {
	return posterior.Options{Amplitude: a, Prior: x.m.Prior, Norms: &x.norms}
}

// misfit is one way in which the world is not the model.
type misfit struct {
	name     string
	sources  int
	mass     float64
	tau      float64 // times what is supposed
	loudness float64 // of the noise, times what is supposed
	weights  float64 // share by which each weight is off at most
	absent   float64 // share of the relationships that are not there
	prior    posterior.Amplitude
	blob     bool    // half of the mass is at the neighbours
	stuck    float64 // share of the sensors that read 1, at least one
	added    float64 // to every reading
	instead  float64 // every reading
	costly   bool    // most trials take the search for two sources: a fifth of them is made
}

// inModel is the world as it is supposed to be.
func inModel() misfit { return misfit{sources: 1, mass: 1, tau: 1, loudness: 1} }

func misfits() []misfit {
	with := func(name string, change func(m *misfit)) misfit {
		m := inModel()
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
		with("noise 1.5 times as large", func(m *misfit) { m.loudness, m.costly = 1.5, true }),
		with("one sensor stuck at 1", func(m *misfit) { m.stuck, m.costly = 1e-9, true }),
		with("3 % of the sensors stuck at 1", func(m *misfit) { m.stuck, m.costly = .03, true }),
		with("a background of .05", func(m *misfit) { m.added, m.costly = .05, true }),
		with("every reading .5", func(m *misfit) { m.instead, m.costly = .5, true }),
		with("τ half of what is supposed", func(m *misfit) { m.tau = .5 }),
		with("τ twice what is supposed", func(m *misfit) { m.tau = 2 }),
		with("each weight up to 20 % off", func(m *misfit) { m.weights = .2 }),
		with("5 % of the relationships absent", func(m *misfit) { m.absent = .05 }),
		with("a blob", func(m *misfit) { m.blob = true }),
	}
}

// world is what happens under a misfit: the diffusion of a graph and a time.
type world struct {
	misfit
	x         *sensed
	diffusion *expm.Diffusion // where it is the same in all trials
}

func (x *sensed) world(w misfit) (*world, error) {
	d := x.m.Operator().Diffusion
	var err error
	if w.tau != 1 {
		d, err = d.WithTau(w.tau * x.m.Tau)
	}
	return &world{w, x, d}, err
}

// diffuse returns the diffusion of a trial: weights and absent relationships are drawn anew.
func (w *world) diffuse(ctx context.Context, random *rand.Rand) (*expm.Diffusion, error) {
	g := w.x.m.Graph
	var err error
	switch {
	case w.weights > 0:
		g, err = g.Reweigh(func(e graph.Edge) float64 { return e.Weight * (1 + w.weights*(2*random.Float64()-1)) })
	case w.absent > 0:
		gone := make(map[int]bool)
		for _, k := range random.Perm(g.Size())[:int(math.Ceil(w.absent*float64(g.Size())))] {
			gone[k] = true
		}
		at := -1
		g = g.FilterEdges(func(graph.Edge) bool { at++; return !gone[at] })
	default:
		return w.diffusion, nil
	}
	if err != nil {
		return nil, err
	}
	return expm.New(ctx, laplacian.New(g, w.x.m.Settings.Laplacian), w.x.m.Tau, expm.Options{Method: w.x.m.Method})
}

// draw returns the readings of one trial, with noise.
func (w *world) draw(ctx context.Context, random *rand.Rand) ([]float64, error) {
	x, n := w.x, w.x.m.Graph.Order()
	f, heat := make([]float64, n), make([]float64, n)
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
	d, err := w.diffuse(ctx, random)
	if err != nil {
		return nil, err
	}
	d.MulVecTo(heat, false, f)
	y := make([]float64, len(x.in.Nodes))
	for k, s := range x.in.Nodes {
		y[k] = heat[s] + w.added
		if w.instead > 0 {
			y[k] = w.instead
		}
	}
	if w.stuck > 0 {
		for _, k := range random.Perm(len(y))[:int(math.Ceil(w.stuck*float64(len(y))))] {
			y[k] = 1
		}
	}
	for k := range y {
		y[k] += w.loudness * x.in.Sigmas[k] * random.NormFloat64()
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
			title:   fmt.Sprintf("%s, τ = %v, ε = 4, δ = .01, uniform noise, all nodes sensors; 95 %% intervals", name, tau),
			columns: []string{"world", "trials", "p < .05", "p < .001", "a source is found", "two supposed", "the explanation named most where p < .05"},
		}
		err = withSensed(ctx, s, name, tau, .01, func(x *sensed) error {
			if err := x.whitened.ComputeSpectrum(ctx, analyst.Options{}.Rule); err != nil {
				return err
			}
			for _, w := range misfits() {
				row, err := x.judge(ctx, s, w)
				if err != nil {
					return fmt.Errorf("%s: %w", w.name, err)
				}
				log.Printf("%s: %v", name, row)
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

// verdict is what a recovery says of one trial.
type verdict struct {
	pValue  float64 // of the fit: where it is not poor, no more than a bound
	found   bool    // a source
	sources int
	first   string // explanation; "" where the fit is not poor
}

// judge recovers from the trials of one misfit.
func (x *sensed) judge(ctx context.Context, s settings, w misfit) ([]string, error) {
	checker, err := x.whitened.NewChecker(ctx, x.options(w.prior), analyst.DefaultFalseAlarm)
	if err != nil {
		return nil, err
	}
	happens, err := x.world(w)
	if err != nil {
		return nil, err
	}
	if w.costly {
		s.trials = max(1, s.trials/5)
	}
	var poor, none, found, two int
	named := map[string]int{}
	for trial := range s.trials {
		y, err := happens.draw(ctx, rand.New(rand.NewPCG(s.seed, uint64(trial))))
		if err != nil {
			return nil, err
		}
		v, err := x.verdict(ctx, checker, y, w.prior)
		if err != nil {
			return nil, err
		}
		poor, none = poor+one(v.pValue < report.PoorFit), none+one(v.pValue < report.NoFit)
		found, two = found+one(v.found), two+one(v.sources == 2)
		if v.first != "" {
			named[v.first]++
		}
	}
	most := "–"
	for name, k := range named {
		if k > named[most] || k == named[most] && name < most {
			most = name
		}
	}
	return []string{w.name, fmt.Sprint(s.trials), share(poor, s.trials), share(none, s.trials), share(found, s.trials), share(two, s.trials), most}, nil
}

// verdict is that of a recovery, which is made where more than one source may be supposed or the fit
// is poor; else the same tests say all that is asked.
func (x *sensed) verdict(ctx context.Context, checker *posterior.Checker, y []float64, prior posterior.Amplitude) (v verdict, err error) {
	d := x.whitened.WithValues(y).Data
	second, err := posterior.Second(ctx, d, x.options(prior))
	if err != nil {
		return v, err
	}
	if second < -math.Log(analyst.DefaultFalseAlarm) {
		if c := checker.Check(d.Y, report.PoorFit); c.Fit >= report.PoorFit {
			return verdict{pValue: c.Fit, found: c.NoSource <= analyst.DefaultFalseAlarm, sources: 1}, nil
		}
	}
	in := x.in
	in.Values = y
	rep, err := x.m.RecoverFrom(ctx, in, analyst.Options{Amplitude: prior, Sources: analyst.OneOrTwo})
	if err != nil {
		return v, err
	}
	v = verdict{pValue: rep.Fit.PValue, found: rep.Detected(), sources: rep.Sources.Count}
	if a := rep.Fit.Alternatives; len(a) > 0 {
		v.first = a[0].Name
	}
	return v, nil
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
		title:   fmt.Sprintf("How often a source is found where there is none, at a false-alarm rate of .05; ε = 4, δ = 10⁻⁵, uniform noise, all nodes sensors, %d trials a graph; 95 %% intervals", s.trials),
		columns: []string{"graph", "nodes", "τ", "found", "threshold of the log odds", "found where there is one of amplitude 1"},
	}
	for _, name := range s.chosenGraphs(
		"karate", "net3", "minnesota", "net6", "sbm,n=300,k=3,in=0.1,out=0.002,seed=1", "grid,rows=15,cols=15",
		"barabasi-albert,n=300,m=2,seed=1", "knn,n=300,k=6,seed=1",
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
	c, err := x.whitened.NewChecker(ctx, opts, analyst.DefaultFalseAlarm)
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
		for trial := range s.trials {
			y, err := w.draw(ctx, rand.New(rand.NewPCG(s.seed, uint64(trial))))
			if err != nil {
				return nil, err
			}
			p, err := posterior.New(ctx, x.whitened.WithValues(y).Data, opts)
			if err != nil {
				return nil, err
			}
			found[sources] += one(c.Presence(p.LogPresence).NoSource <= analyst.DefaultFalseAlarm)
		}
	}
	null := c.Presence(0)
	return []string{
		name, fmt.Sprint(x.m.Graph.Order()), fmt.Sprint(x.m.Tau), share(found[0], s.trials),
		fmt.Sprintf("%.2f", null.Threshold(analyst.DefaultFalseAlarm)), share(found[1], s.trials),
	}, nil
}
