// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// ColumnNorms returns the column norms: exact, from the entries where A holds a matrix, or
// by products where one side of A is short (10,000 nodes, 256 sensors); beyond that
// bounded, as by [ProbedNorms], and exact at up to 512 nodes that contribute most to the
// error of the posterior under opts. opts.Norms is ignored.
func ColumnNorms(ctx context.Context, d measurement.Data, opts Options) (Norms, error) {
	_, n := d.A.Dims()
	logPrior, err := logWeights(opts.Prior, n)
	if err != nil {
		return Norms{}, err
	}
	return (&products{Data: d, progress: opts.Progress}).norms(ctx, newEvidence(opts.Amplitude), logPrior)
}

func (p *products) norms(ctx context.Context, e evidence, logPrior []float64) (Norms, error) {
	m, n := p.A.Dims()
	out := Norms{N: make([]float64, n)}
	switch {
	case linop.HoldsEntries(p.A) || n <= exactOrder:
		return out, p.columnNorms(ctx, out.N, everyNode(n))
	case m <= exactSensors:
		return out, p.addSquares(ctx, out.N, m, identity)
	}
	return p.boundedNorms(ctx, e, logPrior, defaultEffort())
}

// identity fills in unit vectors.
func identity(in []float64, first, width int) {
	clear(in)
	for j := range width {
		in[(first+j)*width+j] = 1
	}
}

// norms returns the column norms that are given, or else those of [ColumnNorms].
func (o Options) norms(ctx context.Context, d measurement.Data) (Norms, error) {
	if o.Norms == nil {
		return ColumnNorms(ctx, d, o)
	}
	_, n := d.A.Dims()
	return *o.Norms, o.Norms.check(n)
}

// sufficient returns the sufficient statistic Aᵀy, the column norms and the log prior.
func sufficient(ctx context.Context, d measurement.Data, opts Options) (c []float64, norms Norms, logPrior []float64, err error) {
	_, n := d.A.Dims()
	if logPrior, err = logWeights(opts.Prior, n); err != nil {
		return nil, norms, nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, norms, nil, err
	}
	if norms, err = opts.norms(ctx, d); err != nil {
		return nil, norms, nil, err
	}
	c = make([]float64, n)
	d.A.MulVecTo(c, true, d.Y)
	return c, norms, logPrior, ctx.Err()
}
