// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// backgroundDeviations are the standard deviations of a background that are supposed.
var backgroundDeviations = []float64{0.01, 0.1, 1}

// Background returns the log evidence, against no source, of one source and a background
// b·h beside it, b ~ N(0, s²) for s = 0.01, 0.1 and 1, each as likely. The background is
// integrated in closed form: with κ = s²/(1 + s²‖h‖²) and v = Aᵀh, c and N become
// c − κ(hᵀy)v and N − κv², and κ(hᵀy)²/2 − ½log(1 + s²‖h‖²) is added.
func Background(ctx context.Context, d measurement.Data, h []float64, opts Options) (float64, error) {
	c, norms, logPrior, err := sufficient(ctx, d, opts)
	if err != nil {
		return 0, err
	}
	k := &checker{e: newEvidence(opts.Amplitude), logPrior: logPrior, norms: make([]float64, len(c))}
	v, shifted := make([]float64, len(c)), make([]float64, len(c))
	d.A.MulVecTo(v, true, h)
	along, square := floats.Dot(h, d.Y), floats.Dot(h, h)
	var logs []float64
	for _, s := range backgroundDeviations {
		kappa := s * s / (1 + s*s*square)
		for i, x := range v {
			shifted[i], k.norms[i] = c[i]-kappa*along*x, max(0, norms.N[i]-kappa*x*x)
		}
		logs = append(logs, k.presence(shifted)+kappa*along*along/2-math.Log1p(s*s*square)/2)
	}
	return logMean(logs), nil
}

// logMean returns the logarithm of the mean of e^x.
func logMean(x []float64) float64 { return logSum(x) - math.Log(float64(len(x))) }
