// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

// conclude prints the report of a run and forgets what was staged for it. An
// error before the release is the error; one after it leaves the run held.
func (a *app) conclude(ctx context.Context, s graphStore, job graphcloak.Job, rep *report.Report, err error, extra ...term.Section) error {
	if err != nil {
		return err
	}
	nodes := rep.Nodes()
	nodes.Captions = a.captions
	rep.SetNodes(nodes)
	if a.page != nil {
		written, err := a.page(rep)
		if err != nil {
			return a.paidFor(job.RunID, err)
		}
		extra = append(extra, written)
	}
	for _, q := range memberQueries(rep, job.Write.Prefix) {
		extra = append(extra, term.Section{Title: q.What, Text: q.Text})
	}
	if a.outputFormat() == "table" {
		sums := a.summary(ctx, s, rep)
		sums.Last = true
		extra = append(extra, sums)
	}
	if err := a.show(rep, a.config.Write.Mode, extra...); err != nil {
		return a.paidFor(job.RunID, err)
	}
	if job.RunID != "" {
		if err := a.forget(); err != nil {
			a.warn("the staged release could not be removed: %v", err)
		}
	}
	return a.certified(rep.BPDN)
}

// certified warns where Basis Pursuit Denoising has no certificate, which is an error
// under --strict, as is a proof that it has no answer. What the posterior says stands in
// both cases.
func (a *app) certified(b report.BPDN) error {
	what := "Basis Pursuit Denoising is infeasible within the radius"
	switch b.Status {
	case recovery.Infeasible.String():
	case recovery.Stalled.String():
		what = "Basis Pursuit Denoising stopped without a certificate"
		if b.Gap != nil {
			what += fmt.Sprintf(", at a relative gap of %.2g", *b.Gap)
		}
		what += ": f̂ may not be optimal; the ranking of the communities does not depend on it"
	default:
		return nil
	}
	if a.config.Execution.Strict {
		return fail(exitNotCertified, "%s", what).hint("the answer is written all the same; without --strict this is a warning")
	}
	if b.Status == recovery.Stalled.String() {
		a.warn("%s", what)
	}
	return nil
}

// finishRelease is publish for heat.
func (a *app) finishRelease(ctx context.Context, m *graphcloak.Model, r *graphcloak.Release, job graphcloak.Job) error {
	spent := fmt.Sprintf("ε = %v at δ = %v", r.Plan().Epsilon, r.Plan().Delta)
	return a.publish(job, spent, func() (int64, error) { return m.Publish(ctx, r, job) }, func() error { return a.showRelease(r) })
}

// publish writes a release, prints it, and forgets what was kept of it.
// The ledger holds the digest of its values before they are shown: anyone who drew others for
// the same payment is refused.
func (a *app) publish(job graphcloak.Job, spent string, write func() (int64, error), show func() error) error {
	written, err := write()
	if err != nil {
		return a.outdated(err, job.RunID)
	}
	if err := show(); err != nil {
		return a.paidFor(job.RunID, err)
	}
	if err := a.forget(); err != nil {
		a.warn("the staged release could not be removed: %v", err)
	}
	if job.Write.Enabled {
		a.note("Wrote %d node properties as run %s", written, job.RunID)
	}
	if path := a.outputPath(); path != "" && a.tty.err {
		a.note("Spent %s from scope %s; next: `graphcloak recover --release %s` with the same --from or --uri", spent,
			run.Scope(job.Signal), path)
	}
	return nil
}

func (a *app) showRelease(r *graphcloak.Release) error {
	p, y := r.Plan(), r.Values()
	rows := make([][]any, len(y))
	for k, s := range p.Sensors {
		rows[k] = []any{string(s.ID), y[k], s.Sigma()}
	}
	return a.render(r,
		term.Section{Text: fmt.Sprintf("Release %s: ε = %v, δ = %v spent. ", r.ID(), p.Epsilon, p.Delta) + p.Sentence()},
		term.Section{
			Title: "Private measurement" + moreText(len(rows)), Columns: []string{"nodeId", "privateHeat", "privateHeatSigma"},
			Rows: slices.Values(fewRows(a, rows)),
		})
}

// written are the properties that a job writes, of those of a table.
func written(job graphcloak.Job, table report.Table) []string {
	names := []string{}
	for _, c := range table.Columns() {
		if job.Write.Enabled {
			names = append(names, c.Name)
		}
	}
	return names
}

// wouldSpend says what a release would cost and write.
func (a *app) wouldSpend(m *graphcloak.Model, p *graphcloak.Plan, job graphcloak.Job, table report.Table) error {
	names, noise := written(job, table), p.Noise()
	result := struct {
		DryRun            bool    `json:"dryRun"`
		EpsilonWouldSpend float64 `json:"epsilonWouldSpend"`
		DeltaWouldSpend   float64 `json:"deltaWouldSpend"`
		RhoWouldSpend     float64 `json:"rhoWouldSpend"`
		report.Noise
		NodeCount           int      `json:"nodeCount"`
		SensorCount         int      `json:"sensorCount"`
		PropertiesWouldGain []string `json:"nodeProperties"`
		Guarantee           string   `json:"guarantee"`
		NotProtected        []string `json:"notProtected"`
	}{
		true, p.Epsilon, p.Delta, p.Cost().Rho(), noise, p.NodeCount, m.Operator.SensorCount(plan.SensorRows(p.Plan)), names,
		p.Sentence(), report.ExposedBy(p.Plan),
	}
	facts := term.Fields(result, "dryRun", "guarantee", "notProtected")
	facts.Title = "Dry run: nothing was written or spent"
	return a.render(result, facts, term.Section{Title: "Guarantee", Text: p.Sentence()})
}

// outdated explains a run that cannot be completed since its graph is another.
func (a *app) outdated(err error, runID string) error {
	if !errors.Is(err, plan.ErrGraphChanged) && !errors.Is(err, connector.ErrNotFound) {
		if errors.Is(err, plan.ErrOperator) {
			return fail(exitCode(err), "run %s cannot be completed: %w", runID, err).hint("give --operator as when it was begun, or give "+
				"the run up: `graphcloak run --undo %s`; what it spent stays spent", runID).about("run", runID)
		}
		return err
	}
	return fail(exitCode(errors.Join(plan.ErrGraphChanged)), "run %s cannot be completed: %w", runID, err).
		hint("restore the graph as it was, or give the run up: `graphcloak run --undo %s`; what it spent stays spent",
			runID).about("run", runID)
}

// recoverFile recovers from what a release file says, under the settings of its plan.
func (a *app) recoverFile(ctx context.Context, s graphStore, settings graphcloak.Settings, signal graphcloak.Signal,
	outline func(*graphcloak.Model, graphcloak.Job) report.Table, complete func(*graphcloak.Model, graphcloak.Job) (*report.Report, error),
) error {
	job, err := a.job()
	if err != nil {
		return err
	}
	job.Settings, job.Signal = chosen(settings, a.config.Recovery, a.config.Community), signal
	if err := job.CheckSignal(); err != nil {
		return err
	}
	if job.RunID, err = run.NewRunID(); err != nil {
		return err
	}
	m, err := a.load(ctx, s, job)
	if err != nil {
		return err
	}
	if job.Write.Enabled {
		if err := s.Check(ctx, m.Graph, outline(m, job), job.Write.Force); err != nil {
			return err
		}
	}
	if err := a.preparePage(ctx, s, m.Graph, signal, job.RunID); err != nil {
		return err
	}
	rep, err := complete(m, job)
	return a.conclude(ctx, s, job, rep, err)
}
