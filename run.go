// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/report"
)

// Job is a whole run: plan, release, recover and write back.
type Job struct {
	Settings
	Plan    PlanOptions
	Signal  Signal
	Scope   string // data that the budget protects; "": store, selection and property
	Recover RecoverOptions
	Write   WriteOptions

	RunID   string // "": a new one
	Version string // of the program, for the record

	// Stage keeps a release between its spend and the end of the write-back, so that
	// an interrupted run can be completed. nil: it cannot.
	Stage func(*Release) error
	// Configuration is copied into the report.
	Configuration map[string]any
}

// WriteOptions say whether and how a run is written back.
type WriteOptions struct {
	Enabled bool
	Prefix  string // of the property names; "": gc
	Force   bool   // replace properties that are not a run's
}

// NewRunID returns an id that sorts by time (UUID version 7).
func NewRunID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

// Run loads the graph, plans, releases, recovers and writes back. Input and
// conflicts are checked before anything is spent. Where Basis Pursuit Denoising
// ends without a certificate, the run is completed all the same and the error is
// [recovery.ErrStalled] beside the report.
func Run(ctx context.Context, s Store, job Job, opts LoadOptions) (*report.Report, error) {
	m, err := Load(ctx, s, job.Settings, opts)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	p, err := m.Plan(ctx, job.Plan)
	if err != nil {
		return nil, err
	}
	m.millis.PreProcessingMillis = since(start)
	return m.Execute(ctx, p, job)
}

// Execute releases under a plan that was made before, recovers and writes back.
func (m *Model) Execute(ctx context.Context, p *Plan, job Job) (*report.Report, error) {
	if job.RunID == "" {
		id, err := NewRunID()
		if err != nil {
			return nil, err
		}
		job.RunID = id
	}
	if err := m.check(ctx, p, job); err != nil {
		return nil, err
	}
	start := time.Now()
	r, err := m.release(ctx, p, job)
	if err != nil {
		return nil, err
	}
	m.millis.PrivacyMillis = since(start)
	return m.Complete(ctx, r, job)
}

// check finds what would stop the run after its budget is spent.
func (m *Model) check(ctx context.Context, p *Plan, job Job) error {
	if _, err := m.Communities(ctx, job.Recover.Communities); err != nil {
		return err
	}
	if _, err := m.prior(ctx, job.Recover.PriorProperty); err != nil {
		return err
	}
	if !job.Write.Enabled {
		return nil
	}
	nodes := make([]int, len(p.Sensors))
	for k, s := range p.Sensors {
		nodes[k] = s.Node
	}
	return m.store.Check(ctx, m.Graph, report.Outline(job.RunID, job.Write.Prefix, nodes), job.Write.Force)
}

func (m *Model) release(ctx context.Context, p *Plan, job Job) (*Release, error) {
	r, err := m.Release(ctx, p, job.Signal, Spend{Scope: job.Scope, ReleaseID: job.RunID, Attempt: privacy.NewAttempt()})
	if err != nil {
		return nil, err
	}
	if job.Stage != nil {
		if err := job.Stage(r); err != nil {
			return nil, fmt.Errorf("stage release %s, which is spent: %w", job.RunID, err)
		}
	}
	return r, nil
}

// Complete recovers from a release that was paid for and writes back: the second
// half of a run, or the whole of a resumed one. The same release and job give the
// same bits.
func (m *Model) Complete(ctx context.Context, r *Release, job Job) (*report.Report, error) {
	rep, err := m.Recover(ctx, r, job.Recover)
	stalled := err
	if err != nil && !errors.Is(err, recovery.ErrStalled) {
		return nil, err
	}
	rep.Version, rep.Configuration = job.Version, job.Configuration
	start := time.Now()
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
	if err := m.markWritten(ctx, r, job); err != nil {
		return nil, err
	}
	rep.WriteMillis = since(start)
	return rep, stalled
}

// markWritten closes the release's entry in the ledger.
func (m *Model) markWritten(ctx context.Context, r *Release, job Job) error {
	digest, err := r.Digest()
	if err != nil {
		return err
	}
	_, err = privacy.MarkWritten(ctx, m.store.Ledger(), m.scope(job.Scope, job.Signal), r.ID(), digest)
	return err
}

// newReport fills in what is known before recovery.
func (m *Model) newReport(r *Release, p community.Partition) *report.Report {
	plan := r.Plan()
	mi := m.millis
	mi.ComputeMillis = mi.ProjectMillis + mi.PreProcessingMillis + mi.PrivacyMillis
	rep := &report.Report{
		RunID: r.ID(), Store: m.store.Name(), StartedAt: time.Now().UTC(),
		Guarantee: plan.Sentence(), NotProtected: report.Exposed(plan.ComponentCount), Notes: slices.Clone(m.notes),
		Ceiling:   recovery.Ceiling(plan.Mu, 1),
		NodeCount: plan.NodeCount, RelationshipCount: plan.RelationshipCount, ComponentCount: plan.ComponentCount,
		SensorCount: len(plan.Sensors),
		Tau:         plan.Tau, Laplacian: plan.Laplacian, KernelMethod: m.diffusion.Method().String(), Metric: plan.Metric,
		Epsilon: plan.Epsilon, Delta: plan.Delta, Alpha: plan.Alpha, Calibration: plan.Calibration.String(),
		Allocation: "uniform", Randomness: plan.Randomness.String(),
		EpsilonSpent: plan.Epsilon, DeltaSpent: plan.Delta, Sigma: plan.Sigma(),
		Sensitivity: report.Sensitivity{Lower: plan.Sensitivity.Lower, Upper: plan.Sensitivity.Upper, Edge: plan.Sensitivity.Edge},
		Communities: []report.Community{}, CommunityCount: p.Count, Modularity: p.Modularity, Millis: mi,
	}
	orders := p.Orders()
	slices.Sort(orders)
	rep.CommunityDistribution = report.NewDistribution(orders)
	return rep
}

// Scope names the data that a budget protects by default: store, selection and
// property. Two runs that read the same values share one budget.
func Scope(store string, sel graph.Selection, s Signal) string {
	part := func(names []string) string {
		if len(names) == 0 {
			return "*"
		}
		names = slices.Clone(names)
		slices.Sort(names)
		return strings.Join(slices.Compact(names), ",")
	}
	nodes := part(sel.NodeLabels)
	if sel.NodeQuery != "" {
		nodes = sel.NodeQuery
	}
	return fmt.Sprintf("%s nodes=%s property=%s", store, nodes, s.SourceProperty+s.MeasurementProperty)
}

// ConfigurationHash names a release's plan in a run record.
func ConfigurationHash(d privacy.Digest) string { return hex.EncodeToString(d[:8]) }
