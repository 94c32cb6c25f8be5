// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// NewtonLagrangian is the augmented Lagrangian method on the dual,
//
//	min over z of −yᵀz + η‖z‖₂ + U·Σ max(0, (Mᵀz)_j − 1),
//
// whose smooth subproblems a semismooth Newton method solves. f is the multiplier.
// It shares nothing with [ColumnGeneration] but the certificate and the last step
// to rounding, and serves to check it.
//
// Reference: Li, Sun and Toh (2018), SIAM J. Optim. 28(1).
type NewtonLagrangian struct{ Options }

// Solve implements [Solver]. Iterations are Newton steps.
func (l NewtonLagrangian) Solve(ctx context.Context, p Problem) (*Result, error) {
	j, zero, err := newCertifier(ctx, l.Options, p)
	if j == nil {
		return zero, err
	}
	if j.prove(p.Y) {
		return j.finish()
	}
	s := newLagrangian(j)
	for !j.cancelled() && j.res.Iterations < j.opts.MaxIterations {
		s.minimize()
		copy(s.f, s.next)
		if s.certifier.prove(s.z) || s.round() {
			break
		}
		j.opts.report(&j.res)
		s.penalty = min(s.penalty*4, s.most)
		s.tol = max(s.tol/4, 1e-12)
	}
	return j.finish()
}

// lagrangian is one run.
type lagrangian struct {
	*certifier
	z, az   []float64 // dual vector and Mᵀz
	f, next []float64 // multiplier, and clip(f + penalty·(Mᵀz − 1), 0, U)
	grad    []float64 // −y + ηz/‖z‖ + M·next
	penalty float64   // in units of f
	most    float64
	tol     float64 // of the gradient, relative to η
	u       float64
	cache   map[int][]float64
}

func newLagrangian(j *certifier) *lagrangian {
	n := len(j.c)
	s := &lagrangian{
		certifier: j, z: slices.Clone(j.res.Dual), az: make([]float64, n), f: make([]float64, n),
		next: make([]float64, n), grad: make([]float64, len(j.p.Y)), tol: 0.1, u: j.p.upper(), cache: map[int][]float64{},
	}
	if floats.Norm(s.z, 2) == 0 {
		floats.ScaleTo(s.z, 1/floats.Norm(j.p.Y, 2), j.p.Y)
	}
	s.penalty = max(j.res.LowerBound, 1e-6)
	s.most = 1e10 * s.penalty
	j.multiply(s.az, true, s.z)
	return s
}

// value returns the augmented Lagrangian at z with c = Mᵀz.
func (s *lagrangian) value(z, c []float64) float64 {
	sum := 0.0
	for j, f := range s.f {
		switch w := f + s.penalty*(c[j]-1); {
		case w >= s.u:
			sum += s.u*w - s.u*s.u/2
		case w > 0:
			sum += w * w / 2
		}
	}
	return -floats.Dot(s.p.Y, z) + s.p.Radius*floats.Norm(z, 2) + sum/s.penalty
}

// gradient sets next and grad, and returns ‖grad‖.
func (s *lagrangian) gradient() float64 {
	for j, f := range s.f {
		s.next[j] = min(max(f+s.penalty*(s.az[j]-1), 0), s.u)
	}
	s.multiply(s.grad, false, s.next)
	floats.Sub(s.grad, s.p.Y)
	floats.AddScaled(s.grad, s.p.Radius/floats.Norm(s.z, 2), s.z)
	return floats.Norm(s.grad, 2)
}

