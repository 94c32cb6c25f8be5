// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/report"
)

// Job is a whole run: plan, release, recover and write back.
type Job struct {
	Settings
	Plan    PlanOptions
	Signal  Signal
	Scope   string // data that the budget protects; "": the property's own, see [Scope]
	Recover RecoverOptions
	Write   WriteOptions
	// RequireCap refuses to spend from a scope without a cap, with [ErrNoCap].
	RequireCap bool

	Noise   privacy.Noise // nil: the operating system's
	RunID   string        // "": a new one
	Version string        // of the program, for the record

	// Begin keeps an attempt before anything is reserved or spent, and refuses where
	// it cannot. Stage keeps the release, in place of the attempt, between its spend
	// and the end of the run. Both are on disk when they return. nil: an interrupted
	// run cannot be completed.
	Begin func(*Attempt) error
	Stage func(*Release) error
	// Configuration is copied into the report.
	Configuration map[string]any
}

// WriteOptions say whether and how a run is written back.
type WriteOptions struct {
	Enabled bool   `json:"enabled"`
	Prefix  string `json:"prefix"` // of the property names; "": gc
	Force   bool   `json:"force"`  // replace properties that are not a run's
}

// NewRunID returns an id that sorts by time (UUID version 7).
func NewRunID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

// Run loads the graph, plans, releases, recovers and writes back. Input and
// conflicts are checked before anything is spent.
func Run(ctx context.Context, s Store, job Job, opts LoadOptions) (*report.Report, error) {
	if err := job.CheckSignal(); err != nil {
		return nil, err
	}
	m, err := Load(ctx, s, job.Settings, opts)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	job.Plan.Allocation.Communities = job.Recover.Communities
	p, err := m.Plan(ctx, job.Plan)
	if err != nil {
		return nil, err
	}
	m.millis.PreProcessingMillis = since(start)
	return m.Execute(ctx, p, job)
}

// Execute releases under a plan that was made before, recovers and writes back. An
// [UnfinishedError] says that the run stopped once it was reserved or paid for.
func (m *Model) Execute(ctx context.Context, p *Plan, job Job) (*report.Report, error) {
	if job.RunID == "" {
		id, err := NewRunID()
		if err != nil {
			return nil, err
		}
		job.RunID = id
	}
	start := time.Now()
	y, err := m.checkRun(ctx, p, job)
	if err != nil {
		return nil, err
	}
	r, err := m.release(ctx, p, y, job)
	if err != nil {
		return nil, err
	}
	m.millis.PrivacyMillis = wholeSeconds(since(start))
	return m.Complete(ctx, r, job)
}

// Check finds what would stop the run, after its budget is spent or because the ledger
// refuses it. It writes and spends nothing.
func (m *Model) Check(ctx context.Context, p *Plan, job Job) error {
	if _, err := m.checkRun(ctx, p, job); err != nil {
		return err
	}
	return m.granted(ctx, p, job)
}

// checkRun returns the readings, since they are checked too.
func (m *Model) checkRun(ctx context.Context, p *Plan, job Job) ([]float64, error) {
	nodes := sensorNodes(p)
	y, err := m.check(ctx, p, job, report.Outline(job.RunID, job.Write.Prefix, nodes))
	if err != nil {
		return nil, err
	}
	return y, m.checkRecovery(ctx, nodes, job.Recover)
}

// check finds what would stop a release that ends in a table like outline, and returns
// the readings, nil where the sensors send theirs.
func (m *Model) check(ctx context.Context, p *Plan, job Job, outline report.Table) (y []float64, err error) {
	if err := job.CheckSignal(); err != nil {
		return nil, err
	}
	if err := m.accept(ctx, p); err != nil {
		return nil, err
	}
	if err := m.checkCap(ctx, m.scope(job.Scope, job.Signal), job.RequireCap); err != nil {
		return nil, err
	}
	if !job.Signal.Cloaked {
		y, err = m.readings(ctx, p, job.Signal)
	}
	if err != nil || !job.Write.Enabled {
		return y, err
	}
	return y, m.store.Check(ctx, m.Graph, outline, job.Write.Force)
}

func (m *Model) release(ctx context.Context, p *Plan, y []float64, job Job) (*Release, error) {
	a, draw, err := m.attempt(p, job, y, privacy.NewAttempt())
	if err != nil {
		return nil, err
	}
	return m.pay(ctx, a, report.Outline(job.RunID, job.Write.Prefix, sensorNodes(p)), job, draw)
}

func sensorNodes(p *Plan) []int {
	nodes := make([]int, len(p.Sensors))
	for k, s := range p.Sensors {
		nodes[k] = s.Node
	}
	return nodes
}

