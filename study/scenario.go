// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
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

func stuck(_ *rand.Rand, _ float64, clip privacy.Interval) float64 { return clip.Hi }

func silent(*rand.Rand, float64, privacy.Interval) float64 { return 0 }

func drifting(random *rand.Rand, y float64, clip privacy.Interval) float64 {
	off := drift * (clip.Hi - clip.Lo) * (2*random.Float64() - 1)
	return min(max(y+off, clip.Lo), clip.Hi)
}

// OnAlternative is the scenario in which the process runs on another graph.
func OnAlternative(a plan.Alternative) Scenario {
	var told []string
	for _, c := range a.Changes[:min(len(a.Changes), toldChanges)] {
		what := fmt.Sprintf("weighs %v", c.Weight)
		if c.Weight == 0 {
			what = "is absent"
		}
		told = append(told, fmt.Sprintf("%q–%q %s", c.Source, c.Target, what))
	}
	about := "the process runs on a graph in which " + strings.Join(told, " and ")
	if more := len(a.Changes) - len(told); more > 0 {
		about += fmt.Sprintf(", and %d more changed", more)
	}
	return Scenario{Name: a.Name, About: about, changes: a.Changes}
}

// toldChanges is how many changes of a graph a scenario names.
const toldChanges = 2

// OfProcess reports whether the process or a sensor differs from the model, which it cannot where
// readings are computed from sources.
func (s Scenario) OfProcess() bool {
	return s.tau != 0 || s.weights || s.absent > 0 || s.fault != nil || s.floor > 0 || s.changes != nil
}

// Several reports whether there are further sources.
func (s Scenario) Several() bool { return s.sources > 0 }

// Sourceless reports whether there is nothing to be found.
func (s Scenario) Sourceless() bool { return s.sources < 0 }

const modelScenario = "model"

// Scenarios lists all of them; the first is the model itself.
func Scenarios() []Scenario {
	return []Scenario{
		{Name: modelScenario, About: "the process is the model"},
		{Name: "tau-half", About: "τ is half of what is supposed", tau: .5},
		{Name: "tau-double", About: "τ is twice what is supposed", tau: 2},
		{Name: "weights", About: "each weight, by itself, is up to 20 % off", weights: true},
		{Name: "relationships", About: "5 % of the relationships are absent in truth", absent: .05},
		{Name: "blob", About: "half of the source's mass is at its neighbours", blob: true},
		{Name: "faulty-sensors", About: "2 % of the reporting sensors, at least one, are stuck at the highest reading", fault: stuck},
		{Name: "silent-sensors", About: "2 % of the reporting sensors, at least one, read zero", fault: silent},
		{
			Name: "drifting-sensors", About: "2 % of the reporting sensors, at least one, are off by up to 30 % of the range of readings",
			fault: drifting,
		},
		{Name: "background", About: "every reading is .05 too high", floor: .05},
		{Name: "two-sources", About: "there is a second source, as strong", sources: 1},
		{Name: "no-source", About: "there is no source", sources: -1},
	}
}

// FindScenario returns the scenario of a name; "" is the model.
func FindScenario(name string) (Scenario, bool) {
	list := Scenarios()
	if name == "" {
		return list[0], true
	}
	if k := slices.IndexFunc(list, func(s Scenario) bool { return s.Name == name }); k >= 0 {
		return list[k], true
	}
	return Scenario{}, false
}

// weightRange is how far a weight is off at most, as a share of it.
const weightRange = .2

// reality is what happens in a scenario, on one model.
type reality struct {
	Scenario
	model     *plan.Model
	seed      uint64
	prior     []float64 // cumulative
	diffusion *expm.Diffusion
}

// newReality draws the graph of a scenario, the same for all trials.
func newReality(ctx context.Context, m *plan.Model, s Scenario, prior []float64, seed uint64) (*reality, error) {
	w := &reality{Scenario: s, model: m, seed: seed, diffusion: m.Operator.Diffusion}
	w.prior = floats.CumSum(make([]float64, len(prior)), prior)
	if s.tau == 0 && !s.weights && s.absent == 0 && s.changes == nil {
		return w, nil
	}
	g, err := w.graph(rand.New(rand.NewPCG(seed, math.MaxUint64-1)))
	if err != nil {
		return nil, err
	}
	tau := m.Tau
	if s.tau > 0 {
		tau *= s.tau
	}
	w.diffusion, err = expm.New(ctx, laplacian.New(g, m.Settings.Laplacian), tau, expm.Options{Method: m.Method})
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	return w, nil
}

// graph is the one on which the process runs.
func (w *reality) graph(random *rand.Rand) (*graph.Graph, error) {
	g := w.model.Graph
	switch {
	case w.changes != nil:
		other, err := g.Changed(w.changes)
		if err == nil && other.Digest() == g.Digest() {
			err = fmt.Errorf("%w: the graph %q changes nothing: every relationship that it names is as in the model",
				recovery.ErrInvalid, w.Name)
		}
		return other, err
	case w.absent > 0:
		count := min(g.Size(), int(math.Ceil(w.absent*float64(g.Size()))))
		gone := make([]bool, g.Size())
		for _, k := range random.Perm(g.Size())[:count] {
			gone[k] = true
		}
		at := -1
		return g.FilterEdges(func(graph.Edge) bool { at++; return !gone[at] }), nil
	case w.weights:
		return g.Reweigh(func(e graph.Edge) float64 { return e.Weight * (1 + weightRange*(2*random.Float64()-1)) })
	}
	return g, nil
}

// random is the stream of a trial's own scenario.
func (w *reality) random(trial int) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed^0x9e3779b97f4a7c15, uint64(trial)))
}

// excite adds the sources of a trial to column j of k, and returns their nodes.
func (w *reality) excite(x []float64, k, j, trial, source int, amplitude float64) []int {
	if w.sources < 0 {
		return nil
	}
	nodes := []int{source}
	random := w.random(trial)
	for range w.sources {
		at := random.Float64() * w.prior[len(w.prior)-1]
		nodes = append(nodes, sort.Search(len(w.prior)-1, func(i int) bool { return w.prior[i] > at }))
	}
	for _, i := range nodes {
		near := w.model.Graph.Neighbors(i)
		if !w.blob || len(near) == 0 {
			x[i*k+j] += amplitude
			continue
		}
		x[i*k+j] += amplitude / 2
		for _, n := range near {
			x[int(n)*k+j] += amplitude / 2 / float64(len(near))
		}
	}
	return nodes
}

// disturb changes the readings of a trial.
func (w *reality) disturb(readings []float64, clip privacy.Interval, trial int) {
	if w.floor > 0 {
		floats.AddConst(w.floor, readings)
	}
	if w.fault != nil {
		random, count := w.random(trial), max(1, int(math.Round(brokenShare*float64(len(readings)))))
		for _, s := range random.Perm(len(readings))[:min(count, len(readings))] {
			readings[s] = w.fault(random, readings[s], clip)
		}
	}
}

// scenarioOf returns the scenario of a name, built in or one of a list of graphs.
func scenarioOf(name string, list []plan.Alternative) (Scenario, error) {
	found, known := FindScenario(name)
	for _, a := range list {
		if a.Name != name {
			continue
		}
		if known {
			return found, fmt.Errorf("%w: two scenarios are called %q", recovery.ErrInvalid, a.Name)
		}
		found, known = OnAlternative(a), true
	}
	if !known {
		return found, fmt.Errorf("%w: there is no scenario %q", recovery.ErrInvalid, name)
	}
	return found, nil
}
