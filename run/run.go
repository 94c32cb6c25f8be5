// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"time"

	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/report"
)

// Run loads the graph, plans, releases, recovers and writes back: [Load] and
// [Model.Run]. A source that is a [Store] keeps the ledger and takes the results, where
// the job names no other: [ErrNoLedger], [ErrNoSink]. Other errors are those of both.
func Run(ctx context.Context, s plan.Source, job Job, opts plan.LoadOptions) (*report.Report, error) {
	if err := job.CheckSignal(); err != nil {
		return nil, err
	}
	job, err := job.resolved(s)
	if err != nil {
		return nil, err
	}
	m, err := Load(ctx, s, job.Settings, opts)
	if err != nil {
		return nil, err
	}
	return m.Run(ctx, job)
}

// Run plans, releases, recovers and writes back. Input, conflicts and what recovery
// needs are checked before anything is spent: a signal that is public is refused with
// [plan.ErrSignalPublic]. An [UnfinishedError] says that the run stopped once it was
// reserved or paid for. A dry run ends before, with no report: its error is what would
// stop the run, or what the ledger would refuse it with, such as
// [privacy.ErrExhausted] or [privacy.ErrGuarantee]. Other errors are those of [plan.Model.Plan], [Model.Check],
// [Model.Release] and [Model.Complete]; of answers, [ErrRound] and [whisper.ErrInvalid].
func (m *Model) Run(ctx context.Context, job Job) (*report.Report, error) {
	job.Settings = m.Settings
	if err := job.CheckSignal(); err != nil {
		return nil, err
	}
	job, err := job.begun(m.Source)
	if err != nil {
		return nil, err
	}
	if job.Signal.AnswerProperty != "" {
		return m.runWhisper(ctx, job)
	}
	if err := m.checkEarly(ctx, job.Signal); err != nil {
		return nil, err
	}
	p, err := m.prepare(ctx, job)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	y, err := m.checkRun(ctx, p, job)
	if err != nil {
		return nil, err
	}
	if job.DryRun || job.AskFirst {
		if err := m.checkGrant(ctx, p, job); err != nil || job.DryRun {
			return nil, err
		}
	}
	r, err := m.release(ctx, p, y, job)
	if err != nil {
		return nil, err
	}
	m.Millis.PrivacyMillis = wholeSeconds(plan.Since(start))
	return m.Complete(ctx, r, job)
}

// checkEarly refuses bad sources before τ is searched for, which may take minutes. They are
// read again for the release: nothing of them is kept, or enters the plan.
func (m *Model) checkEarly(ctx context.Context, s plan.Signal) error {
	if !m.Open || s.SourceProperty == "" || s.Validate() != nil {
		return nil
	}
	_, err := m.sources(ctx, s)
	return err
}

// prepare does what a run does with public data alone.
func (m *Model) prepare(ctx context.Context, job Job) (*plan.Plan, error) {
	start := time.Now()
	defer m.BeginPartition(ctx)()
	p, err := m.Plan(ctx, job.Plan)
	if err != nil {
		return nil, err
	}
	if _, err := m.Partition(ctx); err != nil {
		return nil, err
	}
	if job.Planned != nil {
		err = job.Planned(p)
	}
	m.Millis.PreProcessingMillis = plan.Since(start)
	return p, err
}

// checkRun returns the readings, since they are checked too.
func (m *Model) checkRun(ctx context.Context, p *plan.Plan, job Job) ([]float64, error) {
	y, err := m.check(ctx, p, job, report.Outline(job.RunID, job.Write.Prefix, m.SensorNodes(p.Plan)))
	if err != nil {
		return nil, err
	}
	return y, m.checkRecovery(ctx, p, job.Recover)
}

func (m *Model) release(ctx context.Context, p *plan.Plan, y []float64, job Job) (*Release, error) {
	a, draw, err := m.attemptFromStore(p, job, y)
	if err != nil {
		return nil, err
	}
	return pay(ctx, m, a, report.Outline(job.RunID, job.Write.Prefix, m.SensorNodes(p.Plan)), job, draw, putRelease, false)
}

// Resume completes a run that was kept: [Model.Redeem], then [Model.Complete], or [Model.Publish] with no report where nothing is
// recovered. The job says how to recover, and is otherwise the one that began the run: its RunID, signal and write options are
// k's. The errors are those of the three.
func (m *Model) Resume(ctx context.Context, k *Kept, job Job) (*report.Report, error) {
	if err := m.Redeem(ctx, k, job); err != nil {
		return nil, err
	}
	switch {
	case k.Answers != nil && k.ReleaseOnly:
		_, err := m.PublishAnswers(ctx, k.Answers, job)
		return nil, err
	case k.Answers != nil:
		return m.CompleteAnswers(ctx, k.Answers, job)
	case k.ReleaseOnly:
		_, err := m.Publish(ctx, k.Release, job)
		return nil, err
	}
	return m.Complete(ctx, k.Release, job)
}

// Complete recovers from a release that was paid for and writes back: the second
// half of a run, the whole of a resumed one, or, under another run id than the
// release's, a new look at an old release. The same release and job give the same
// bits. The errors are those of [Model.Recover], [Payment] and [Model.Publish].
func (m *Model) Complete(ctx context.Context, r *Release, job Job) (*report.Report, error) {
	rep, err := m.complete(ctx, r, job)
	if err == nil || job.RunID != r.ID() || errors.Is(err, ErrUnpaid) {
		return rep, err
	}
	return nil, &UnfinishedError{job.RunID, IsSpent, err}
}

func (m *Model) complete(ctx context.Context, r *Release, job Job) (*report.Report, error) {
	var err error
	if job.Write.To, err = sinkOf(m.Source, job.Write); err != nil {
		return nil, err
	}
	if job.RunID == r.ID() {
		if job.Ledger, err = ledgerOf(m.Source, job.Ledger); err != nil {
			return nil, err
		}
	}
	rep, err := m.Recover(ctx, r, job.Recover)
	if err != nil {
		return nil, err
	}
	rep.RunID, rep.Version, rep.Configuration = job.RunID, job.Version, job.Configuration
	if job.RunID == r.ID() {
		rep.EpsilonSpent, rep.DeltaSpent = rep.Epsilon, rep.Delta
	}
	return m.writeBack(ctx, r, job.RunID == r.ID(), rep, job, func() (report.Table, error) {
		return report.NewTable(r.Release, m.SensorNodes(r.Plan()), rep, job.Write.Prefix)
	})
}
