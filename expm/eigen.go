// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/dense"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// Spectrum holds S ≈ Σ_k λ_k v_k v_kᵀ, all n pairs, with a bound on how far that
// is from S. It is immutable.
type Spectrum struct {
	n       int
	nullity int
	lambda  []float64 // ascending, ≥ 0; the first nullity are 0
	v       []float64 // n × n, row k is v_k

	// With Q the orthogonal matrix next to V (its polar factor), ‖V − Q‖₂ ≤ ortho
	// and ‖QΛQᵀ − S‖₂ ≤ backward: both computed from V, Λ and S, not assumed.
	ortho, backward float64

	theta    float64   // ‖VᵀV − I‖₂ at most
	residual []float64 // ‖S v_k − λ_k v_k‖₂ at most
}

// decompose computes all eigenpairs of S, scaled to norm about 1, by Householder
// reduction and implicit QL.
func decompose(ctx context.Context, l Generator, progress func(string, int64, int64)) (*Spectrum, error) {
	n := l.Order()
	s := &Spectrum{n: n, nullity: l.Nullity(), lambda: make([]float64, n)}
	scale := 1.0
	if b := l.Bound(); b > 0 {
		_, exp := math.Frexp(b)
		scale = math.Ldexp(1, min(exp, 1023))
	}
	x := make([]float64, n*n)
	for i := range n {
		x[i*n+i] = 1
	}
	a := make([]float64, n*n)
	l.Recur(a, nil, x, n, 1/scale, 0, 0, 0)
	if err := dense.SymmetricEigen(ctx, n, a, s.lambda, progress); err != nil {
		return nil, err
	}
	s.v = a
	for k, v := range s.v {
		if math.Abs(v) < negligibleDecay {
			s.v[k] = 0 // no product with it is subnormal; certify sees the difference
		}
	}
	for k := range s.lambda {
		s.lambda[k] = math.Max(0, s.lambda[k]*scale)
		if k < s.nullity {
			s.lambda[k] = 0
		}
	}
	s.certify(l, x)
	return s, ctx.Err()
}

// certify measures ortho and backward. Let θ = ‖VᵀV − I‖ < 1/4, R = SV − VΛ and
// V = QH the polar decomposition. The singular values of V lie within
// θ/(2 − θ) of 1, so ‖V − Q‖ = ‖H − I‖ ≤ 0.6θ, ‖H⁻¹ − I‖ ≤ 0.7θ, and
// SQ − QΛ = RH⁻¹ + V(ΛH⁻¹ − H⁻¹Λ) gives ‖S − QΛQᵀ‖ ≤ (‖R‖ + 0.7·‖Λ‖θ)(1 + θ),
// since the commutator with Λ − ½‖Λ‖I is at most ‖Λ‖·‖H⁻¹ − I‖.
func (s *Spectrum) certify(l Generator, work []float64) {
	n := s.n
	// Sums of at most gramChunk products, added up: the error of a computed entry
	// of VVᵀ is at most (gramChunk + n/gramChunk + 2) units.
	const gramChunk = 64
	clear(work)
	for first := 0; first < n; first += gramChunk {
		part := blas64.General{Rows: n, Cols: min(gramChunk, n-first), Stride: n, Data: s.v[first:]}
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, part, part, 1, blas64.General{Rows: n, Cols: n, Stride: n, Data: work})
	}
	for i := range n {
		work[i*n+i]--
	}
	slack := float64(n) * float64(min(n, gramChunk)+n/gramChunk+2) * unit
	theta := (norm(work) + slack) * (1 + 1e-12)
	s.theta, s.ortho, s.residual = theta, 0.6*theta, make([]float64, n)

	r := work[:n]
	var sum float64
	for k := range n {
		v := s.v[k*n : (k+1)*n]
		l.Recur(r, nil, v, 1, 1, -s.lambda[k], 0, 0)
		d := norm(r)
		sum = math.Hypot(sum, d)
		// Recur is off by γ(Bound + λ_k)‖v_k‖, and λ_k ≤ Bound but for its own error.
		s.residual[k] = (d + l.Rounding()*(l.Bound()+s.lambda[k])*(1+theta)) * (1 + 1e-11)
	}
	rounding := l.Rounding() * 2 * l.Bound() * math.Sqrt(float64(n))
	s.backward = (sum + rounding + 0.7*s.lambda[n-1]*theta) * (1 + theta) * (1 + 1e-12)
	if !(theta < 0.25) {
		s.ortho, s.backward = math.Inf(1), math.Inf(1)
	}
}

// norm returns ‖x‖₂ without overflow, up to a relative error of len(x) units.
func norm(x []float64) float64 {
	return blas64.Nrm2(blas64.Vector{N: len(x), Inc: 1, Data: x})
}

// Gap returns a lower bound on the least non-zero eigenvalue of S (Weyl), or 0.
func (s *Spectrum) Gap() float64 {
	if s.nullity == s.n {
		return 0
	}
	return math.Max(0, s.lambda[s.nullity]-s.backward)
}

// errorBound bounds ‖V e^{-τΛ}Vᵀ − e^{-τS}‖₂ and the rounding of two dense products,
// with vectors on a grid (see [roundToGrid]).
// Both semigroups contract, so ‖e^{-τS} − e^{-τQΛQᵀ}‖ ≤ τ·backward. Where
// τ is large the part that decays is bounded by τ·backward·e^{-τ·gap}, and the
// two null spaces differ by an angle of at most backward/gap (Davis & Kahan).
func (s *Spectrum) errorBound(tau float64) float64 {
	e := tau * s.backward
	if g := s.Gap(); g > 0 {
		e = math.Min(e, tau*s.backward*math.Exp(-tau*g)+2*s.backward/g)
	}
	e = math.Min(math.Min(e, 1)+2*s.ortho+s.ortho*s.ortho, s.duhamel(tau))
	n := float64(s.n)
	rounding := 2*(n+4)*math.Sqrt(n)*unit + (16+2*gridUnits+2)*unit
	return (e + rounding) * (1 + 1e-12)
}

