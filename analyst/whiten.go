// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/report"
)

// Measurements are private values with the standard deviation of their noise.
type Measurements struct {
	Nodes  []int     // the sensors by their rows of M, ascending
	Values []float64 // ỹ, one a sensor
	Sigmas []float64 // σ of each value's noise
	// Clip is the public range that readings were clipped to before their noise; nil: unknown.
	Clip *privacy.Interval
}

// check refuses measurements that do not fit together or to an operator of n rows.
func (in Measurements) check(n int) error {
	if k := len(in.Nodes); k == 0 || len(in.Values) != k || len(in.Sigmas) != k {
		return fmt.Errorf("%w: %d nodes, %d values and %d σ, want as many of each and at least one", recovery.ErrInvalid, k, len(in.Values),
			len(in.Sigmas))
	}
	last := -1
	for k, node := range in.Nodes {
		if node <= last || node >= n {
			return fmt.Errorf("%w: measurement %d is of row %d after row %d, want ascending ones of the %d rows of M", recovery.ErrInvalid,
				k, node, last, n)
		}
		if sigma := in.Sigmas[k]; !(sigma > 0) || math.IsInf(sigma, 1) {
			return fmt.Errorf("%w: measurement %d has σ = %v, want a finite number above 0", recovery.ErrInvalid, k, sigma)
		}
		last = node
	}
	return nil
}

// Whitened is M with measurements, both in units of the noise.
type Whitened struct {
	Data measurement.Data // entries of M can be read up to [DenseLimit] nodes

	op       *Operator
	in       Measurements
	products measurement.Data // Data through the cheapest products
	cached   *recovery.Spectrum
}

// Whiten scales the sensors to unit noise. It returns [recovery.ErrInvalid] for
// measurements that do not fit together.
func (o *Operator) Whiten(ctx context.Context, in Measurements) (*Whitened, error) {
	rows, _ := o.M().Dims()
	if err := in.check(rows); err != nil {
		return nil, err
	}
	op, err := o.rows(ctx, in.Nodes)
	if err != nil {
		return nil, err
	}
	u := make([]float64, len(in.Sigmas))
	for k, sigma := range in.Sigmas {
		u[k] = 1 / (sigma * sigma)
	}
	w := &Whitened{op: o, in: in}
	if w.Data, err = measurement.Whiten(op, in.Values, u); err != nil {
		return nil, err
	}
	w.products = w.Data
	if o.Given != nil || o.Diffusion.Method() == expm.Chebyshev { // sparse products beat dense ones
		if op, err = o.products(in.Nodes); err != nil {
			return nil, err
		}
		w.products = w.Data.Over(op)
	}
	return w, nil
}

// WithValues returns a copy with other values of the same sensors.
func (w *Whitened) WithValues(values []float64) *Whitened {
	other := *w
	y := make([]float64, len(values))
	for k, sigma := range w.in.Sigmas {
		y[k] = math.Sqrt(1/(sigma*sigma)) * values[k]
	}
	other.in.Values, other.Data.Y, other.products.Y = values, y, y
	return &other
}

// ComputeSpectrum computes what the radius needs of the operator, once for
// all values that [Whitened.WithValues] puts in. It returns [recovery.ErrInvalid] as Prepare does.
func (w *Whitened) ComputeSpectrum(ctx context.Context) (err error) {
	w.cached, err = recovery.Prepare(ctx, w.products, recovery.Auto, w.spectrum())
	return err
}

// gapTolerance is the relative gap at which f̂ counts as optimal: far below the
// noise, and above what the error of a computed M leaves provable.
const gapTolerance = 1e-8

// Denoise solves Basis Pursuit Denoising. The report holds its radius, whose unit and
// that of the residual are those of ỹ where every sensor has the same σ, else multiples of
// the noise; with the normal equations those of Mᵀỹ. A result without a certificate is [recovery.Stalled] with a nil error.
func (w *Whitened) Denoise(ctx context.Context, progress func(stage string, done, total int64),
) (*recovery.Result, report.BPDN, error) {
	scale := w.unit()
	solver := recovery.ColumnGeneration{Options: recovery.Options{
		Tol: gapTolerance, Neighbors: w.op.Graph.Neighbors, Progress: progress,
	}}
	result, ball, err := recovery.Recover(ctx, w.products, solver, recovery.Auto, w.spectrum())
	if err != nil && !errors.Is(err, recovery.ErrStalled) {
		return nil, report.BPDN{}, err
	}
	if ball.Rule == recovery.NormalEquations { // of Mᵀỹ: one σ more from whitening
		scale *= w.unit()
	}
	return result, report.BPDN{
		Radius: scale * ball.Radius, RadiusRule: ball.Rule.String(), Dimension: ball.Dimension, Retried: ball.Retried,
		Residual: scale * result.Residual, Margin: scale * result.Margin,
	}, nil
}

// unit is the σ that all sensors share, or 1.
func (w *Whitened) unit() float64 {
	sigma := w.in.Sigmas[0]
	if slices.ContainsFunc(w.in.Sigmas, func(s float64) bool { return s != sigma }) {
		return 1
	}
	return sigma
}

// spectrum returns the singular vectors of the whitened operator where they are known: as
// computed before, or from an eigendecomposition of a symmetric L, where all nodes carry
// sensors of one σ.
func (w *Whitened) spectrum() *recovery.Spectrum {
	if w.cached != nil {
		return w.cached
	}
	o, sigma := w.op, w.in.Sigmas[0]
	if o.Given != nil {
		return nil
	}
	spec := o.Diffusion.Spectrum()
	uniform := !slices.ContainsFunc(w.in.Sigmas, func(s float64) bool { return s != sigma })
	if !uniform || spec == nil || o.Laplacian.Similarity() != nil || len(w.in.Nodes) < o.Graph.Order() {
		return nil
	}
	s := &recovery.Spectrum{Values: slices.Clone(spec.Decay(o.Diffusion.Tau())), Left: mat.DenseCopyOf(spec.Vectors().T())}
	floats.Scale(1/sigma, s.Values)
	return s
}
