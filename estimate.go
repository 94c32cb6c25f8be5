// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/allocation"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy"
)

// Estimate is what a command would need, in the columns of GDS; reading and writing
// a database come on top. Bytes are the resident peak. Seconds are those of one core
// of a 2020s machine. The most is four times the least, but for a search for an
// allocation of noise, which may end at once or take all its time: that counts only
// into SecondsMax.
type Estimate struct {
	Command           string           `json:"command"`
	NodeCount         int              `json:"nodeCount"`
	RelationshipCount int              `json:"relationshipCount"`
	RequiredMemory    string           `json:"requiredMemory"`
	TreeView          string           `json:"treeView"`
	MapView           map[string]int64 `json:"mapView"` // bytes of each part
	BytesMin          int64            `json:"bytesMin"`
	BytesMax          int64            `json:"bytesMax"`
	SecondsMin        float64          `json:"secondsMin"`
	SecondsMax        float64          `json:"secondsMax"`
	KernelMethod      string           `json:"kernelMethod"`
	EpsilonWouldSpend float64          `json:"epsilonWouldSpend"`
	Sigma             float64          `json:"sigma"` // at most: from a sensitivity that any graph has
}

// EstimateCommands reads the graph and says what plan, release, recover, run and
// evaluate would need for the job, in this order. Nothing is run, written or spent.
func EstimateCommands(ctx context.Context, s Store, job Job) ([]Estimate, error) {
	g, err := s.Graph(ctx, job.Selection)
	if err != nil {
		return nil, fmt.Errorf("read graph: %w", err)
	}
	if g.Order() == 0 {
		return nil, fmt.Errorf("%w: the selection has no nodes", ErrEmpty)
	}
	sensors, err := s.Sensors(ctx, g, job.Sensors)
	if err != nil {
		return nil, fmt.Errorf("read sensors: %w", err)
	}
	l := laplacian.New(g, job.Laplacian)
	cost, err := expm.Estimate(l, job.Tau, expm.Options{Method: job.Method})
	if err != nil {
		return nil, err
	}
	sigma, err := largestSigma(g, l, job)
	if err != nil {
		return nil, err
	}
	w := workload{
		nodes: float64(g.Order()), relationships: float64(g.Size()), sensors: float64(len(sensors)), cost: cost,
		weighted: !g.Unweighted(), lengths: !g.Hops(), plan: job.Plan,
	}
	var all []Estimate
	for _, c := range w.commands() {
		e := Estimate{
			Command: c.name, NodeCount: g.Order(), RelationshipCount: g.Size(), KernelMethod: cost.Method.String(),
			Sigma: sigma, MapView: map[string]int64{},
		}
		if c.spends {
			e.EpsilonWouldSpend = job.Plan.Epsilon
		}
		e.add(append(w.always(), c.steps...))
		all = append(all, e)
	}
	return all, nil
}

// add sums up the steps of a command: what is held at once, and the largest of what
// is not.
func (e *Estimate) add(steps []step) {
	var tree strings.Builder
	peak := 0.0
	for _, s := range steps {
		e.MapView[s.name] = int64(s.held + s.passing)
		fmt.Fprintf(&tree, "|-- %s: %s\n", s.name, Bytes(int64(s.held+s.passing)))
		e.BytesMin += int64(s.held)
		peak = max(peak, s.passing)
		e.SecondsMin += s.seconds / 2
		e.SecondsMax += 2*s.seconds + s.search
	}
	e.BytesMin += int64(peak)
	e.BytesMax = 2 * e.BytesMin
	e.TreeView = fmt.Sprintf("%s: %s\n%s", e.Command, Bytes(e.BytesMin), tree.String())
	e.RequiredMemory = fmt.Sprintf("[%s ... %s]", Bytes(e.BytesMin), Bytes(e.BytesMax))
}

// step is a part of a command.
type step struct {
	name          string
	held, passing float64 // bytes: until the end, and only meanwhile
	seconds       float64
	search        float64 // seconds that it may take on top, or not
}

// command is a command with its steps.
type command struct {
	name   string
	spends bool
	steps  []step
}

// workload is what the estimates depend on.
type workload struct {
	nodes, relationships, sensors float64
	weighted, lengths             bool
	cost                          expm.Cost
	plan                          PlanOptions
}

