// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/report"
)

// CheckFalseAlarm refuses, with [recovery.ErrInvalid], what is no rate of false alarms in
// (0, 1], 0 being the default.
func CheckFalseAlarm(rate float64) error {
	if !(rate >= 0 && rate <= 1) {
		return fmt.Errorf("%w: the rate of false alarms is %v, want above 0 and at most 1", recovery.ErrInvalid, rate)
	}
	return nil
}

// check reports whether there is a source at all, and whether the sources that the answer
// supposes explain the measurements w, which are those of sensors that are not suspect. Where
// several τ are possible both are asked of all of the grid, along the directions that are visible under
// the operator's own, and where the fit is poor at those, between them too; other explanations are weighed
// at the likeliest. So it is for listed graphs. Where some are left out the fit of all is tested too, as if they were sound.
func (a *analysis) check(ctx context.Context, w *Whitened, opts posterior.Options) error {
	opts.Faults = posterior.Faults{}
	several := a.severalProcesses()
	if several {
		opts.Norms = nil
	}
	all := opts
	if w != a.Whitened && !several {
		norms, err := posterior.ColumnNorms(ctx, w.Data, opts)
		if err != nil {
			return err
		}
		opts.Norms = &norms
	}
	c, err := a.test(ctx, w, opts, several)
	if err != nil {
		return err
	}
	if a.opts.Tau.IsWide() && several && c.Fit < report.PoorFit {
		if err := a.extra(ctx, "how well the model fits between the τ of the grid", a.betweenTaus(ctx, w, opts, c)); err != nil {
			return err
		}
	}
	if err := a.addFit(ctx, w, opts, c); err != nil {
		return err
	}
	if err := a.addPresence(ctx, &c.Presence, w, opts); err != nil {
		return err
	}
	if w != a.Whitened {
		sound, err := a.test(ctx, a.Whitened, all, several)
		if err != nil {
			return err
		}
		a.report.Fit.PValueAllSound = &sound.Fit
	}
	if a.report.Fit.PValue >= report.PoorFit && !a.report.Misfits() {
		return nil
	}
	return a.extra(ctx, "the evidence for other explanations", a.explainOtherwise(ctx, w, opts, c.LogPresence))
}

// test asks whether there is a source, and whether one explains the measurements. What it simulates is kept
// for the next measurements with the same noise at the same sensors.
func (a *analysis) test(ctx context.Context, w *Whitened, opts posterior.Options, several bool) (*posterior.Check, error) {
	if several {
		all, err := a.underEach(ctx, w)
		if err != nil {
			return nil, err
		}
		checker, err := posterior.NewChecker(ctx, all, w.checkOptions(opts, a.opts.falseAlarm()))
		if err != nil {
			return nil, err
		}
		return checker.Check(w.Data.Y), nil
	}
	of := simulated{
		nodes: w.in.Nodes, sigmas: w.in.Sigmas, prior: a.prior, amplitude: opts.Amplitude, falseAlarm: a.opts.falseAlarm(),
	}
	if !w.op.last.is(of) {
		var err error
		if of.checker, err = w.NewChecker(ctx, opts, of.falseAlarm, 0); err != nil {
			return nil, err
		}
		of.nodes, of.sigmas, of.prior = slices.Clone(of.nodes), slices.Clone(of.sigmas), slices.Clone(of.prior)
		w.op.last = of
	}
	return w.op.last.checker.Check(w.Data.Y), nil
}

// explainOtherwise weighs other explanations against one source of log evidence one, which is that under
// the likeliest process where several are possible.
func (a *analysis) explainOtherwise(ctx context.Context, w *Whitened, opts posterior.Options, one float64) error {
	if a.severalProcesses() {
		at, err := w.under(ctx, a.likeliest().Operator)
		if err != nil {
			return err
		}
		p, err := posterior.New(ctx, at.Data, opts)
		if err != nil {
			return err
		}
		w, one = at, p.LogPresence
	}
	var measured []report.Alternative
	if a.opts.FaultRate != nil {
		answers, anything := posterior.Unsmoothed(w.Data.Y, uniformBackground(w.Data))
		measured = []report.Alternative{
			{Name: report.Answers, LogEvidence: answers - one}, {Name: report.OtherProcess, LogEvidence: anything - one},
		}
	}
	if a.faulty != nil {
		measured = append(measured, report.Alternative{Name: report.SharedOffset, LogEvidence: a.patch})
	}
	var err error
	a.report.Fit.Alternatives, err = w.Explanations(ctx, opts, one, measured...)
	return err
}

