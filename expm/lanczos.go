// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"context"
	"math"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Lanczos: after m steps from v_1 = x/‖x‖ the recurrence SV = VT + β_m v_{m+1}e_mᵀ
// holds, and x_m(t) = ‖x‖ V e^{-tT}e_1 solves the heat equation up to a residual:
//
//	‖e^{-tS}x − x_m(t)‖ ≤ ‖x‖ β_m ∫₀^t |e_mᵀe^{-sT}e_1| ds = ‖x‖ β_m t |e_mᵀφ₁(−tT)e_1|,
//
// since e^{-tS} contracts and e_mᵀe^{-sT}e_1 keeps its sign: it is the first
// coordinate's flow to the last along a Jacobi matrix, (−1)^{m−1} times a positive
// number (Hochbruck & Lubich, SIAM J. Numer. Anal. 34, 1997; Saad, 29, 1992). It
// needs the recurrence only, not orthogonality. φ₁(z) = (e^z − 1)/z.
//
// A space of krylovSteps vectors advances as far as its bound allows, and the
// next starts from there: the errors add up, since every later step contracts.
const krylovSteps = 96

// projectedRounding bounds the rounding of |e_mᵀφ₁(−tT)e_1|, a sum of at most krylovSteps
// terms of eigenvectors that are off by a few units each.
const projectedRounding = 8 * krylovSteps * unit

// lanczosErr bounds the error of a whole application: the tolerance, shared out
// over time, and the rounding of the recurrence. A step's residual from rounding
// is at most γ(2λ + 2λ)‖v‖ a column, so ‖F‖ ≤ 4γλ√m and it adds t‖F‖ in time t;
// each restart rounds its combination of m vectors. A residual below its own rounding,
// β·t·projectedRounding, is accepted, and its rounding charged.
func lanczosErr(l Generator, tau, tol float64) (float64, error) {
	p, _, err := heatWeights(tau*l.Bound()/2, tol)
	if err != nil {
		return 0, err
	}
	m := float64(krylovSteps)
	restarts := 1 + 4*float64(len(p))/m
	flow := tau * 4 * l.Rounding() * l.Bound() * math.Sqrt(m)
	noise := tau * l.Bound() * 2 * projectedRounding
	return (tol + flow + noise + restarts*(m+32)*m*unit) * (1 + 1e-9), nil
}

// krylov sets y to e^{-τS}x column by column. It allocates krylovSteps n-vectors.
func (d *Diffusion) krylov(ctx context.Context, y, x []float64, k int) error {
	s := newKrylovSpace(d.gen)
	v := make([]float64, d.gen.Order())
	for j := range k {
		for i := range v {
			v[i] = x[i*k+j]
		}
		for left := d.tau; left > 0; {
			if err := ctx.Err(); err != nil {
				return err
			}
			left -= s.advance(v, left, d.tau, d.tol/d.condition)
		}
		for i, a := range v {
			y[i*k+j] = a
		}
	}
	return nil
}

type krylovSpace struct {
	l           Generator
	v           [][]float64
	alpha, beta []float64
}

func newKrylovSpace(l Generator) *krylovSpace {
	s := &krylovSpace{l: l, v: make([][]float64, krylovSteps+1)}
	for i := range s.v {
		s.v[i] = make([]float64, l.Order())
	}
	return s
}

// advance replaces x by an approximation of e^{-tS}x for the largest t ≤ left that
// one space reaches with an error of at most tol·(t/tau)·‖x‖, and returns t.
func (s *krylovSpace) advance(x []float64, left, tau, tol float64) float64 {
	size := norm(x)
	if size == 0 || s.l.Bound() == 0 {
		return left
	}
	parallel.Rows(len(x), 2, func(lo, hi int) {
		for i, v := range x[lo:hi] {
			s.v[0][lo+i] = v / size
		}
	})
	s.alpha, s.beta = s.alpha[:0], s.beta[:0]
	t := left
	for m := 1; ; m++ {
		done := s.step(m - 1)
		if !done && m < krylovSteps && m%4 != 0 {
			continue
		}
		y, residual := s.projectedExponential(t)
		allowed := tol/tau + s.beta[m-1]*projectedRounding // a rate
		for m == krylovSteps && !done && residual > allowed*t {
			t /= 2
			y, residual = s.projectedExponential(t)
		}
		if done || residual <= allowed*t {
			s.combine(x, size, y)
			return t
		}
	}
}

