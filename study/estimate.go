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
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/allocation"
	"github.com/graphcloak/graphcloak/run"
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
	// SigmaAtMost bounds the σ of uniform noise before the sensitivity is computed, by
	// the largest sensitivity that a diffusion on this graph can have.
	SigmaAtMost float64 `json:"uniformSigmaAtMost"`
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
	sigma, err := largestSigma(g, l, job)
	if err != nil {
		return nil, err
	}
	var all []Estimate
	for _, c := range w.commands() {
		e := Estimate{
			Command: c.name, NodeCount: g.Order(), RelationshipCount: g.Size(), KernelMethod: w.cost.Method.String(), Tau: w.tau,
			SigmaAtMost: sigma, MapView: map[string]int64{},
		}
		if c.spends {
			e.EpsilonWouldSpend = job.Plan.Epsilon
		}
		e.add(append(w.setup(), c.steps...))
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
	e.add(append(w.planning(), w.expectation(), w.release(), w.recovery()))
	longest := time.Duration(math.MaxInt64).Seconds()
	return time.Duration(e.SecondsMin * float64(time.Second)), time.Duration(min(e.SecondsMax, longest/2) * float64(time.Second)), nil
}

// newWorkload is what a job on a graph does.
func newWorkload(g *graph.Graph, l *laplacian.Laplacian, sensors int, job run.Job) (workload, error) {
	tau := job.Tau
	if tau == 0 { // the middle of what is tried
		tau = typicalSpread / max(1e-300, l.Bound())
	}
	cost, err := expm.Estimate(l, tau, expm.Options{Method: job.Method})
	return workload{
		tau: tau, nodes: float64(g.Order()), relationships: float64(g.Size()), sensors: float64(sensors), cost: cost,
		weighted: !g.Unweighted(), lengths: !g.UnitLengths(), plan: job.Plan, sources: job.Recover.Sources, chooses: job.Tau == 0,
		faults: newFaultWorkload(float64(g.Order()), float64(sensors), job),
	}, err
}