// addPresence reports whether there is a source at all, from the measurements w.
func (a *analysis) addPresence(ctx context.Context, p *posterior.Presence, w *Whitened, opts posterior.Options) error {
	none, off, alarm := 0.0, 0.0, a.opts.falseAlarm()
	second := 0.0
	if s := a.report.Sources; s != nil && s.Count == 2 && s.LogSecond != nil {
		second = *s.LogSecond
	}
	if alarm < 1 {
		none = math.Exp(-a.report.Posterior.LogPresence - second)
	}
	if a.faulty != nil {
		patch, err := w.offset(ctx, opts, a.indices(1)[0])
		if err != nil {
			return err
		}
		a.patch = patch - p.LogPresence
		off = patchOdds * math.Exp(min(a.patch-second, 700)) // finite
	}
	a.report.Presence = &report.Presence{
		Probability: 1 / (1 + none + off), SharedOffset: off / (1 + none + off),
		Detected: alarm >= 1 || p.NoSource <= alarm*(1+1e-12), PValue: p.NoSource, FalseAlarm: alarm,
		Threshold: report.Finite(p.Threshold(alarm)), Trials: p.Trials,
	}
	return nil
}

// weighPresence counts in, in every probability of a node or community, that there may be no source.
func (a *analysis) weighPresence() {
	q := a.report.Presence.Probability
	if q == 1 {
		return
	}
	a.probability = slices.Clone(a.probability)
	floats.Scale(q, a.probability)
	for i := range a.report.Communities {
		a.report.Communities[i].Probability *= q
	}
	a.report.Posterior.Probability *= q
}

// addFit reports whether the sources that the answer supposes explain the measurements.
func (a *analysis) addFit(ctx context.Context, w *Whitened, opts posterior.Options, c *posterior.Check) error {
	method := "simulated"
	if c.FitTrials == 0 {
		method = "bound"
	}
	a.report.Fit = &report.Fit{PValue: c.Fit, Method: method, Trials: c.FitTrials, Residual: c.Residual, Measurements: len(w.Data.Y)}
	s := a.report.Sources
	if s == nil || s.Count <= 1 {
		return nil
	}
	var residual float64
	var err error
	if a.severalProcesses() {
		residual, err = a.leastResidual(ctx, w, opts, s.Count)
	} else {
		residual, err = posterior.LeastResidual(ctx, w.Data, a.indices(s.Count), opts)
	}
	if err != nil {
		return err
	}
	a.report.Fit = &report.Fit{
		PValue: posterior.ResidualTail(residual, len(w.Data.Y)), Method: "bound", Residual: residual,
		Measurements: len(w.Data.Y),
	}
	return nil
}

// Explanations weighs a second source and a background against one source under the model, of log evidence one, beside what else
// there is: the best first, and with an error, [posterior.ErrInvalid], those that were weighed until then.
func (w *Whitened) Explanations(ctx context.Context, opts posterior.Options, one float64,
	more ...report.Alternative,
) (list []report.Alternative, err error) {
	add := func(what string, log float64, e error) {
		if e == nil && !math.IsNaN(log) && !math.IsInf(log, 0) {
			list = append(list, report.Alternative{Name: what, LogEvidence: log})
		}
		err = e
	}
	if n := w.op.Graph.Order(); n > 1 && n <= DenseLimit {
		log, err := posterior.Second(ctx, w.Data, opts)
		add(report.SecondSource, log, err)
	}
	if err == nil {
		log, err := posterior.Background(ctx, w.Data, uniformBackground(w.Data), opts)
		add(report.UniformBackground, log-one, err)
	}
	for _, x := range more {
		add(x.Name, x.LogEvidence, err)
	}
	slices.SortStableFunc(list, func(x, y report.Alternative) int { return cmp.Compare(y.LogEvidence, x.LogEvidence) })
	return list, err
}
