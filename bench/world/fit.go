// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/report"
)

// fitStudy measures how often the test of the fit and that of a source speak up: under the
// model, and where the world is not the model.
func fitStudy() experiment {
	return experiment{"fit", "false alarms and power of the test of the fit, and of that of a source", 1000, fitTables}
}

// sensed is a model with what its sensors see of every node, and their noise.
type sensed struct {
	m        *graphcloak.Model
	in       analyst.Measurements
	whitened *analyst.Whitened
	norms    posterior.Norms
	laws     map[posterior.Amplitude][]*posterior.Checker
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
		x := &sensed{m: m, laws: map[posterior.Amplitude][]*posterior.Checker{}}
		for _, sensor := range p.Sensors {
			x.in.Nodes, x.in.Sigmas = append(x.in.Nodes, sensor.Node), append(x.in.Sigmas, sensor.Sigma())
		}
		in := x.in
		in.Values = make([]float64, len(in.Nodes))
		if x.whitened, err = m.Operator.Whiten(ctx, in); err != nil {
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

// Laws of each plan that the trials are held against in turn, how many times the trials of the other rows that of the
// model has, and the number of poor fits for which an explanation is looked for.
const (
	laws      = 20
	nullTimes = 10
	explained = 100
)

// fitTables counts, for every misfit, how often the fit is poor or none, how often a source
// is found, and how often two are supposed.
func fitTables(ctx context.Context, s settings) (tables []table, err error) {
	for _, name := range s.chosenGraphs("karate", "net3", "grid,rows=8,cols=8") {
		tau := 4.0
		if name == "karate" {
			tau = 1
		}
		t := table{
			title: fmt.Sprintf("%s, τ = %v, ε = 4, δ = .01, uniform noise, all nodes sensors; 95 %% intervals", name, tau),
			columns: []string{
				"world", "trials", "p < .05", "best possible", "p < .001", "best possible",
				"a source is found", "two supposed", "the explanation named most where p < .05 first",
			},
		}
		err = withSensed(ctx, s, name, tau, .01, func(x *sensed) error {
			if err := x.whitened.ComputeSpectrum(ctx); err != nil {
				return err
			}
			for k, w := range misfits() {
				own := s
				if k == 0 {
					own.trials *= nullTimes
				}
				row, err := x.judge(ctx, own, w)
				if err != nil {
					return fmt.Errorf("%s: %w", w.name, err)
				}
				log.Printf("%s: | %s |", name, strings.Join(row, " | "))
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
	pValue  float64 // of the fit
	found   bool    // a source
	sources int
	first   string // explanation; "" where the fit is not poor
}

// counts are of the verdicts on trials.
type counts struct {
	poor, none, found, two int
	named                  map[string]int
}

func (c *counts) add(v verdict) {
	c.poor, c.none = c.poor+one(v.pValue < report.PoorFit), c.none+one(v.pValue < report.NoFit)
	c.found, c.two = c.found+one(v.found), c.two+one(v.sources == 2)
	if v.first != "" {
		c.named[v.first]++
	}
}

// most returns the explanation that is named most.
func (c *counts) most() string {
	most := "–"
	for name, k := range c.named {
		if k > c.named[most] || k == c.named[most] && name < most {
			most = name
		}
	}
	return most
}

// checkers simulate the laws of a plan, under one prior of the amplitude.
func (x *sensed) checkers(ctx context.Context, prior posterior.Amplitude) ([]*posterior.Checker, error) {
	if list, ok := x.laws[prior]; ok {
		return list, nil
	}
	var list []*posterior.Checker
	for law := range uint64(laws) {
		c, err := x.whitened.NewChecker(ctx, x.options(prior), analyst.DefaultFalseAlarm, law)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	x.laws[prior] = list
	return list, nil
}

// judge recovers from the trials of one misfit.
func (x *sensed) judge(ctx context.Context, s settings, w misfit) ([]string, error) {
	checkers, err := x.checkers(ctx, w.prior)
	if err != nil {
		return nil, err
	}
	happens, err := x.world(w)
	if err != nil {
		return nil, err
	}
	ratio, err := happens.ratio(ctx)
	if err != nil {
		return nil, err
	}
	seen, ratios := counts{named: map[string]int{}}, []float64(nil)
	for trial := range s.trials {
		y, d, err := happens.draw(ctx, rand.New(rand.NewPCG(s.seed, uint64(trial))))
		if err != nil {
			return nil, err
		}
		v, err := x.verdict(ctx, checkers[trial%laws], y, w.prior, seen.poor < explained)
		if err != nil {
			return nil, err
		}
		seen.add(v)
		if w.within {
			continue
		}
		l, err := ratio(y, d)
		if err != nil {
			return nil, err
		}
		ratios = append(ratios, l)
	}
	best := func(level float64) string {
		if w.within {
			return "–"
		}
		return fmt.Sprintf("%.*f", digits(level), ceiling(ratios, level))
	}
	return []string{
		w.name, fmt.Sprint(s.trials), share(seen.poor, s.trials), best(report.PoorFit), shareTo(digits(report.NoFit), seen.none, s.trials),
		best(report.NoFit),
		share(seen.found, s.trials), share(seen.two, s.trials), seen.most(),
	}, nil
}

// verdict is that of a recovery, which is made where more than one source may be supposed; else the same tests
// say all that is asked.
func (x *sensed) verdict(ctx context.Context, checker *posterior.Checker, y []float64, prior posterior.Amplitude,
	explain bool,
) (v verdict, err error) {
	w, opts := x.whitened.WithValues(y), x.options(prior)
	second, err := posterior.Second(ctx, w.Data, opts)
	if err != nil {
		return v, err
	}
	one := second < -math.Log(analyst.DefaultFalseAlarm)
	if !one {
		better, err := w.Simpler(ctx, opts)
		if err != nil {
			return v, err
		}
		one = better != ""
	}
	if one {
		c := checker.Check(w.Data.Y)
		v = verdict{pValue: c.Fit, found: c.NoSource <= analyst.DefaultFalseAlarm, sources: 1}
		if v.pValue >= report.PoorFit || !explain {
			return v, nil
		}
		list, err := w.Explanations(ctx, opts, c.LogPresence)
		v.first = list[0].Name
		return v, err
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

// digits are those after the point that shares at a level are written with.
func digits(level float64) int {
	if level < .01 {
		return 4
	}
	return 3
}

// share writes k of n with its 95 % interval.
func share(k, n int) string { return shareTo(3, k, n) }

func shareTo(digits, k, n int) string {
	lower, upper := report.ScoreInterval(k, n)
	return fmt.Sprintf("%.*f (%.*f to %.*f)", digits, float64(k)/float64(n), digits, lower, digits, upper)
}
