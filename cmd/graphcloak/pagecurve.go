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
// that show most first: time may end before they do.
var curveSteps = []float64{1, 0.5, 2, 0.25, 4, 0.7, 1.4, 0.125}

// keepCurve adds the curve to the report of a run, for the pages that are made of what the
// history keeps. The run is over by then: an error ends nothing.
func (a *app) keepCurve(ctx context.Context, rep *report.Report) {
	if _, err := a.simulate(ctx, rep); err != nil {
		a.log.Info("no curve", "run", rep.RunID, "error", err)
	}
}

// keepShownCurve is keepCurve for a command, which takes the time where it makes a page.
func (a *app) keepShownCurve(ctx context.Context, rep *report.Report) {
	if a.page != nil && rep != nil {
		a.keepCurve(ctx, rep)
	}
}

// curveOf returns what simulates a plan at its ε and around it for a report, once, or says why it does not. It spends nothing: it
// knows the public graph and the plan.
func (a *app) curveOf(m *graphcloak.Model, p *privacy.Plan, opts analyst.Options) func(context.Context, *report.Report) (string, error) {
	why := ""
	return func(ctx context.Context, rep *report.Report) (string, error) {
		if rep.Curve != nil || why != "" {
			return why, nil
		}
		limited, cancel := context.WithTimeout(ctx, curveTime)
		defer cancel()
		list := make([]float64, len(curveSteps))
		for k, step := range curveSteps {
			list[k] = step * p.Epsilon
		}
		points, err := study.Curve(limited, m.Model, &graphcloak.Plan{Plan: p}, opts, list, study.Sample{Trials: curveTrials})
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case errors.Is(err, study.ErrTarget):
			why = "It is simulated for graphs of up to 6,000 nodes."
		case err != nil && !errors.Is(err, context.DeadlineExceeded):
			a.log.Info("no curve", "error", err)
			why = "It could not be simulated for these settings."
		case len(points) < 2:
			why = fmt.Sprintf("It was not had within %s; graphcloak plan --curve FILE takes the time.", curveTime)
		default:
			for _, x := range points {
				rep.Curve = append(rep.Curve, report.CurvePoint{Epsilon: x.Epsilon, Accuracy: x.Accuracy})
			}
			slices.SortFunc(rep.Curve, func(a, b report.CurvePoint) int { return cmp.Compare(a.Epsilon, b.Epsilon) })
		}
		return why, nil
	}
}
