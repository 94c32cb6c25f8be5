// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/suggest"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
)

// Scenario is a way in which what happens differs from the model that the plan and the
// posterior rest on.
type Scenario struct {
	Name  string
	About string // what is so, in a few words

	tau     float64 // factor of τ; 0: 1
	weights bool
	absent  float64 // share of the relationships
	blob    bool
	sources int     // further ones; −1: none at all
	fault   fault   // nil: every sensor is sound
	floor   float64 // added to every reading
	changes []graph.Change
}

// fault is what a broken sensor reads in place of y; clip is the range that readings are clipped to.
type fault func(random *rand.Rand, y float64, clip privacy.Interval) float64

// brokenShare is the share of the reporting sensors that break together.
const brokenShare = .02

// drift is how far a drifting sensor is off at most, as a share of the range of readings.
const drift = .3

func drifting(random *rand.Rand, y float64, clip privacy.Interval) float64 {
	off := drift * (clip.Hi - clip.Lo) * (2*random.Float64() - 1)
	return min(max(y+off, clip.Lo), clip.Hi)
}

// OnAlternative is the scenario in which the process runs on another graph.
func OnAlternative(a plan.Alternative) Scenario {
	var shown []string
	for _, c := range a.Changes[:min(len(a.Changes), shownChanges)] {
		what := fmt.Sprintf("weighs %v", c.Weight)
		if c.Weight == 0 {
			what = "is absent"
		}
		shown = append(shown, fmt.Sprintf("%q–%q %s", c.Source, c.Target, what))
	}
	about := "the process runs on a graph in which " + strings.Join(shown, " and ")
	if more := len(a.Changes) - len(shown); more > 0 {
		about += fmt.Sprintf(", and %d more changed", more)
	}
	return Scenario{Name: a.Name, About: about, changes: a.Changes}
}

// shownChanges is how many changes of a graph a scenario names.
const shownChanges = 2

// Sourceless reports whether there is nothing to be found.
func (s Scenario) Sourceless() bool { return s.sources < 0 }

// Scenarios lists all of them; the first is the model itself.
func Scenarios() []Scenario {
	return []Scenario{
		{Name: "model", About: "the process is the model"},
		{Name: "tau-half", About: "τ is half of what is supposed", tau: .5},
		{Name: "tau-double", About: "τ is twice what is supposed", tau: 2},
		{Name: "weights", About: "each weight, by itself, is up to 20 % off", weights: true},
		{Name: "relationships", About: "5 % of the relationships are absent in truth", absent: .05},
		{Name: "blob", About: "half of the source's mass is at its neighbours", blob: true},
		{
			Name: "faulty-sensors", About: "2 % of the reporting sensors, at least one, are stuck at the highest reading",
			fault: func(_ *rand.Rand, _ float64, clip privacy.Interval) float64 { return clip.Hi },
		},
		{
			Name: "silent-sensors", About: "2 % of the reporting sensors, at least one, read zero",
			fault: func(*rand.Rand, float64, privacy.Interval) float64 { return 0 },
		},
		{
			Name: "drifting-sensors", About: "2 % of the reporting sensors, at least one, are off by up to 30 % of the range of readings",
			fault: drifting,
		},
		{Name: "background", About: "every reading is .05 too high", floor: .05},
		{Name: "two-sources", About: "there is a second source, as strong", sources: 1},
		{Name: "no-source", About: "there is no source", sources: -1},
	}
}

// weightRange is how far a weight is off at most, as a share of it.
const weightRange = .2

// operator multiplies k row-major columns by M, or by Mᵀ.
type operator interface {
	Dims() (r, c int)
	Apply(ctx context.Context, dst []float64, trans bool, x []float64, k int) error
}

// operatorOf returns the matrix of an operator.
func operatorOf(o *analyst.Operator) operator {
	if o.Given != nil {
		return o.Given
	}
	return o.Diffusion
}

