// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"context"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

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
	check := w.checkOptions(opts, falseAlarm)
	check.Seed = seed
	return posterior.NewChecker(ctx, []measurement.Data{w.Data}, check)
}

// checkOptions say what the measurements are held against.
func (w *Whitened) checkOptions(opts posterior.Options, falseAlarm float64) posterior.CheckOptions {
	return posterior.CheckOptions{
		Options: opts, Visible: w.spectrum().Visible(), FalseAlarm: falseAlarm,
		Background: uniformBackground(w.Data),
	}
}

// uniformBackground is a reading of 1 at every sensor, in units of its noise.
func uniformBackground(d measurement.Data) []float64 {
	scale := d.A.(linop.Scaled).Scale
	return append([]float64(nil), scale...)
}
