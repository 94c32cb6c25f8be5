// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Homotopy follows the minimiser of λ1ᵀf + ½‖M f − y‖² over the box from λ = max Mᵀy
// down to the λ where ‖M f − y‖ = η. The path is piecewise linear; a variable enters,
// leaves, reaches the upper bound or leaves it at each corner. It holds all m·n
// entries: for small problems, and as a check of the other solvers.
//
// Reference: Efron, Hastie, Johnstone and Tibshirani (2004), Ann. Statist. 32(2).
type Homotopy struct{ Options }

// Solve implements [Solver]. Iterations are corners.
func (h Homotopy) Solve(ctx context.Context, p Problem) (*Result, error) {
	j, zero, err := newCertifier(ctx, h.Options, p)
	if j == nil {
		return zero, err
	}
	if j.prove(p.Y) {
		return j.finish()
	}
	s := newPath(j)
	for j.res.Iterations < j.opts.MaxIterations && !j.cancelled() {
		j.res.Iterations++
		if s.corner() {
			j.polish()
			break
		}
		j.opts.report(&j.res)
		if s.lambda <= 0 {
			j.prove(s.r)
			break
		}
	}
	return j.finish()
}

// path is the minimiser at one λ.
type path struct {
	*certifier
	set    master
	r, c   []float64 // y − M f and Mᵀr
	lambda float64
	last   int   // the variable of the last corner
	back   place // where it came from: it does not go back at once
}

func newPath(j *certifier) *path {
	m, n := j.p.A.Dims()
	js := make([]int, n)
	for i := range js {
		js[i] = i
	}
	all := j.columns(js)
	cols := make([][]float64, n)
	for i := range cols {
		cols[i] = all[i*m : (i+1)*m]
	}
	s := &path{certifier: j, set: master{u: j.p.upper()}, r: slices.Clone(j.p.Y), c: slices.Clone(j.c)}
	s.set.grow(cols, j.p.Y, 0)
	first := floats.MaxIdx(s.c)
	s.lambda = s.c[first]
	s.set.enter(first)
	s.last = first
	return s
}

// corner moves to the next corner, or to the sphere ‖r‖ = η, and reports which.
func (s *path) corner() bool {
	// With v = R⁻ᵀ1, f_F moves along d = R⁻¹v, r along −w = −Q v, c along −Mᵀw.
	k := s.set.qr.len()
	d := make([]float64, k)
	for i := range d {
		d[i] = 1
	}
	s.set.qr.solveLower(d)
	w, g := make([]float64, len(s.r)), make([]float64, len(s.c))
	for i, q := range s.set.qr.q {
		floats.AddScaled(w, d[i], q)
	}
	s.set.qr.solveUpper(d)
	s.multiply(g, true, w)

	t, move, to := s.next(d, g)
	hit := sphere(s.r, w, s.eta)
	done := hit <= t
	t = min(t, hit)
	for i, j := range s.set.order {
		s.set.f[j] = min(max(s.set.f[j]+t*d[i], 0), s.set.u)
	}
	// r and c again: sums of a hundred steps would hide what is left at small λ.
	s.lambda -= t
	copy(s.r, s.p.Y)
	for j, f := range s.set.f {
		if f > 0 {
			floats.AddScaled(s.r, -f, s.set.cols[j])
		}
	}
	s.multiply(s.c, true, s.r)
	if !done && move >= 0 {
		s.apply(move, to)
	}
	copy(s.res.F, s.set.f)
	s.value(done)
	return done
}

// next returns how far the next corner is and which variable moves where; none
// before λ = 0 is move −1.
func (s *path) next(d, g []float64) (t float64, move int, to place) {
	t, move = s.lambda, -1
	see := func(at float64, j int, p place) {
		if at = max(at, 0); at < t && (j != s.last || p != s.back) {
			t, move, to = at, j, p
		}
	}
	for i, j := range s.set.order {
		switch {
		case d[i] < 0:
			see(s.set.f[j]/-d[i], j, atZero)
		case d[i] > 0:
			see((s.set.u-s.set.f[j])/d[i], j, atUpper)
		}
	}
	// parallel: c_j and λ fall together, and j never meets λ but by rounding.
	const parallel = 1e-14
	for j, p := range s.set.at {
		if rate := 1 - g[j]; p == atZero && rate > parallel || p == atUpper && rate < -parallel {
			see((s.lambda-s.c[j])/rate, j, free)
		}
	}
	return t, move, to
}

func (s *path) apply(j int, to place) {
	s.last, s.back = j, s.set.at[j]
	if to == free {
		if back := s.set.at[j]; !s.set.enter(j) {
			s.set.at[j] = back
		}
		return
	}
	k := slices.Index(s.set.order, j)
	s.set.qr.remove(k)
	s.set.order = slices.Delete(s.set.order, k, k+1)
	s.set.at[j], s.set.f[j] = to, 0
	if to == atUpper {
		s.set.f[j] = s.set.u
	}
}

// sphere returns the least t ≥ 0 with ‖r − t·w‖ = eta, +Inf where there is none.
func sphere(r, w []float64, eta float64) float64 {
	a, b, c := dot2(w, w), dot2(r, w), dot2(r, r)-eta*eta
	if c <= 0 {
		return 0
	}
	disc := b*b - a*c
	if disc < 0 || b <= 0 {
		return math.Inf(1)
	}
	return c / (b + math.Sqrt(disc))
}

// polish solves the problem exactly on the support of F, which takes what an
// iteration found to rounding, and judges the result.
func (j *certifier) polish() bool {
	var support []int
	for i, f := range j.res.F {
		if f > 0 {
			support = append(support, i)
		}
	}
	s := master{u: j.p.upper()}
	cols := make([][]float64, len(support))
	m := len(j.p.Y)
	for k, col := 0, j.columns(support); k < len(support); k++ {
		cols[k] = col[k*m : (k+1)*m]
	}
	s.grow(cols, j.p.Y, 0)
	for k, i := range support {
		s.f[k] = j.res.F[i]
	}
	for range 5 {
		if !s.solve(j.eta, j.cancelled) || s.lambda == 0 {
			return false
		}
		clear(j.res.F)
		for k, i := range support {
			j.res.F[i] = s.f[k]
		}
		if j.prove(s.resid) {
			return true
		}
		j.value(true)
		if optimal, shrunk := j.accept(); !shrunk {
			return optimal
		}
	}
	return false
}