// program is the resident size of a process that has done nothing yet.
const program = 22 << 20

// Seconds of the inner loops.
const (
	perCell      = 0.4e-9 // dense product, an entry
	perPosterior = 150e-9 // posterior, a node
	perRow       = 2e-6   // reading or keeping a node or relationship
)

func (w workload) commands() []command {
	return []command{
		{name: "plan", steps: append(w.planning(), w.simulating(DefaultTrials))},
		{name: "release", spends: true, steps: []step{w.releasing()}},
		{name: "recover", steps: w.recovering()},
		{name: "run", spends: true, steps: slices.Concat(w.planning(), []step{w.releasing()}, w.recovering())},
		{name: "evaluate", steps: append(w.planning(), w.simulating(1000))},
	}
}

// always is what every command does: it reads the graph and prepares e^{-τL}.
func (w workload) always() []step {
	entries := 2 * w.relationships
	edge := 4.
	if w.weighted {
		edge += 8
	}
	if w.lengths {
		edge += 8
	}
	return []step{
		{name: "program", held: program},
		{name: "graph", held: edge*entries + 120*w.nodes, passing: 24 * w.relationships, seconds: perRow * (w.nodes + w.relationships)},
		{name: "diffusion", held: float64(w.cost.Bytes), seconds: w.cost.Prepare},
	}
}

// dense reports whether M is held as a matrix.
func (w workload) dense() bool { return w.nodes <= denseLimit }

// matrix is the size of M in bytes, and the time to compute it.
func (w workload) matrix() (bytes, seconds float64) {
	return 8 * w.nodes * w.sensors, w.sensors * w.cost.Apply
}

func (w workload) planning() []step {
	certify := step{name: "sensitivity", passing: 1500 * w.nodes, seconds: 150 * w.cost.Apply}
	if w.cost.Method == expm.Eigen {
		certify = step{name: "sensitivity", passing: 100 * w.nodes, seconds: perCell * w.nodes * w.relationships}
	}
	if w.plan.Guarantee == privacy.PerSensor || w.plan.Allocation.Uniform || w.plan.Allocation.Objective == allocation.Auto && w.nodes > autoLimit {
		return []step{certify}
	}
	certify.seconds *= 2
	bytes, seconds := w.matrix()
	bytes = min(bytes, 512<<20)
	search := allocationSearch
	if t := w.plan.Allocation.Time; t > 0 {
		search = min(search, t.Seconds()*2) // both cores of a small machine
	}
	return []step{certify, {name: "allocation", passing: 4 * bytes, seconds: seconds, search: search}}
}

// allocationSearch is what the search takes where nothing limits it, in seconds.
const allocationSearch = 1200.0

func (w workload) simulating(trials float64) step {
	each := w.cost.Apply + perPosterior*w.nodes
	return step{name: "simulation", passing: 8 * w.nodes * 200, seconds: 2 * trials * each}
}

func (w workload) releasing() step {
	return step{name: "release", held: 300 * w.sensors, seconds: w.cost.Apply + perRow*w.sensors}
}

func (w workload) recovering() []step {
	bytes, seconds := w.matrix()
	if !w.dense() {
		bytes, seconds = 400*w.nodes, 300*w.cost.Apply
	}
	return []step{{name: "recovery", passing: 3 * bytes, seconds: seconds + perPosterior*w.nodes}}
}

// largestSigma returns σ for the largest sensitivity that a diffusion can have:
// ‖M‖₂ is at most 1 for the symmetric kinds and √(max d/min d) for the random walk,
// and two unit vectors are √2 apart. 0: there is nothing to hide.
func largestSigma(g *graph.Graph, l *laplacian.Laplacian, job Job) (float64, error) {
	calibration := job.Plan.Calibration
	if calibration == nil {
		calibration = privacy.Analytic{}
	}
	shortest := math.Inf(1)
	for edge := range g.Edges() {
		shortest = min(shortest, edge.Length)
	}
	if math.IsInf(shortest, 1) {
		return 0, nil
	}
	spread := 1.0
	if s := l.Similarity(); s != nil {
		spread = slices.Max(s) / slices.Min(s)
	}
	return calibration.Sigma(job.Plan.Budget, 1.4142135623731*spread*job.Plan.Alpha/shortest)
}