// duhamel bounds ‖X(τ) − e^{-τS}‖₂, X(t) = V e^{-tΛ}Vᵀ, from the residuals of single pairs.
// With R = SV − VΛ, X′ = −SX + R e^{-tΛ}Vᵀ and X(0) = VVᵀ, so
//
//	X(τ) − e^{-τS} = e^{-τS}(VVᵀ − I) + ∫₀^τ e^{-(τ−t)S} R e^{-tΛ} dt Vᵀ.
//
// e^{-tS} contracts. Column k of the integral is at most ‖r_k‖φ_k, φ_k = (1 − e^{-τλ_k})/λ_k,
// its 2-norm at most that of these n numbers, and ‖V‖² ≤ 1 + θ.
func (s *Spectrum) duhamel(tau float64) float64 {
	var sum float64
	for k, r := range s.residual {
		phi := tau
		if v := s.lambda[k]; v > 0 {
			phi = math.Min(tau, -math.Expm1(-tau*v)/v)
		}
		sum = math.Hypot(sum, r*phi)
	}
	if math.IsNaN(sum) {
		return math.Inf(1)
	}
	return (s.theta + (1+s.theta)*sum) * (1 + 4*float64(s.n+2)*unit)
}

// Lambda returns the eigenvalues of S (which are those of L) in ascending order,
// the first [Spectrum.Nullity] of them exactly 0. The caller must not change them.
func (s *Spectrum) Lambda() []float64 { return s.lambda }

// Nullity returns the multiplicity of the eigenvalue 0.
func (s *Spectrum) Nullity() int { return s.nullity }

// Vector returns v_k, the orthonormal eigenvector of S for Lambda()[k]. The caller
// must not change it.
func (s *Spectrum) Vector(k int) []float64 { return s.v[k*s.n : (k+1)*s.n] }

// Vectors returns the n × n matrix whose row k is v_k. It shares memory.
func (s *Spectrum) Vectors() *mat.Dense { return mat.NewDense(s.n, s.n, s.v) }

// Decay returns the eigenvalues e^{-τλ_k} of e^{-τS}, in descending order.
func (s *Spectrum) Decay(tau float64) []float64 {
	e := make([]float64, s.n)
	for k, v := range s.lambda {
		e[k] = math.Exp(-tau * v)
	}
	return e
}

// BackwardError returns β: an exact eigendecomposition QΛQᵀ, QᵀQ = I, with these λ
// differs from S by at most β in the 2-norm. So each λ_k is within β of an
// eigenvalue of S.
func (s *Spectrum) BackwardError() float64 { return s.backward }

// OrthogonalityError returns a bound on ‖V − Q‖₂ for that Q.
func (s *Spectrum) OrthogonalityError() float64 { return s.ortho }

// Kernel returns Σ_{k ≥ from} e^{-τλ_k} v_k v_kᵀ. Without the null space (from =
// Nullity) its entries decay, and differences of columns keep their digits.
func (s *Spectrum) Kernel(tau float64, from int) *mat.Dense { return s.kernel(nil, tau, from) }

// apply sets y to V e^{-τΛ}Vᵀx for k columns; t is work space. With a grid above 0 it
// rounds Vᵀx to it.
func (s *Spectrum) apply(y, x, t []float64, k int, tau, grid float64) {
	v := blas64.General{Rows: s.n, Cols: s.n, Stride: s.n, Data: s.v}
	linop.MulDense(t, blas.NoTrans, v, x, k)
	for i, lambda := range s.lambda {
		e := math.Exp(-tau * lambda)
		if e < negligibleDecay {
			e = 0
		}
		floats.Scale(e, t[i*k:(i+1)*k])
	}
	roundToGrid(t, grid)
	linop.MulDense(y, blas.Trans, v, t, k)
}

// kernel returns diag(1/s)(Σ_{k ≥ from} e^{-τλ_k} v_k v_kᵀ)diag(s).
func (s *Spectrum) kernel(sim []float64, tau float64, from int) *mat.Dense {
	n := s.n
	half := make([]float64, (n-from)*n) // row k is e^{-τλ_k/2} v_k
	for k := from; k < n; k++ {
		h := math.Exp(-tau * s.lambda[k] / 2)
		for i, v := range s.v[k*n : (k+1)*n] {
			half[(k-from)*n+i] = h * v
		}
	}
	m := mat.NewDense(n, n, nil)
	if from < n {
		h := blas64.General{Rows: n - from, Cols: n, Stride: n, Data: half}
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, h, h, 0, m.RawMatrix())
	}
	if sim != nil {
		for i := range n {
			for j, row := 0, m.RawRowView(i); j < n; j++ {
				row[j] *= sim[j] / sim[i]
			}
		}
	}
	return m
}

// Shifted returns Σ_{k ≥ from} e^{-τ(λ_k − λ_from)} v_k v_kᵀ: Kernel divided by its
// largest factor, e^{-τλ_from}, so that nothing underflows.
func (s *Spectrum) Shifted(tau float64, from int) *mat.Dense {
	c := *s
	c.lambda = make([]float64, s.n)
	for k := from; k < s.n; k++ {
		c.lambda[k] = s.lambda[k] - s.lambda[from]
	}
	return c.kernel(nil, tau, from)
}
