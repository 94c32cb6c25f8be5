// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/memory"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy/allocation"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// Estimate is what a command would need, in the columns of the estimation procedures of
// Neo4j Graph Data Science. Reading and writing a database come on top. Bytes are the
// peak resident size, and BytesMax is about twice BytesMin. Seconds are those of one core
// of a 2020s machine, and SecondsMax is about four times SecondsMin: a factor of two to
// each side. What only the computation itself can tell, such as the length of the search
// for an allocation of noise, counts into the maxima alone.
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
	Tau               float64          `json:"tau"` // supposed: the job's, else the middle of what a search tries
	EpsilonWouldSpend float64          `json:"epsilonWouldSpend"`
}

// EstimateCommands reads the graph and says what plan, release, recover, run and
// evaluate would need for the job, in this order. Nothing is run, written or spent.
// It returns the errors of [plan.Load].
func EstimateCommands(ctx context.Context, s plan.Source, job run.Job) ([]Estimate, error) {
	if err := job.CheckQueries(); err != nil {
		return nil, err
	}
	g, err := s.Graph(ctx, job.Selection)
	if err != nil {
		return nil, fmt.Errorf("read graph: %w", err)
	}
	if g.Order() == 0 {
		return nil, fmt.Errorf("%w: the selection has no nodes", plan.ErrEmpty)
	}
	sensors, err := s.Sensors(ctx, g, job.Sensors)
	if err != nil {
		return nil, fmt.Errorf("read sensors: %w", err)
	}
	if len(sensors) == 0 {
		return nil, fmt.Errorf("%w: no node of the selection carries a sensor", plan.ErrEmpty)
	}
	l := laplacian.New(g, job.Laplacian)
	w, err := newWorkload(g, l, len(sensors), job)
	if err != nil {
		return nil, err
	}
	planned, trials := w.planning(DefaultTrials)
	evaluated, more := w.planning(1000)
	var all []Estimate
	for _, c := range []struct {
		name    string
		epsilon float64
		trials  float64
		steps   []string
	}{
		{"plan", 0, trials, planned},
		{"release", job.Plan.Epsilon, 0, []string{"certificate", "release"}},
		{"recover", 0, 0, []string{"file", "recovery"}},
		{"run", job.Plan.Epsilon, trials, slices.Concat(planned, []string{"release", "recovery"})},
		{"evaluate", 0, more, evaluated},
	} {
		e := Estimate{
			Command: c.name, NodeCount: g.Order(), RelationshipCount: g.Size(), KernelMethod: w.cost.Method.String(), Tau: w.tau,
			MapView: map[string]int64{}, EpsilonWouldSpend: c.epsilon,
		}
		e.add(w.steps(c.trials), append([]string{"program", "graph", "diffusion"}, c.steps...)...)
		all = append(all, e)
	}
	return all, nil
}

// RunTime returns how long a run of the job may take on a model that is loaded, with the
// simulation of its accuracy, at least and at most, as [Estimate] does. It returns the errors
// of [expm.Estimate].
func RunTime(m *plan.Model, job run.Job) (least, most time.Duration, err error) {
	w, err := newWorkload(m.Graph, laplacian.New(m.Graph, m.Laplacian), len(m.Sensors), job)
	if err != nil {
		return 0, 0, err
	}
	e := Estimate{MapView: map[string]int64{}}
	names, trials := w.planning(DefaultTrials)
	e.add(w.steps(trials), append(names, "release", "recovery")...)
	longest := time.Duration(math.MaxInt64).Seconds()
	return time.Duration(e.SecondsMin * float64(time.Second)), time.Duration(min(e.SecondsMax, longest/2) * float64(time.Second)), nil
}

