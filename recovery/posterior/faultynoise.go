// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// resolvable bounds the norm of a column of A where sensors may be broken. Exponents are then up to 10¹⁰ nats,
// which rounding leaves far better known than to a nat, and a likelihood is as narrow as 10⁻⁵, which takes
// some ten thousand panels where none is negligible. Far beyond it the bounds by which quadrature leaves out what is
// negligible are rounding, and panels without end. Where A is known by products, whose bounds leave little out, it is less.
const (
	resolvable           = 1e5
	resolvableByProducts = 1e3
)

// resolve raises the noise of all measurements where a column of A is longer than that, so that none is: a likelihood
// that takes noise for larger than it is claims less. Entries, measurements and ranges are in units of the noise.
func (f *faulty) resolve(ctx context.Context, opts Options) (Faults, error) {
	var err error
	if opts.Norms != nil {
		f.norms, err = *opts.Norms, opts.Norms.check(len(f.logPrior))
	} else {
		f.norms, err = ColumnNorms(ctx, f.d, opts)
	}
	faults := opts.Faults
	if err != nil {
		return faults, err
	}
	f.longest = math.Sqrt(floats.Max(f.norms.N))
	limit := float64(resolvable)
	if !linop.HoldsEntries(f.d.A) {
		limit = resolvableByProducts
	}
	if !(f.longest > limit) {
		return faults, nil
	}
	scale := limit / f.longest
	scaled := func(x []float64, by float64) []float64 {
		x = slices.Clone(x)
		floats.Scale(by, x)
		return x
	}
	f.raised, f.longest = true, limit
	f.d = measurement.Data{A: rescaled(f.d.A, scale), Y: scaled(f.d.Y, scale)}
	faults.Low, faults.High = scaled(faults.Low, scale), scaled(faults.High, scale)
	f.norms.N = scaled(f.norms.N, scale*scale)
	if f.norms.Low != nil {
		f.norms.Low, f.norms.High = scaled(f.norms.Low, scale*scale), scaled(f.norms.High, scale*scale)
	}
	return faults, nil
}

// rescaled is scale·a.
func rescaled(a linop.Operator, scale float64) linop.Operator {
	s, ok := a.(linop.Scaled)
	if !ok {
		s.A = a
		m, _ := a.Dims()
		s.Rows, s.Scale = everyNode(m), slices.Repeat([]float64{1}, m)
	}
	s.Scale = slices.Clone(s.Scale)
	floats.Scale(scale, s.Scale)
	return s
}
