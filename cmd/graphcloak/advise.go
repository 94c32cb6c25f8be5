// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
	"github.com/graphcloak/graphcloak/study/advice"
)

// facts are those of a model; the accuracy may be nil.
func (a *app) facts(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, accuracy *report.Accuracy) (advice.Facts, error) {
	part, err := m.Partition(ctx)
	f := advice.Facts{
		Graph: m.Graph, Metric: a.config.Privacy.Metric, Alpha: a.config.Privacy.Alpha, Delta: a.config.Privacy.Delta,
		Communities: part.Count, Accuracy: accuracy, Refused: !a.config.Privacy.SpendAtChance,
		Target:   m.Graph.Order() <= analyst.DenseLimit,
		CutShort: p != nil && p.TauChoice != nil && p.TauChoice.CutShort,
	}
	if a.config.Origin("aggregation").Layer == config.LayerDefault {
		f.Aggregation = a.config.Projection.Aggregation
	}
	return f, err
}

// advise warns of what will disappoint about a plan, which may be nil.
func (a *app) advise(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, accuracy *report.Accuracy) error {
	f, err := a.facts(ctx, m, p, accuracy)
	if err != nil {
		return err
	}
	if p != nil && f.Communities > 1 {
		part, err := m.Partition(ctx)
		if err != nil {
			return err
		}
		f.Rough = study.Rough(m.Model, p, part)
	}
	for _, w := range advice.Warnings(f) {
		a.warn("%s", w)
	}
	return nil
}

// adviseBeforeSpending is adviseOnPlan, and under --strict a warning ends the run.
func (a *app) adviseBeforeSpending(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, opts analyst.Options) error {
	before := len(a.warnings)
	if err := a.adviseOnPlan(ctx, m, p, opts); err != nil {
		return err
	}
	if a.config.Execution.Strict && len(a.warnings) > before {
		return fail(exitValidation, "--strict refuses to run in the face of %s; nothing was spent",
			report.Count(len(a.warnings)-before, "warning")).
			hint("fix what they name, or leave --strict out")
	}
	return nil
}

// adviseOnPlan warns of what will disappoint about a plan, and refuses one whose answer cannot be distinguished from chance.
func (a *app) adviseOnPlan(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, opts analyst.Options) error {
	a.noteEpsilon(p)
	accuracy, err := a.outlook(ctx, m, p, opts)
	if err == nil {
		err = a.refuseAtChance(ctx, m, p, accuracy)
	}
	if err == nil {
		err = a.advise(ctx, m, p, accuracy)
	}
	return err
}

// noteEpsilon calls a large ε what it is.
func (a *app) noteEpsilon(p *graphcloak.Plan) {
	if p.Epsilon > 10 {
		a.note("Note: ε = %v is above 10: the release may change the odds between two places that are α apart by more than a factor of "+
			"e^10, which is 22,000. That hides little.", p.Epsilon)
	}
}

// refuseAtChance is the refusal of a run whose answer cannot be distinguished from chance, and says what would help.
func (a *app) refuseAtChance(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, accuracy *report.Accuracy) error {
	if accuracy == nil || !accuracy.AtChance() || a.config.Privacy.SpendAtChance {
		return nil
	}
	f, err := a.facts(ctx, m, p, accuracy)
	if err != nil {
		return err
	}
	for _, w := range advice.Warnings(f) {
		if w.Code != "accuracy" {
			a.warn("%s", w)
		}
	}
	return fail(exitValidation, "%w; nothing was spent",
		study.AtChance(accuracy)).hint("%s; --spend-at-chance spends all the same", f.Help())
}

// adviseOf is advise for a job without a plan: it makes one, where that is had in time, and returns the accuracy, nil where that is
// not known.
func (a *app) adviseOf(ctx context.Context, m *graphcloak.Model, job graphcloak.Job) (*report.Accuracy, error) {
	if job.Signal.AnswerProperty != "" { // `graphcloak evaluate` simulates whispers
		return nil, nil
	}
	least, _, err := study.RunTime(m.Model, job)
	if err != nil {
		return nil, err
	}
	if least > tryTime {
		a.note("Note: how often the answer would be right was not simulated, for a plan takes a while on this graph; `graphcloak plan` " +
			"makes one and says")
		return nil, a.advise(ctx, m, nil, nil)
	}
	p, err := m.Plan(ctx, job.Plan)
	if err != nil {
		return nil, err
	}
	accuracy, err := a.outlook(ctx, m, p, job.Recover)
	if err != nil {
		return nil, err
	}
	return accuracy, a.advise(ctx, m, p, accuracy)
}
