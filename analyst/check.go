// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/recovery"
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
// at the likeliest. So it is for listed graphs.
func (a *analysis) check(ctx context.Context, w *Whitened, opts posterior.Options) error {
	opts.Faults = posterior.Faults{}
	several := a.severalProcesses()
	if several {
		opts.Norms = nil
	} else if w != a.Whitened {
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
	if a.opts.TauFrom < a.opts.TauTo && several && c.Fit < report.PoorFit {
		if err := a.extra(ctx, "how well the model fits between the τ of the grid", a.betweenTaus(ctx, w, opts, c)); err != nil {
			return err
		}
	}
	a.addPresence(&c.Presence)
	if err := a.addFit(ctx, w, opts, c); err != nil || a.report.Fit.PValue >= report.PoorFit {
		return err
	}
	return a.extra(ctx, "the evidence for other explanations", a.explainOtherwise(ctx, w, opts, c.LogPresence))
}

// test asks whether there is a source, and whether one explains the measurements. What it simulates is kept
// for the next measurements with the same noise at the same sensors.
func (a *analysis) test(ctx context.Context, w *Whitened, opts posterior.Options, several bool) (*posterior.Check, error) {
	if several || !linop.HoldsEntries(w.Data.A) {
		check, err := w.checkOptions(ctx, opts, a.opts.falseAlarm(), !several)
		if err != nil {
			return nil, err
		}
		return posterior.NewChecks(ctx, a.underEach(ctx, w), check)
	}
	of := simulated{nodes: w.in.Nodes, sigmas: w.in.Sigmas, prior: a.prior, amplitude: opts.Amplitude, falseAlarm: a.opts.falseAlarm(), rule: a.opts.Rule}
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
	var err error
	a.report.Fit.Alternatives, err = w.Explanations(ctx, opts, one)
	return err
}

// addPresence reports whether there is a source at all.
func (a *analysis) addPresence(p *posterior.Presence) {
	alarm := a.opts.falseAlarm()
	a.report.Presence = &report.Presence{
		Detected: alarm >= 1 || p.NoSource <= alarm*(1+1e-12), PValue: p.NoSource, FalseAlarm: alarm,
		Threshold: report.Finite(p.Threshold(alarm)), Trials: p.Trials,
	}
}

// addFit reports whether the sources that the answer supposes explain the measurements.
func (a *analysis) addFit(ctx context.Context, w *Whitened, opts posterior.Options, c *posterior.Check) error {
	a.report.Fit = &report.Fit{PValue: c.Fit, Method: "simulated", Trials: c.FitTrials, Residual: c.Residual, Measurements: len(w.Data.Y)}
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
	a.report.Fit = &report.Fit{PValue: posterior.ResidualTail(residual, len(w.Data.Y)), Method: "bound", Residual: residual, Measurements: len(w.Data.Y)}
	return nil
}

// Alternatives to the model, and what is tried of them.
const (
	tauWork        = 1e10 // entries of M times nodes, for each other τ
	suspectedFault = 0.02 // rate of broken sensors
)

// Explanations weighs other explanations against one source under the model, of log evidence one: the best first, and
// with an error, [posterior.ErrInvalid] or [expm.ErrAccuracy], those that were weighed until then.
func (w *Whitened) Explanations(ctx context.Context, opts posterior.Options, one float64) (list []report.Alternative, err error) {
	n, m := w.op.Graph.Order(), len(w.Data.Y)
	add := func(what string, log, tau float64, e error) {
		if e == nil && !math.IsNaN(log) && !math.IsInf(log, 0) {
			list = append(list, report.Alternative{Name: what, LogEvidence: log - one, Tau: tau})
		}
		err = e
	}
	var log, tau float64
	if n > 1 && n <= DenseLimit {
		log, err = posterior.Second(ctx, w.Data, opts)
		add(report.SecondSource, log+one, 0, err)
	}
	if err == nil {
		log, err = posterior.Louder(ctx, w.Data, opts)
		add(report.LouderNoise, log, 0, err)
	}
	if err == nil {
		log, err = posterior.Background(ctx, w.Data, uniformBackground(w.Data), opts)
		add(report.UniformBackground, log, 0, err)
	}
	if err == nil && opts.Amplitude == posterior.UnitAmplitude {
		log, err = posterior.Weaker(ctx, w.Data, opts)
		add(report.WeakerSource, log, 0, err)
	}
	if err == nil && n <= DenseLimit {
		faulty := opts
		faulty.Faults.Rate = suspectedFault
		log, err = posterior.Broken(ctx, w.Data, faulty)
		add(report.BrokenSensors, log, 0, err)
	}
	if err == nil && float64(n)*float64(n)*float64(m) <= tauWork {
		log, tau, err = w.otherTau(ctx, opts)
		add(report.OtherTau, log, tau, err)
	}
	slices.SortStableFunc(list, func(x, y report.Alternative) int { return cmp.Compare(y.LogEvidence, x.LogEvidence) })
	return list, err
}

// otherTau returns the log evidence of one source where τ is a quarter, half, twice or four
// times what it is said to be, each as likely, and the likeliest of these. A τ that cannot
// be computed with is left out; −Inf where all are.
func (w *Whitened) otherTau(ctx context.Context, opts posterior.Options) (log, best float64, err error) {
	opts.Norms = nil
	var logs, taus []float64
	for _, by := range []float64{0.25, 0.5, 2, 4} {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		tau := by * w.op.Diffusion.Tau()
		at, err := w.atTau(ctx, tau)
		if err != nil {
			continue
		}
		p, err := posterior.New(ctx, at.Data, opts)
		if err != nil {
			return 0, 0, err
		}
		logs, taus = append(logs, p.LogPresence), append(taus, tau)
	}
	if len(logs) == 0 {
		return math.Inf(-1), 0, nil
	}
	return floats.LogSumExp(logs) - math.Log(float64(len(logs))), taus[floats.MaxIdx(logs)], nil
}
