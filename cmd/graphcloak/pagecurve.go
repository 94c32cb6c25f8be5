// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
)

// What the curve of a page is simulated from, and for how long at most.
const (
	curveTrials = 200
	curveTime   = 10 * time.Second
)

// curveSteps are the points of a page's curve as multiples of the run's own ε, the ones
// that tell most first: time may end before they do.
var curveSteps = []float64{1, 0.5, 2, 0.25, 4, 0.7, 1.4, 0.125}

// keepCurve adds the curve to the report of a run, for the pages that are made of what the
// history keeps. The run is over by then: a curve that is not had ends nothing.
func (a *app) keepCurve(ctx context.Context, rep *report.Report) {
	curve, _, err := a.simulate(ctx)
	if err != nil {
		a.log.Info("no curve", "run", rep.RunID, "error", err)
		return
	}
	rep.Curve = curve
}

// keepShownCurve is keepCurve for a command, which takes the time where it makes a page.
func (a *app) keepShownCurve(ctx context.Context, rep *report.Report) {
	if a.page != nil && rep != nil {
		a.keepCurve(ctx, rep)
	}
}

// curveOf returns what simulates a plan at its ε and around it, or says why it does not:
// once, however often it is asked. It spends nothing: it knows the public graph and the plan.
func (a *app) curveOf(m *graphcloak.Model, p *privacy.Plan,
	opts analyst.Options,
) func(context.Context) ([]report.CurvePoint, string, error) {
	var curve []report.CurvePoint
	var why string
	return func(ctx context.Context) (_ []report.CurvePoint, _ string, err error) {
		if curve == nil && why == "" {
			curve, why, err = a.simulatedCurve(ctx, m, p, opts)
		}
		return curve, why, err
	}
}

func (a *app) simulatedCurve(ctx context.Context, m *graphcloak.Model, p *privacy.Plan,
	opts analyst.Options,
) ([]report.CurvePoint, string, error) {
	limited, cancel := context.WithTimeout(ctx, curveTime)
	defer cancel()
	list := make([]float64, len(curveSteps))
	for k, step := range curveSteps {
		list[k] = step * p.Epsilon
	}
	points, err := study.Curve(limited, m.Model, &graphcloak.Plan{Plan: p}, opts, list, a.sample(curveTrials))
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case errors.Is(err, study.ErrTarget):
		return nil, "It is simulated for graphs of up to 6,000 nodes.", nil
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		a.log.Info("no curve", "error", err)
		return nil, "It could not be simulated for these settings.", nil
	case len(points) < 2:
		return nil, fmt.Sprintf("It was not had within %s; graphcloak plan --curve FILE takes the time.", curveTime), nil
	}
	out := make([]report.CurvePoint, len(points))
	for k, x := range points {
		out[k] = report.CurvePoint{Epsilon: x.Epsilon, Accuracy: x.Accuracy}
	}
	slices.SortFunc(out, func(a, b report.CurvePoint) int { return cmp.Compare(a.Epsilon, b.Epsilon) })
	return out, "", nil
}