// minimize takes Newton steps until the gradient is small.
func (s *lagrangian) minimize() {
	step, change := make([]float64, len(s.z)), make([]float64, len(s.az))
	z, c := make([]float64, len(s.z)), make([]float64, len(s.az))
	for range 50 {
		norm := s.gradient()
		if norm <= s.tol*s.p.Radius || s.cancelled() || s.res.Iterations >= s.opts.MaxIterations {
			return
		}
		s.res.Iterations++
		if !s.newton(step, norm) {
			floats.ScaleTo(step, -1, s.grad)
		}
		s.multiply(change, true, step)
		slope, before := floats.Dot(s.grad, step), s.value(s.z, s.az)
		alpha := 1.0
		for range 40 {
			floats.AddScaledTo(z, s.z, alpha, step)
			floats.AddScaledTo(c, s.az, alpha, change)
			if floats.Norm(z, 2) > 0 && s.value(z, c) <= before+1e-4*alpha*slope+few*unit*math.Abs(before) {
				break
			}
			alpha /= 2
		}
		copy(s.z, z)
		copy(s.az, c)
	}
}

// newton solves (H + εI)·step = −grad with the generalised Hessian
//
//	H = a(I − uuᵀ) + penalty·M_J M_Jᵀ,  a = η/‖z‖, u = z/‖z‖, J = {0 < next < U}.
//
// ε shrinks with the gradient: a fixed one is too large at the end, or too small
// where J is empty and H singular along u. The system is that of the smaller side.
func (s *lagrangian) newton(step []float64, norm float64) bool {
	length := floats.Norm(s.z, 2)
	a := s.p.Radius / length
	eps := a * min(0.1, 0.1*norm/s.p.Radius)
	m := len(s.z)
	var inner []int
	for j, f := range s.next {
		if f > 0 && f < s.u {
			inner = append(inner, j)
		}
	}
	k := len(inner)
	b := mat.NewDense(k+1, m, nil)
	for i, j := range inner {
		b.SetRow(i, s.column(j))
	}
	u := make([]float64, m)
	floats.ScaleTo(u, 1/length, s.z)
	b.SetRow(k, u)
	rhs := mat.NewVecDense(m, slices.Clone(s.grad))
	rhs.ScaleVec(-1, rhs)
	out := mat.NewVecDense(m, step)
	if k >= m {
		h := mat.NewSymDense(m, nil)
		blas64.Syrk(blas.Trans, s.penalty, b.Slice(0, k, 0, m).(*mat.Dense).RawMatrix(), 0, h.RawSymmetric())
		h.SymRankOne(h, -a, mat.NewVecDense(m, u))
		for i := range m {
			h.SetSym(i, i, h.At(i, i)+a+eps)
		}
		var ch mat.Cholesky
		return ch.Factorize(h) && ch.SolveVecTo(out, rhs) == nil
	}
	// Woodbury: (dI + Bᵀ C B)⁻¹ = I/d − Bᵀ(C⁻¹ + BBᵀ/d)⁻¹B/d², C = diag(penalty, …, −a).
	d := a + eps
	var cap mat.Dense
	cap.Mul(b, b.T())
	cap.Scale(1/d, &cap)
	for i := range k {
		cap.Set(i, i, cap.At(i, i)+1/s.penalty)
	}
	cap.Set(k, k, -eps/(a*d)) // 1/d − 1/a without the cancellation
	var w, br mat.VecDense
	br.MulVec(b, rhs)
	if err := w.SolveVec(&cap, &br); err != nil {
		if _, ill := err.(mat.Condition); !ill {
			return false
		}
	}
	out.MulVec(b.T(), &w)
	out.AddScaledVec(rhs, -1/d, out)
	out.ScaleVec(1/d, out)
	return floats.Dot(step, s.grad) < 0
}

// column returns column j, computed once.
func (s *lagrangian) column(j int) []float64 {
	col, ok := s.cache[j]
	if !ok {
		col = s.columns([]int{j})
		s.cache[j] = col
	}
	return col
}

// round takes the multiplier to the exact optimum of its support once the gap is
// small, and reports whether that settles the problem.
func (s *lagrangian) round() bool {
	copy(s.res.F, s.f)
	s.certifier.value(true) // nearly: the last step sees to the ball
	return s.res.Gap <= 1e-3 && s.polish()
}