// add sums up the steps of a command: the memory that is kept until its end, and the
// largest that a step needs meanwhile.
func (e *Estimate) add(all map[string]step, names ...string) {
	var tree strings.Builder
	peak, extra := 0.0, 0.0
	for _, name := range names {
		s := all[name]
		e.MapView[name] = int64(s.kept + s.transient)
		fmt.Fprintf(&tree, "|-- %s: %s\n", name, memory.Format(int64(s.kept+s.transient)))
		e.BytesMin += int64(s.kept)
		peak, extra = max(peak, s.transient), max(extra, s.extraBytes)
		e.SecondsMin += s.seconds / 2
		e.SecondsMax += 2*s.seconds + s.extraSeconds
	}
	e.BytesMin += int64(peak)
	e.BytesMax = 2*e.BytesMin + int64(extra)
	e.TreeView = fmt.Sprintf("%s: %s\n%s", e.Command, memory.Format(e.BytesMin), tree.String())
	e.RequiredMemory = fmt.Sprintf("[%s ... %s]", memory.Format(e.BytesMin), memory.Format(e.BytesMax))
}

// step is a part of a command, with its memory and time.
type step struct {
	kept, transient          float64 // bytes until the end, and during the step
	seconds                  float64
	extraSeconds, extraBytes float64 // at most, where the graph decides how many
}

// workload is what the estimates depend on.
type workload struct {
	nodes, relationships, sensors float64
	tau                           float64 // supposed
	cost                          expm.Cost
	job                           run.Job
	small                         bool // M is formed: up to [analyst.DenseLimit] nodes
	allocates                     bool
	faults                        float64 // seconds that a posterior takes more where sensors may be broken
}

// typicalSpread is λ_max·τ in the middle of the values of τ that are tried.
const typicalSpread = 256

// Seconds of the inner loops.
const (
	perCell      = 0.4e-9 // dense product, an entry
	perNoise     = 5e-6   // keyed noise, a sensor
	perFile      = 15e-6  // sensor of a plan or release file
	perRow       = 2e-6   // node or relationship, read
	perAmplitude = 200e-9 // integral over the amplitude, a node
	perPair      = 6e-6   // integral over two amplitudes
	perFaulty    = 1e-6   // posterior of sensors that may be broken, an entry of M
)

// newWorkload is what a job on a graph does.
func newWorkload(g *graph.Graph, l *laplacian.Laplacian, sensors int, job run.Job) (workload, error) {
	tau := job.Tau.Value()
	if job.Tau.IsSearched() { // the middle of what is tried
		tau = typicalSpread / max(1e-300, l.Bound())
	}
	cost, err := expm.Estimate(l, tau, expm.Options{Method: job.Method})
	w := workload{
		nodes: float64(g.Order()), relationships: float64(g.Size()), sensors: float64(sensors), tau: tau, cost: cost, job: job,
		small: g.Order() <= analyst.DenseLimit, allocates: job.Plan.Allocates(job.Settings, g.Order()),
	}
	rate := job.Recover.FaultRate
	if measured := job.Plan.Measured || job.Signal.MeasurementProperty != ""; rate == nil && measured || rate != nil && *rate > 0 {
		w.faults = perFaulty * w.nodes * w.sensors
	}
	return w, err
}

// matrix is the size of M in bytes and the time to compute it; where it is not formed, of blocks of vectors and of so many products.
func (w workload) matrix(products float64) (bytes, seconds float64) {
	if w.small {
		return 8 * w.nodes * w.sensors, w.sensors * w.cost.Column
	}
	return 5*w.block() + 150*w.nodes, products * w.cost.Column
}

// block is the size in bytes of vectors that are multiplied at once: 16, or of many nodes fewer.
func (w workload) block() float64 { return 8 * min(16*w.nodes, 1<<24) }

