// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"context"

	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
	"github.com/graphcloak/graphcloak/posterior"
)

// fitTauWork bounds entries of M times nodes where the fit is held against other τ.
const fitTauWork = 2e9

// falseAlarm is the probability with which a source may be found where there is none.
func (o Options) falseAlarm() float64 {
	if o.FalseAlarm == 0 {
		return DefaultFalseAlarm
	}
	return o.FalseAlarm
}

// NewChecker tests many measurements as [Operator.Analyse] tests one, of sound sensors whose τ is known.
// The directions that are looked at are those of the last ComputeSpectrum; Analyse takes seed 0.
func (w *Whitened) NewChecker(ctx context.Context, opts posterior.Options, falseAlarm float64, seed uint64) (*posterior.Checker, error) {
	check, err := w.checkOptions(ctx, opts, falseAlarm, true)
	if err != nil {
		return nil, err
	}
	check.Seed = seed
	return posterior.NewChecker(ctx, w.Data, check)
}

// checkOptions say what the measurements are held against; another τ where it is known and entries of M are held.
func (w *Whitened) checkOptions(ctx context.Context, opts posterior.Options, falseAlarm float64, tauKnown bool) (posterior.CheckOptions, error) {
	check := posterior.CheckOptions{Options: opts, Visible: w.spectrum().Visible(), FalseAlarm: falseAlarm, Background: uniformBackground(w.Data)}
	n, m := w.op.Graph.Order(), len(w.Data.Y)
	if !tauKnown || n > DenseLimit || float64(n)*float64(n)*float64(m) > fitTauWork {
		return check, nil
	}
	for _, by := range []float64{0.5, 2} {
		if err := ctx.Err(); err != nil {
			return check, err
		}
		if at, err := w.atTau(ctx, by*w.op.Diffusion.Tau()); err == nil { // what cannot be computed with is no explanation
			check.Others = append(check.Others, at.Data.A)
		}
	}
	return check, nil
}

// uniformBackground is a reading of 1 at every sensor, in units of its noise.
func uniformBackground(d measurement.Data) []float64 {
	scale := d.A.(linop.Scaled).Scale
	return append([]float64(nil), scale...)
}
