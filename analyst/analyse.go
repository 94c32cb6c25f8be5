// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"context"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/report"
)

// Analyse computes the posterior, the ranking of the communities and f̂, and puts them
// into the report. A nil prior is flat. Where Basis Pursuit Denoising ends without a
// certificate, its status is stalled and its gap is what was proven; the posterior does
// not depend on it. The communities are asked for once, where nothing is left to compute without them. It returns [recovery.ErrInvalid] for
// measurements that do not fit together or to
// the graph, for a number of sources that the prior does not allow; and
// [expm.ErrAccuracy] where double precision does not carry [Options].Tau.
func (o *Operator) Analyse(ctx context.Context,
	in Measurements, communities func(context.Context) (community.Partition, error), prior []float64, opts Options,
	rep *report.Report,
) error {
	if err := CheckFaultRate(opts.FaultRate); err != nil {
		return err
	}
	if err := CheckFalseAlarm(opts.FalseAlarm); err != nil {
		return err
	}
	w, err := o.Whiten(ctx, in)
	if err != nil {
		return err
	}
	rep.SensorCount = o.SensorCount(in.Nodes)
	a := analysis{Whitened: w, communities: communities, prior: prior, opts: opts, report: rep}
	return a.run(ctx)
}

func (a *analysis) run(ctx context.Context) error {
	opts := posterior.Options{Amplitude: a.opts.Amplitude, Prior: a.prior, Faults: a.Faults(a.opts), Progress: a.op.Progress}
	norms, err := posterior.ColumnNorms(ctx, a.Data, opts)
	if err != nil {
		return err
	}
	opts.Norms = &norms
	post, err := posterior.New(ctx, a.Data, opts)
	if err != nil {
		return err
	}
	sure := opts
	sure.Amplitude = posterior.UnitAmplitude
	known, err := posterior.New(ctx, a.Data, sure)
	if err != nil {
		return err
	}
	if post, known, err = a.overProcesses(ctx, post, known, opts); err != nil {
		return err
	}
	a.addPosterior(post)
	a.report.Posterior.KnownMassSetSize = len(known.Credible())
	if err := a.severalSources(ctx, opts); err != nil {
		return err
	}
	sound := a.addSuspects(a.faulty)
	if err := sound.ComputeSpectrum(ctx); err != nil {
		return err
	}
	result, bpdn, err := sound.Denoise(ctx, a.op.Progress)
	if err != nil {
		return err
	}
	if err := a.rank(ctx); err != nil {
		return err
	}
	a.report.BPDN = bpdn
	a.addDenoised(result)
	if err := a.check(ctx, sound, opts); err != nil {
		return err
	}
	a.weighPresence()
	a.addNodes(result)
	return nil
}
