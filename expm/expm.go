// SPDX-License-Identifier: Apache-2.0

// Package expm applies the heat kernel M = e^{-τL} with a proved error bound.
//
// Start with [New], which makes a [Diffusion]: an operator known through its
// products. [Estimate] predicts what a diffusion costs before anything is allocated.
//
// Every bound is on the 2-norm, ‖(M̃ − M)f‖₂ ≤ Err()·‖f‖₂, rounding included; it
// therefore bounds every entry of M̃f − Mf by Err()·‖f‖₂ too. It is absolute: an
// entry far below Err()·‖f‖₂ may be wrong by 100 %.
//
// Both methods do the same work for every f, so that their running time says nothing
// of an f that is private.
package expm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/dense"
)

// Method says how e^{-τL} is applied.
type Method int

// The methods.
const (
	Auto      Method = iota // Eigen or Chebyshev, by estimated work
	Eigen                   // full eigendecomposition: O(n³) once, n² a product
	Chebyshev               // polynomial whose degree is fixed in advance
)

var methodNames = []string{"auto", "eigen", "chebyshev"}

func (m Method) String() string { return methodNames[m] }

// MarshalText writes the name.
func (m Method) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a name.
func (m *Method) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMethod(string(text))
	return err
}

// ParseMethod reads auto, eigen or chebyshev.
func ParseMethod(s string) (Method, error) {
	if i := slices.Index(methodNames, s); i >= 0 {
		return Method(i), nil
	}
	return 0, fmt.Errorf("expm: method is %q, want one of %v", s, methodNames)
}

// Options of [New]. The zero value is recommended.
type Options struct {
	Method    Method
	Tolerance float64                               // truncation error in the 2-norm; 0: 1e-13 (× max s/min s)
	Progress  func(stage string, done, total int64) // nil: silent
}

// Diffusion is M̃ ≈ e^{-τL}, n × n, safe for concurrent use. It implements
// linop.Approximation and linop.BlockOperator.
type Diffusion struct {
	gen       Generator
	tau       float64
	tol       float64
	method    Method
	err       float64
	rounding  float64   // part of err; Chebyshev only
	condition float64   // max s/min s
	spec      *Spectrum // Eigen
	weights   []float64 // Chebyshev: coefficient of T_k

	denseOnce sync.Once
	dense     *mat.Dense
}

// maxErr is the largest error bound that New accepts, unless twice the tolerance
// asked for is larger: beyond it the privacy charge of M̃ − M would not be negligible.
const maxErr = 1e-6

// maxEigen is the largest order that is decomposed: 24n² bytes are 6 GB, and it
// takes hours.
const maxEigen = 1 << 14

// New prepares e^{-τL} for τ ≥ 0, finite. It returns [ErrAccuracy] where the
// error bound would exceed 1e-6 and twice the tolerance. Auto is Chebyshev where the
// eigenvalue iteration does not converge.
func New(ctx context.Context, l Generator, tau float64, opts Options) (*Diffusion, error) {
	d, err := newUnprepared(l, tau, opts)
	if err != nil {
		return nil, err
	}
	if d.method == Eigen {
		d.spec, err = decompose(ctx, l, opts.Progress)
		if errors.Is(err, dense.ErrIteration) && opts.Method == Auto {
			d.method, err = Chebyshev, nil // slower at worst, and certified all the same
		}
		if errors.Is(err, dense.ErrIteration) {
			err = fmt.Errorf("expm: %w; method chebyshev needs no eigenvalues", err)
		}
		if err != nil {
			return nil, err
		}
	}
	return d.finish()
}

// WithTau returns the diffusion for another τ. Eigenpairs are shared, not computed again.
// It returns [ErrAccuracy] as [New] does.
func (d *Diffusion) WithTau(tau float64) (*Diffusion, error) { return d.with(tau, d.tol) }

// WithTolerance returns the diffusion for another tolerance. Eigenpairs are shared, not computed
// again. It returns [ErrAccuracy] as [New] does.
func (d *Diffusion) WithTolerance(tol float64) (*Diffusion, error) { return d.with(d.tau, tol) }

func (d *Diffusion) with(tau, tol float64) (*Diffusion, error) {
	o, err := newUnprepared(d.gen, tau, Options{Method: d.method, Tolerance: tol})
	if err != nil {
		return nil, err
	}
	o.spec = d.spec
	return o.finish()
}

// newUnprepared checks the input and chooses the method, without heavy work.
func newUnprepared(l Generator, tau float64, opts Options) (*Diffusion, error) {
	switch {
	case l.Order() == 0:
		return nil, errors.New("expm: the graph has no nodes")
	case !(tau >= 0) || math.IsInf(tau, 1):
		return nil, fmt.Errorf("expm: tau is %v, want a finite number >= 0", tau)
	case !(opts.Tolerance >= 0) || math.IsInf(opts.Tolerance, 1):
		return nil, fmt.Errorf("expm: tolerance is %v, want a finite number >= 0", opts.Tolerance)
	case math.IsInf(l.Bound(), 1):
		return nil, fmt.Errorf("%w: the sum of the weights at a node overflows", ErrAccuracy)
	}
	d := &Diffusion{gen: l, tau: tau, tol: opts.Tolerance, method: opts.Method, condition: similarityCondition(l)}
	if d.tol == 0 {
		d.tol = 1e-13 * d.condition
	}
	if d.method == Eigen && l.Order() > maxEigen {
		return nil, fmt.Errorf("expm: %d nodes are too many for all eigenpairs, want at most %d; use chebyshev", l.Order(), maxEigen)
	}
	if d.method == Auto {
		d.method = chooseMethod(l, tau, d.tol/d.condition)
	}
	return d, nil
}