// steps are the parts of all commands, a formula each; a simulation has so many trials.
func (w workload) steps(trials float64) map[string]step {
	n, m, edges, column, apply := w.nodes, w.sensors, w.relationships, w.cost.Column, w.cost.Apply
	norms, normSeconds := w.matrix(float64(simulate.NormProducts(int(n), int(m))))
	directions := min(2000, m) // that the radius is measured in at most, and often few
	all := map[string]step{
		"program":   {kept: 23 << 20, seconds: 0.01},
		"graph":     {kept: 16*edges + 120*n, transient: 24 * edges, seconds: perRow * (n + edges)},
		"diffusion": {kept: float64(w.cost.Bytes), seconds: w.cost.Prepare},
		// The search for τ takes some 600 products with M for each of about ten, for a minute at most.
		"choice of tau": {transient: 8 * (600*n + 1<<19), seconds: min(60, 6000*column)},
		// A screen, where heat does not stay near, has four blocks more.
		"sensitivity": {transient: w.block() + 65*n + 28*edges, extraBytes: 4 * w.block(), seconds: 100 * apply, extraSeconds: 300 * apply},
		"allocation":  w.allocation(),
		"simulation": {
			transient: 1.5 * norms, seconds: normSeconds + trials*(2*column+simulate.PosteriorSeconds*n+perNoise*m+2*w.faults),
		},
		// What a plan from a file promises is certified again; on few nodes that may keep all columns of M.
		"certificate": {extraSeconds: 200 * apply, extraBytes: 12 * min(n*n, 1<<25)},
		"file":        {kept: 300 * m, seconds: perFile * m},
		"release":     {kept: 100 * m, transient: 250 * m, seconds: apply + perFile*m},
		"recovery":    {extraBytes: 48 * min(m*directions, 1<<25), extraSeconds: min(4*m*directions*directions, 1e11)*1.2e-9 + 35*w.faults},
	}
	if w.cost.Method == expm.Eigen {
		all["sensitivity"] = step{transient: 100 * n, seconds: 2 * perCell * n * edges}
	}
	r := all["recovery"]
	r.transient, r.seconds = w.matrix(400)
	r.seconds += simulate.PosteriorSeconds*n + 4*w.faults
	if w.small { // 2,500 simulated measurements that the answer is held against, and pairs of sources
		r.seconds += 2500 * (column + simulate.PosteriorSeconds*n)
		if k := w.job.Recover.Sources; k != 0 && k != 1 {
			r.extraSeconds, r.extraBytes = r.extraSeconds+perPair*n*n, r.extraBytes+4*n*n
		}
	}
	if w.allocates { // each τ that is tried is simulated, and few sensors may be all that report
		c := all["choice of tau"]
		c.seconds += 5
		all["choice of tau"] = c
		r.transient, r.extraBytes = 0, r.extraBytes+2*r.transient
	}
	all["recovery"] = r
	return all
}

// allocation is a search of 120 evaluations at most, of 600 trials of up to 1,000 hypotheses each, that a minute of one core ends;
// for a range of τ it keeps a constraint of each node, row and relationship.
func (w workload) allocation() step {
	const perConstraint, mostSearch = 28e-9, 60
	if w.nodes > allocation.RowsLimit {
		return step{transient: 8*192*w.nodes + 64*w.relationships, seconds: min(mostSearch, 2480*w.cost.Column)}
	}
	rows := min(w.sensors, allocation.DefaultMemory/(8*w.nodes))
	s := step{transient: 40 * w.nodes * rows, seconds: rows * w.cost.Column}
	s.extraSeconds = min(mostSearch, 72_000*min(w.nodes, 1000)*(perAmplitude+perCell*rows))
	if w.job.Tau.IsWide() {
		s.extraSeconds += perConstraint * w.nodes * rows * w.relationships
	}
	return s
}

// planning are the steps to a plan, and the trials of its simulation: as many again, of few sensors, where noise is allocated.
func (w workload) planning(trials float64) (names []string, all float64) {
	if w.job.Tau.IsSearched() {
		names = append(names, "choice of tau")
	}
	if names = append(names, "sensitivity"); w.allocates {
		names, trials = append(names, "allocation"), 1.5*trials
	}
	if w.small || trials > 1.5*DefaultTrials { // plan simulates little beyond
		names = append(names, "simulation")
	}
	return names, trials
}