// Complete recovers from a release that was paid for and writes back: the second
// half of a run, the whole of a resumed one, or, under another run id than the
// release's, a new look at an old release. The same release and job give the same
// bits.
func (m *Model) Complete(ctx context.Context, r *Release, job Job) (*report.Report, error) {
	rep, err := m.complete(ctx, r, job)
	if err == nil || job.RunID != r.ID() || errors.Is(err, ErrUnpaid) {
		return rep, err
	}
	return nil, &UnfinishedError{job.RunID, IsSpent, err}
}

func (m *Model) complete(ctx context.Context, r *Release, job Job) (*report.Report, error) {
	rep, err := m.Recover(ctx, r, job.Recover)
	if err != nil {
		return nil, err
	}
	rep.RunID, rep.Version, rep.Configuration = job.RunID, job.Version, job.Configuration
	if job.RunID == r.ID() {
		rep.EpsilonSpent, rep.DeltaSpent = rep.Epsilon, rep.Delta
	}
	start := time.Now()
	if job.RunID == r.ID() {
		paid, err := Payment(ctx, m.store.Ledger(), r, job.Scope)
		if err != nil {
			return nil, err
		}
		rep.SetPayment(paid[0])
	}
	if job.Write.Enabled {
		table, err := report.NewTable(r.Release, rep, job.Write.Prefix)
		if err != nil {
			return nil, err
		}
		if err := m.store.Write(ctx, m.Graph, table, job.Write.Force); err != nil {
			return nil, fmt.Errorf("write back: %w", err)
		}
		rep.NodePropertiesWritten = table.Size()
	}
	if job.RunID == r.ID() {
		if err := m.markWritten(ctx, r, job); err != nil {
			return nil, err
		}
	}
	rep.WriteMillis = since(start)
	return rep, nil
}

// markWritten closes the release's entry in the ledger.
func (m *Model) markWritten(ctx context.Context, r *Release, job Job) error {
	digest, err := r.Digest()
	if err != nil {
		return err
	}
	paid, err := Payment(ctx, m.store.Ledger(), r, job.Scope)
	if err != nil {
		return err
	}
	_, err = privacy.MarkWritten(ctx, m.store.Ledger(), paid[0].Scope, r.ID(), digest)
	return err
}

// newReport fills in what is known of the model.
func (m *Model) newReport(p community.Partition) *report.Report {
	_, components := m.Graph.Components()
	rep := &report.Report{
		Store: m.store.Name(), StartedAt: time.Now().UTC(),
		NotProtected: report.Exposed(len(components)), Notes: slices.Clone(m.notes),
		NodeCount: m.Graph.Order(), RelationshipCount: m.Graph.Size(), ComponentCount: len(components),
		Tau: m.Tau, Laplacian: m.Settings.Laplacian.String(), KernelMethod: m.operator.Diffusion.Method().String(), Metric: m.metric(),
		Communities: []report.Community{}, CommunityCount: p.Count, Modularity: p.Modularity, Millis: m.millis,
	}
	rep.ComputeMillis = m.millis.ProjectMillis + m.millis.PreProcessingMillis + m.millis.PrivacyMillis
	orders := p.Orders()
	slices.Sort(orders)
	if p.Count > 0 {
		rep.CommunityDistribution = report.NewDistribution(orders)
	}
	return rep
}

// describeRelease adds the guarantee of a release, and its spend where this run
// made it.
func (m *Model) describeRelease(rep *report.Report, r *Release) {
	plan := r.Plan()
	rep.ReleaseID, rep.RunID = r.ID(), r.ID()
	rep.Signal = r.Signal.SourceProperty + r.Signal.MeasurementProperty
	rep.Guarantee = plan.Sentence()
	rep.Ceiling = recovery.Ceiling(plan.JointMu, 1)
	rep.SensorCount = len(plan.Sensors)
	rep.Epsilon, rep.Delta, rep.Alpha = plan.Epsilon, plan.Delta, plan.Alpha
	rep.Calibration, rep.Randomness = plan.Calibration.String(), plan.Randomness.String()
	rep.Allocation = "uniform"
	rep.Noise = noise(plan, r.Allocated)
	bracket := plan.Sensitivity
	if plan.Guarantee == privacy.PerSensor {
		rep.Allocation = plan.Guarantee.String() // each sensor by its own worst edge
	}
	if a := r.Allocated; a != nil {
		rep.Allocation, bracket = "optimal", a.Uniform.Sensitivity
	}
	rep.Sensitivity = report.Sensitivity{Lower: bracket.Lower, Upper: bracket.Upper, Edge: bracket.Edge}
}