// combine sets x to size·Σ_k y_k v_k.
func (s *krylovSpace) combine(x []float64, size float64, y []float64) {
	parallel.Rows(len(x), len(y)+1, func(lo, hi int) {
		part := x[lo:hi]
		clear(part)
		for k, c := range y {
			for i, v := range s.v[k][lo:hi] {
				part[i] += size * c * v
			}
		}
	})
}

// step makes v_{m+1}, and reports whether the space is invariant.
func (s *krylovSpace) step(m int) bool {
	v, w := s.v[m], s.v[m+1]
	if m > 0 {
		copy(w, s.v[m-1])
		s.l.Recur(w, nil, v, 1, 1, 0, -s.beta[m-1], 0)
	} else {
		s.l.Recur(w, nil, v, 1, 1, 0, 0, 0)
	}
	a := dot(v, w)
	parallel.Rows(len(w), 2, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			w[i] -= a * v[i]
		}
	})
	b := norm(w)
	s.alpha, s.beta = append(s.alpha, a), append(s.beta, b)
	if b <= 4*unit*s.l.Bound() {
		return true
	}
	parallel.Rows(len(w), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			w[i] /= b
		}
	})
	return false
}

// projectedExponential returns e^{-tT}e_1 and the residual bound β_m t |e_mᵀφ₁(−tT)e_1| from the
// eigenpairs of T.
func (s *krylovSpace) projectedExponential(t float64) (y []float64, residual float64) {
	m := len(s.alpha)
	theta, first, q := tridiagonal(s.alpha, s.beta[:m-1])
	y = make([]float64, m)
	for k, v := range theta {
		f := math.Exp(-t*v) * first[k]
		for i := range y {
			y[i] += f * q[k*m+i]
		}
		residual += first[k] * q[k*m+m-1] * phi1(-t*v)
	}
	return y, s.beta[m-1] * t * math.Abs(residual)
}

// phi1 returns (e^z − 1)/z.
func phi1(z float64) float64 {
	if z == 0 {
		return 1
	}
	return math.Expm1(z) / z
}

// tridiagonal returns the eigenvalues of a symmetric tridiagonal matrix, the first
// entry of each eigenvector, and the eigenvectors as rows.
func tridiagonal(alpha, beta []float64) (theta, first, q []float64) {
	m := len(alpha)
	theta, q = append(theta, alpha...), make([]float64, m*m)
	for i := range m {
		q[i*m+i] = 1
	}
	e := append(append([]float64(nil), beta...), 0)
	scale := 0.0
	for i := range theta {
		scale = max(scale, math.Abs(theta[i]), e[i])
	}
	if scale == 0 {
		scale = 1
	}
	for i := range theta {
		theta[i], e[i] = theta[i]/scale, e[i]/scale
	}
	if implicitQL(context.Background(), theta, e, &rotator{n: m, v: q}, nil) != nil {
		panic("expm: a small eigenproblem does not converge")
	}
	first = make([]float64, m)
	for k := range theta {
		theta[k] *= scale
		first[k] = q[k*m]
	}
	return theta, first, q
}

// dot sums in a fixed order, in chunks whose sums are added up.
func dot(x, y []float64) float64 {
	sum := make([]float64, 1)
	parallel.Sum(len(x), 2, sum, func(lo, hi int, sum []float64) {
		for first := lo; first < hi; first += 256 {
			var s float64
			for i := first; i < min(first+256, hi); i++ {
				s += x[i] * y[i]
			}
			sum[0] += s
		}
	})
	return sum[0]
}