// similarityCondition returns max s/min s, the condition number of the similarity: an
// error in the symmetric form grows by at most this factor.
func similarityCondition(l Generator) float64 {
	s := l.Similarity()
	if s == nil {
		return 1
	}
	return slices.Max(s) / slices.Min(s) * (1 + 4*unit)
}

// finish computes what depends on τ, and the error bound.
func (d *Diffusion) finish() (*Diffusion, error) {
	var err error
	switch d.method {
	case Eigen:
		d.err = d.spec.errorBound(d.tau)
	case Chebyshev:
		d.weights, d.err, d.rounding, err = chebyshev(d.gen, d.tau, d.tol/d.condition)
		d.err += d.rounding
	}
	if err != nil {
		return nil, fmt.Errorf("%w; tau = %v", err, d.tau)
	}
	// Two scalings by s, one rounding each.
	if d.condition > 1 {
		d.err, d.rounding = (d.err+4*unit)*d.condition, d.rounding+4*unit
	}
	if d.err > max(maxErr, 2*d.tol) {
		return nil, fmt.Errorf("%w: tau = %v with λ_max up to %.3g: %v proves an error of %.2g only; a smaller tau helps, and weights of "+
			"fewer magnitudes", ErrAccuracy, d.tau, d.gen.Bound(), d.method, d.err)
	}
	return d, nil
}

// Dims returns n, n.
func (d *Diffusion) Dims() (r, c int) { return d.gen.Order(), d.gen.Order() }

// Generator returns the L that New was given.
func (d *Diffusion) Generator() Generator { return d.gen }

// Tau returns τ.
func (d *Diffusion) Tau() float64 { return d.tau }

// Method returns the method in use, never Auto.
func (d *Diffusion) Method() Method { return d.method }

// Degree returns the number of products with L that one application costs: the
// degree of the polynomial, 0 for Eigen.
func (d *Diffusion) Degree() int { return max(0, len(d.weights)-1) }

// Err returns an upper bound on ‖M̃ − M‖₂, truncation and rounding included.
func (d *Diffusion) Err() float64 { return d.err }

// Norm returns an upper bound on ‖M̃‖₂: that of M is 1 where L is symmetric, and at most
// max s/min s otherwise.
func (d *Diffusion) Norm() float64 { return (d.condition + d.err) * (1 + 4*unit) }

// Rounding returns a bound on what floating point alone contributes to Err: the
// distance of M̃ from the polynomial in L that it stands for, with Chebyshev.
func (d *Diffusion) Rounding() float64 {
	if d.method == Chebyshev {
		return d.rounding * d.condition
	}
	return d.err
}

// Spectrum returns the eigenpairs of the symmetric form S where the method is
// Eigen, and nil otherwise. Where L is symmetric they are those of L, and the
// singular values of M are e^{-τλ_k}.
func (d *Diffusion) Spectrum() *Spectrum { return d.spec }

// The speed of the kernels, in seconds.
const (
	secondsPerCube  = 2.5e-9 // eigendecomposition, for each n³
	secondsPerEntry = 1e-9   // product, for each entry read
	secondsPerCell  = 0.5e-9 // dense product, for each entry
	blockFraction   = 0.25   // of a product alone, for a column of a block
	eigenAlways     = 600    // an eigendecomposition below this order takes half a second
	eigenLimit      = 3000   // beyond, it takes minutes
	eigenResort     = 6000   // above, 24n² bytes are too many even where no other method reaches the accuracy
)

// chooseMethod resolves Auto: Eigen where it costs less than diffusing every node twice
// by Chebyshev, about the work of planning and recovery, or where only Eigen reaches a
// useful error bound; Chebyshev otherwise.
func chooseMethod(l Generator, tau, tol float64) Method {
	n := float64(l.Order())
	if n <= eigenAlways {
		return Eigen
	}
	if n > eigenResort {
		return Chebyshev
	}
	p, tail, rounding, err := chebyshev(l, tau, tol)
	if err != nil || tail+rounding > maxErr {
		return Eigen
	}
	if n <= eigenLimit && 2*n*float64(len(p))*float64(l.Work())*secondsPerEntry > secondsPerCube*n*n*n {
		return Eigen
	}
	return Chebyshev
}

// Decompose computes all eigenpairs of S: 24n² bytes, about 2.5e-9·n³ seconds.
func Decompose(ctx context.Context, l Generator, progress func(stage string, done, total int64)) (*Spectrum, error) {
	if _, err := newUnprepared(l, 0, Options{Method: Eigen}); err != nil {
		return nil, err
	}
	return decompose(ctx, l, progress)
}
