// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/advice"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
)

// What a run simulates before it spends: few trials, for a warning needs no more, and no more than adviceTime of one processor,
// as sizes foresee it.
const (
	adviceTrials = 100
	adviceTime   = 10 * time.Second
)

// facts are those of a model; the accuracy may be nil.
func (a *app) facts(ctx context.Context, m *graphcloak.Model, accuracy *report.Accuracy) (advice.Facts, error) {
	part, err := m.Partition(ctx)
	f := advice.Facts{
		Graph: m.Graph, Metric: a.config.Privacy.Metric, Alpha: a.config.Privacy.Alpha, Delta: a.config.Privacy.Delta,
		Communities: part.Count, Accuracy: accuracy, Target: m.Graph.Order() <= analyst.DenseLimit,
	}
	if a.config.Origin("aggregation").Layer == config.LayerDefault {
		f.Aggregation = a.config.Projection.Aggregation
	}
	return f, err
}

// rough is how often the right community is named by the simulation that τ was chosen by, and
// by chance; 0 where it was given.
func rough(p *graphcloak.Plan) (right, chance float64) {
	if p.TauChoice == nil {
		return 0, 0
	}
	k := slices.IndexFunc(p.TauChoice.Points, func(x graphcloak.TauPoint) bool { return x.Tau == p.Public.Tau })
	if k < 0 {
		return 0, 0
	}
	return p.TauChoice.Points[k].Accuracy, p.TauChoice.Chance
}

// neverRight stands for a simulation that was never right, for 0 is unknown.
const neverRight = 1e-9

// searched is how often the right community is named by the simulation that compared an allocation with uniform noise, and
// by chance.
func searched(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan) (right, chance float64, err error) {
	part, err := m.Partition(ctx)
	if err != nil {
		return 0, 0, err
	}
	prior := m.Prior
	if prior == nil {
		prior = slices.Repeat([]float64{1 / float64(m.Graph.Order())}, m.Graph.Order())
	}
	right = p.Searched().Right
	if p.Allocated == nil {
		right = p.Searched().Equal
	}
	return max(neverRight, right), slices.Max(part.Sums(prior)), nil
}

// advise warns of what will disappoint about a plan, which may be nil.
func (a *app) advise(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, accuracy *report.Accuracy) error {
	f, err := a.facts(ctx, m, accuracy)
	if err == nil && p != nil && f.Communities > 1 {
		f.Rough, f.Chance = rough(p)
		if p.Searched() != nil { // of the plan itself, where no other simulation is made
			if f.Rough, f.Chance, err = searched(ctx, m, p); err != nil {
				return err
			}
		}
	}
	if err == nil {
		a.warnOf(advice.Warnings(f))
		a.warnOfSensors(p)
	}
	return err
}

// warnOfSensors tells of a limit on the sensors that report which a plan does not keep.
func (a *app) warnOfSensors(p *graphcloak.Plan) {
	if p == nil || p.Allocated != nil || p.UniformReason == "" {
		return
	}
	if most := a.config.Privacy.MaxSensors; most > 0 && most < len(p.Sensors) {
		a.warn("--max-sensors %d is not kept: %s; leave it out, or name the sensors by --sensor-property", most, p.UniformReason)
	}
}

func (a *app) warnOf(list []advice.Warning) {
	for _, w := range list {
		a.warn("%s", w)
	}
}

// adviseBeforeSpending warns of what will disappoint about a plan. Under --strict a warning
// ends the run.
func (a *app) adviseBeforeSpending(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, opts analyst.Options) error {
	before := len(a.warnings)
	if err := a.adviseOnPlan(ctx, m, p, opts); err != nil {
		return err
	}
	if a.config.Execution.Strict && len(a.warnings) > before {
		return fail(exitValidation, "--strict refuses to run in the face of %s; nothing was spent", report.Count(len(a.warnings)-before, "warning")).
			hint("mend what they name, or leave --strict out")
	}
	return nil
}

// adviseOnPlan is advise with an accuracy of its own, where sizes do not foresee it to take long.
func (a *app) adviseOnPlan(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, opts analyst.Options) error {
	accuracy, err := a.briefAccuracy(ctx, m, p, opts)
	if err != nil {
		return err
	}
	return a.advise(ctx, m, p, accuracy)
}

// adviseOf is advise for a job without a plan: it makes one, where that is had in time.
func (a *app) adviseOf(ctx context.Context, m *graphcloak.Model, job graphcloak.Job) error {
	limited, cancel := context.WithTimeout(ctx, adviceTime)
	defer cancel()
	var accuracy *report.Accuracy
	p, err := m.Plan(limited, job.Plan)
	if err == nil {
		accuracy, err = study.PlanAccuracy(limited, m, p, job.Recover, a.sample(adviceTrials))
	}
	if err != nil && (limited.Err() == nil || ctx.Err() != nil) {
		return err
	}
	return a.advise(ctx, m, p, accuracy)
}