// process is the operator of what happens, one for all trials, and its e^{-τL}, nil with a given operator.
func (s *Scenario) process(ctx context.Context, m *plan.Model, seed uint64) (operator, *expm.Diffusion, error) {
	if s.tau == 0 && !s.weights && s.absent == 0 && s.changes == nil {
		return operatorOf(m.Operator), m.Operator.Diffusion, nil
	}
	if m.Operator.Given != nil {
		return nil, nil, fmt.Errorf("%w: the scenario %q changes a graph Laplacian, and the operator is given", recovery.ErrInvalid, s.Name)
	}
	g, err := s.graph(m.Graph, rand.New(rand.NewPCG(seed, math.MaxUint64-1)))
	if err != nil {
		return nil, nil, err
	}
	d, err := expm.New(ctx, laplacian.New(g, m.Settings.Laplacian), m.Tau.Value()*cmp.Or(s.tau, 1), expm.Options{Method: m.Method})
	if err != nil {
		return nil, nil, fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	return d, d, nil
}

// graph is the one on which the process runs.
func (s *Scenario) graph(g *graph.Graph, random *rand.Rand) (*graph.Graph, error) {
	switch {
	case s.changes != nil:
		other, err := g.Changed(s.changes)
		if err == nil && other.Digest() == g.Digest() {
			err = fmt.Errorf("%w: the graph %q changes nothing: every relationship that it names is as in the model",
				recovery.ErrInvalid, s.Name)
		}
		return other, err
	case s.absent > 0:
		count := min(g.Size(), int(math.Ceil(s.absent*float64(g.Size()))))
		gone := make([]bool, g.Size())
		for _, k := range random.Perm(g.Size())[:count] {
			gone[k] = true
		}
		at := -1
		return g.Reweigh(func(e graph.Edge) float64 {
			if at++; gone[at] {
				return 0
			}
			return e.Weight
		})
	case s.weights:
		return g.Reweigh(func(e graph.Edge) float64 { return e.Weight * (1 + weightRange*(2*random.Float64()-1)) })
	}
	return g, nil
}

// random is the stream of a trial's own scenario.
func (s *Scenario) random(seed uint64, trial int) *rand.Rand {
	return rand.New(rand.NewPCG(seed^0x9e3779b97f4a7c15, uint64(trial)))
}

// disturb changes the readings of a trial, which the ascending nodes have; a sensor that breaks does at all of its times.
func (s *Scenario) disturb(readings []float64, nodes []int, clip privacy.Interval, seed uint64, trial int) {
	if s.floor > 0 {
		floats.AddConst(s.floor, readings)
	}
	if s.fault != nil {
		sensors := slices.Compact(slices.Clone(nodes))
		random, count := s.random(seed, trial), max(1, int(math.Round(brokenShare*float64(len(sensors)))))
		for _, i := range random.Perm(len(sensors))[:min(count, len(sensors))] {
			for k, _ := slices.BinarySearch(nodes, sensors[i]); k < len(nodes) && nodes[k] == sensors[i]; k++ {
				readings[k] = s.fault(random, readings[k], clip)
			}
		}
	}
}

// ErrScenario says that there is no scenario of a name.
var ErrScenario = errors.New("simulate: there is no scenario")

// Names are those of [Scenarios].
func Names() (names []string) {
	for _, s := range Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// Find returns a scenario, or that of a graph of a plan, by its name. A graph with the name of a scenario, as in a plan that another
// program made, does not take its place. It returns [ErrScenario].
func Find(name string, planned []plan.Alternative) (Scenario, error) {
	list, known := Scenarios(), Names()
	for _, x := range planned {
		list, known = append(list, OnAlternative(x)), append(known, x.Name)
	}
	if k := slices.Index(known, name); k >= 0 {
		return list[k], nil
	}
	if near := suggest.Nearest(name, known); near != "" {
		return Scenario{}, fmt.Errorf("%w %q; did you mean %q?", ErrScenario, name, near)
	}
	return Scenario{}, fmt.Errorf("%w %q: there are %s", ErrScenario, name, strings.Join(known, ", "))
}
