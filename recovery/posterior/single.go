// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// New returns the posterior of a single source, exact where the norms are:
// with c = Aᵀy and N_i = ‖A e_i‖², the log likelihood of amplitude a at node i is
// a·c_i − a²N_i/2 up to a constant.
//
// Where sensors may be broken it is exact for a matrix, and bounded for an operator whose columns can be read. Of one that is
// known by products it is bounded too, and its entries are supposed to be at least 0; where a sensor reads several times it is exact.
func New(ctx context.Context, d measurement.Data, opts Options) (*Posterior, error) {
	if opts.Faults.Rate != 0 {
		return newFaulty(ctx, d, opts)
	}
	c, norms, logPrior, err := sufficient(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	e := newEvidence(opts.Amplitude)
	p := &Posterior{LogEvidence: e.logs(c, norms.N), Probability: make([]float64, len(c))}
	weight := p.Probability
	floats.AddTo(weight, p.LogEvidence, logPrior)
	if norms.Low == nil {
		p.normalize(nil, nil)
		return p, nil
	}
	low, high := e.weightBounds(c, norms, productError(d), logPrior)
	p.normalize(low, high)
	return p, nil
}

// newFaulty returns the posterior of a single source where sensors may be broken.
func newFaulty(ctx context.Context, d measurement.Data, opts Options) (*Posterior, error) {
	f, err := prepareFaulty(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	if linop.HoldsEntries(d.A) {
		return f.exact(ctx, nil)
	}
	if p, ok, err := f.local(ctx); ok || err != nil {
		return p, err
	}
	if len(f.sensors) < len(f.y) { // a screen is of sensors that read once
		return f.exact(ctx, nil)
	}
	return f.screened(ctx)
}