// add sums up the steps of a command: the memory that is kept until its end, and the
// largest that a step needs meanwhile.
func (e *Estimate) add(steps []step) {
	var tree strings.Builder
	peak, extra := 0.0, 0.0
	for _, s := range steps {
		e.MapView[s.name] = int64(s.kept + s.transient)
		fmt.Fprintf(&tree, "|-- %s: %s\n", s.name, memory.Format(int64(s.kept+s.transient)))
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
	name                     string
	kept, transient          float64 // bytes until the end, and during the step
	seconds                  float64
	extraSeconds, extraBytes float64 // at most, where the graph decides how many
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
	tau                           float64 // supposed
	weighted, lengths             bool
	cost                          expm.Cost
	plan                          plan.Options
	sources                       int  // as in analyst.Options
	chooses                       bool // τ
	faults                        faultWorkload
}

// typicalSpread is λ_max·τ in the middle of the values of τ that are tried.
const typicalSpread = 256

// program is the resident size of a process that has done little yet, and startup
// the seconds until then.
const (
	program = 29 << 20
	startup = 0.01
)

// Seconds of the inner loops.
const (
	perCell      = 0.4e-9 // dense product, an entry
	perNoise     = 5e-6   // keyed noise, a sensor
	perFile      = 15e-6  // sensor of a plan or release file
	perRow       = 2e-6   // node or relationship, read
	perAmplitude = 200e-9 // integral over the amplitude, a node
	perPair      = 6e-6   // integral over two amplitudes
)

func (w workload) commands() []command {
	return []command{
		{name: "plan", steps: append(w.planning(), w.expectation())},
		{name: "release", spends: true, steps: []step{w.certificate(), w.release()}},
		{name: "recover", steps: []step{w.readSensorFile(), w.recovery()}},
		{name: "run", spends: true, steps: append(w.planning(), w.expectation(), w.release(), w.recovery())},
		{name: "evaluate", steps: append(w.planning(), w.evaluation())},
	}
}

// setup is what every command does: it reads the graph and prepares e^{-τL}.
func (w workload) setup() []step {
	entries, edge := 2*w.relationships, 4.
	if w.weighted {
		edge += 8
	}
	if w.lengths {
		edge += 8
	}
	return []step{
		{name: "program", kept: program, seconds: startup},
		{name: "graph", kept: edge*entries + 120*w.nodes, transient: 24 * w.relationships, seconds: perRow * (w.nodes + w.relationships)},
		{name: "diffusion", kept: float64(w.cost.Bytes), seconds: w.cost.Prepare},
	}
}

// matrix is the size of M in bytes and the time to compute it, 0 where it is not formed.
func (w workload) matrix() (bytes, seconds float64) {
	if w.nodes > analyst.DenseLimit {
		return 0, 0
	}
	return 8 * w.nodes * w.sensors, w.sensors * w.cost.Column
}

func (w workload) planning() []step {
	certify := step{name: "sensitivity", transient: 600 * w.nodes, seconds: 70 * w.cost.Apply, extraSeconds: 200 * w.cost.Apply}
	if w.cost.Method == expm.Eigen {
		certify = step{name: "sensitivity", transient: 100 * w.nodes, seconds: perCell * w.nodes * w.relationships}
	}
	a := w.plan.Allocation
	if !w.plan.Allocates(int(w.nodes)) {
		return append(w.choosing(), certify)
	}
	certify.seconds *= 2
	certify.extraSeconds *= 2
	if w.nodes > allocation.RowsLimit {
		return append(w.choosing(), certify, w.updates())
	}
	rows := min(w.sensors, allocation.DefaultMemory/(8*w.nodes))
	hypotheses := min(w.nodes, 1000)
	trials := min(600, max(200, (1<<29)/(hypotheses*rows)))
	// At most 24 steps of five evaluations each, and a programme for each step.
	search := 123*trials*hypotheses*(perAmplitude+perCell*rows) + 150e-9*rows*w.relationships
	if a.Time > 0 {
		search = min(search, 2*a.Time.Seconds()) // on two processors
	}
	search += w.everyTau(rows)
	return append(w.choosing(), certify, step{
		name: "allocation", transient: 5 * 8 * w.nodes * rows, seconds: rows * w.cost.Column,
		extraSeconds: search,
	})
}

// perConstraint is the seconds that an allocation for a range of τ takes more, for each node, row and relationship.
const perConstraint = 14e-9

// everyTau is what it takes at most to keep an allocation within the constraints of a range of τ, however wide.
func (w workload) everyTau(rows float64) (atMost float64) {
	if u := w.plan.Uncertainty; u.TauFrom == u.TauTo {
		return 0
	}
	return 2 * perConstraint * w.nodes * rows * w.relationships
}

// updates is the search for an allocation that keeps no rows: at most some 150 blocks of 16
// columns, of which a few are held at a time, and work that is bounded.
func (w workload) updates() step {
	const columns, blocks, bound, held = 16, 155, 60, 12
	seconds := min(bound, blocks*columns*(w.cost.Column+4e-9*(w.nodes+2*w.relationships)))
	if t := w.plan.Allocation.Time; t > 0 {
		seconds = min(seconds, 2*t.Seconds()) // on two processors
	}
	return step{name: "allocation", transient: 8*columns*held*w.nodes + 64*w.relationships, seconds: seconds}
}

// choosing is the search for τ: some 600 products with M for each of about ten, and a rough
// allocation.
func (w workload) choosing() []step {
	if !w.chooses {
		return nil
	}
	const tries, columns, simulation = 10, 600, 0.5
	seconds := min(60, tries*columns*w.cost.Column)
	if w.plan.Allocates(int(w.nodes)) {
		seconds += tries * simulation
	}
	return []step{{name: "choice of tau", transient: 8 * (600*w.nodes + 1<<19), seconds: seconds}}
}

// expectation is the simulation of plan, under its noise and under uniform noise.
func (w workload) expectation() step {
	if w.nodes > analyst.DenseLimit {
		return step{name: "simulation"}
	}
	bytes, seconds := w.matrix()
	return step{name: "simulation", transient: 1.3 * bytes, seconds: seconds + w.trials(DefaultTrials, 0)}
}

// evaluation is the simulation of evaluate.
func (w workload) evaluation() step {
	bytes, seconds := w.matrix()
	if bytes == 0 {
		bytes, seconds = 1000*w.nodes, normProbes*w.cost.Column
	}
	return step{name: "simulation", transient: 1.6 * bytes, seconds: seconds + w.trials(1000, perNoise) +
		w.alsoUniform(1000)*w.faults.trial()}
}

// alsoUniform is n trials, or where noise is allocated what n of few sensors are, and n of uniform noise beside.
func (w workload) alsoUniform(n float64) float64 {
	if !w.plan.Allocates(int(w.nodes)) {
		return n
	}
	return 1.5 * n
}

func (w workload) trials(n, noise float64) float64 {
	return w.alsoUniform(n) * (2*w.cost.Column + perPosterior*w.nodes + noise*w.sensors)
}

// readSensorFile is the reading of a file that lists the sensors.
func (w workload) readSensorFile() step {
	return step{name: "file", kept: 600 * w.sensors, seconds: perFile * w.sensors}
}

// certificate repeats that of a plan from a file. On few nodes it may keep all columns of M.
func (w workload) certificate() step {
	return step{name: "certificate", extraSeconds: 200 * w.cost.Apply, extraBytes: 12 * min(w.nodes*w.nodes, 1<<25)}
}

// release writes files as long as 200 bytes a sensor, and holds a few of them meanwhile; below
// [analyst.DenseLimit] the garbage collector leaves as much again.
func (w workload) release() step {
	s := step{name: "release", kept: 300 * w.sensors, transient: 900 * w.sensors, seconds: w.cost.Apply + perFile*w.sensors}
	if w.nodes <= analyst.DenseLimit {
		s.kept, s.transient = 2000*w.sensors, 0
	}
	return s
}

// recovery keeps, besides M, the directions that the radius is measured in:
// thousands at most, and often few.
func (w workload) recovery() step {
	directions := min(2000, w.sensors)
	search := min(4*w.sensors*directions*directions, 1e11) * 1.2e-9
	bytes, seconds := w.matrix()
	if bytes == 0 {
		bytes, seconds = 1300*w.nodes, 400*w.cost.Apply // blocks of vectors for norms, checks and the solver
		if w.nodes <= exactNormsLimit {
			seconds = w.nodes * w.cost.Column
		}
	}
	extra := 6 * 8 * min(w.sensors*directions, 1<<25)
	if !w.plan.Allocation.Uniform { // few sensors may be all that report
		bytes, extra = 0, extra+2*bytes
	}
	several, kept := w.severalSources()
	faulty, faultyAtMost := w.faults.recovery(seconds + perPosterior*w.nodes)
	return step{
		name: "recovery", transient: bytes, extraBytes: extra + kept,
		seconds: seconds + perPosterior*w.nodes + w.checks() + faulty, extraSeconds: search + several + faultyAtMost,
	}
}

// checks are the simulations that a recovery is held against: of no source, and of one and the misfits.
func (w workload) checks() float64 {
	if w.nodes > analyst.DenseLimit {
		return 0 // among the products of the recovery
	}
	return 2500 * (w.cost.Column + perPosterior*w.nodes)
}

// severalSources is what a second source may take: where it is weighed, draws of one, and all pairs.
func (w workload) severalSources() (seconds, bytes float64) {
	const draws = 64
	switch {
	case w.sources == 0 || w.sources == 1 || w.nodes > analyst.DenseLimit:
		return 0, 0
	case w.sources == analyst.OneOrTwo:
		seconds = draws * (perAmplitude*w.nodes + 2*w.cost.Apply)
	}
	return seconds + perPair*w.nodes*w.nodes, 8 * w.nodes * max(w.nodes/2, draws)
}

// largestSigma returns σ for the largest sensitivity that a diffusion can have:
// ‖M‖₂ is at most 1 for the symmetric kinds and √(max d/min d) for the random walk,
// and two unit vectors are √2 apart. A plan charges a bound on rounding on top, which
// the margin covers. It returns 0 for a graph without relationships.
func largestSigma(g *graph.Graph, l *laplacian.Laplacian, job run.Job) (float64, error) {
	const margin = 1 + 1e-6
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
	return calibration.Sigma(job.Plan.Budget, math.Sqrt2*margin*spread*job.Plan.Alpha/shortest)
}
