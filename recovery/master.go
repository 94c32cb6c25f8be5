// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// place is the status of a variable of the master problem: at a bound, or free.
type place int8

const (
	atZero place = iota
	free
	atUpper
)

// master solves min 1ᵀf, ‖R f − q‖² + ρ² ≤ η², 0 ≤ f ≤ 1 on the working set, in
// the coordinates of its orthonormal basis. Where that is infeasible it minimises
// the residual.
//
// For a free set F and a set U at 1, with R_F = Q_s R_s, b = q − Σ R_U, r₀ = b −
// Q_s Q_sᵀb and v = R_s⁻ᵀ1, the optimum over the free variables is
// x = R_s⁻¹(Q_sᵀb − λv) with λ = √((η² − ‖r₀‖² − ρ²)/vᵀv), or 0 if negative.
type master struct {
	cols  [][]float64
	norms []float64
	q     []float64
	rho2  float64

	at     []place
	f      []float64 // feasible for the box after solve
	order  []int     // the free variables, in the order of qr
	qr     qr
	resid  []float64 // q − R f of the last target
	lambda float64
}

// grow adds variables at zero. Coordinates of older columns are padded.
func (s *master) grow(cols [][]float64, q []float64, rho2 float64) {
	dim := len(q)
	for i, c := range s.cols {
		s.cols[i] = pad(c, dim)
	}
	for i, c := range s.qr.q {
		s.qr.q[i] = pad(c, dim)
	}
	for _, c := range cols {
		s.cols = append(s.cols, pad(c, dim))
		s.norms = append(s.norms, floats.Norm(c, 2))
		s.at = append(s.at, atZero)
		s.f = append(s.f, 0)
	}
	s.q, s.rho2 = q, rho2
	s.resid = make([]float64, dim)
}

func pad(v []float64, n int) []float64 {
	return append(v, make([]float64, n-len(v))...)
}

// solve leaves the optimum in f, resid and lambda. It reports false where stop
// returned true first.
func (s *master) solve(eta float64, stop func() bool) bool {
	if s.pivot(eta, stop) {
		return true
	}
	return s.activeSet(eta, stop)
}

// sync updates the factorisation to the free variables. Dependent columns are set to zero.
func (s *master) sync() {
	for k := len(s.order) - 1; k >= 0; k-- {
		if s.at[s.order[k]] != free {
			s.qr.remove(k)
			s.order = append(s.order[:k], s.order[k+1:]...)
		}
	}
	in := make([]bool, len(s.at))
	for _, j := range s.order {
		in[j] = true
	}
	for j, p := range s.at {
		if p == free && !in[j] {
			s.enter(j)
		}
	}
}

// enter makes variable j free, or leaves it at zero where its column depends on
// the free ones.
func (s *master) enter(j int) bool {
	if !s.qr.append(s.cols[j]) {
		s.at[j] = atZero
		return false
	}
	s.at[j] = free
	s.order = append(s.order, j)
	return true
}

// target returns the optimum over the free variables and sets resid and lambda.
func (s *master) target(eta float64) []float64 {
	b := s.resid
	copy(b, s.q)
	for j, p := range s.at {
		if p == atUpper {
			floats.AddScaled(b, -1, s.cols[j])
		}
	}
	k := s.qr.len()
	x, v := make([]float64, k), make([]float64, k)
	for i, q := range s.qr.q {
		x[i] = floats.Dot(q, b)
		floats.AddScaled(b, -x[i], q)
		v[i] = 1
	}
	s.qr.solveLower(v)
	room := eta*eta - floats.Dot(b, b) - s.rho2
	s.lambda = 0
	if room > 0 {
		s.lambda = math.Sqrt(room / floats.Dot(v, v)) // +Inf where nothing is free
	}
	if k == 0 {
		return x
	}
	for i, q := range s.qr.q {
		x[i] -= s.lambda * v[i]
		floats.AddScaled(b, s.lambda*v[i], q)
	}
	s.qr.solveUpper(x)
	return x
}

// price returns the violation of the optimality condition of variable j at its bound.
func (s *master) price(j int) float64 {
	c := floats.Dot(s.cols[j], s.resid)
	slack := few*unit*s.norms[j]*floats.Norm(s.resid, 2) + 1e-13*s.lambda
	switch {
	case s.lambda == 0: // the residual is what q − R f leaves of q
		slack += few * unit * s.norms[j] * floats.Norm(s.q, 2)
	case math.IsInf(s.lambda, 1):
		slack = 0
	}
	switch s.at[j] {
	case atZero:
		return c - s.lambda - slack
	case atUpper:
		return s.lambda - c - slack
	}
	return 0
}

// pivot is block principal pivoting: flip every violated variable while their
// number falls, and a few more times. It settles in 3–10 rounds where the columns
// are well conditioned; it reports whether it did.
// Reference: Portugal, Júdice and Vicente (1994), Math. Comp. 63.
func (s *master) pivot(eta float64, stop func() bool) bool {
	start := append([]place(nil), s.at...)
	fewest, tries := math.MaxInt, 5
	for !stop() {
		s.sync()
		x := s.target(eta)
		flip := s.violated(x)
		if len(flip) == 0 {
			s.accept(x)
			return true
		}
		if len(flip) < fewest {
			fewest, tries = len(flip), 5
		} else if tries--; tries < 0 {
			break
		}
		for _, j := range flip {
			s.at[j] = s.flipped(j, x)
		}
	}
	s.at = start
	return false
}

// violated lists, ascending, the variables that violate a bound or an optimality condition.
func (s *master) violated(x []float64) []int {
	value := make(map[int]float64, len(x))
	for i, j := range s.order {
		value[j] = x[i]
	}
	var out []int
	for j, p := range s.at {
		if p == free {
			if v := value[j]; v < 0 || v > 1 {
				out = append(out, j)
			}
		} else if s.price(j) > 0 {
			out = append(out, j)
		}
	}
	return out
}

func (s *master) flipped(j int, x []float64) place {
	if s.at[j] != free {
		return free
	}
	for i, k := range s.order {
		if k == j && x[i] > 1 {
			return atUpper
		}
	}
	return atZero
}

// accept stores the solution.
func (s *master) accept(x []float64) {
	for j, p := range s.at {
		s.f[j] = 0
		if p == atUpper {
			s.f[j] = 1
		}
	}
	for i, j := range s.order {
		s.f[j] = x[i]
	}
}

// activeSet is the primal active-set method of Lawson and Hanson with bounds: from the
// present f go to the target of the free set, as far as the box allows, and free
// one variable after another. The residual falls until the ball is reached, then
// the mass falls within it. Slower than pivot, and it cannot cycle.
func (s *master) activeSet(eta float64, stop func() bool) bool {
	for j, v := range s.f {
		switch {
		case v <= 0:
			s.at[j] = atZero
		case v >= 1:
			s.at[j] = atUpper
		default:
			s.at[j] = free
		}
	}
	banned := make([]bool, len(s.at))
	last, best := -1, math.Inf(1)
	for round := 0; round < 20*len(s.at)+100 && !stop(); round++ {
		s.sync()
		x := s.target(eta)
		if block, moved := s.step(x); block >= 0 {
			if moved {
				clear(banned)
			} else if block == last { // it entered by rounding only
				banned[block] = true
			}
			continue
		}
		s.accept(x)
		if m := s.merit(); m < best-1e-13*math.Abs(best) {
			best = m
			clear(banned)
		}
		last = s.choose(banned)
		if last < 0 {
			return true
		}
		if back := s.at[last]; !s.enter(last) {
			s.at[last] = back
			if s.swap(last) {
				clear(banned)
			} else {
				banned[last] = true
			}
		}
	}
	return !stop()
}

// swap moves variable j off its bound where its column is a combination A_F d of
// the free ones: f_j + t and f_F − t·d leave the residual as it is and lower the
// mass, until a variable reaches a bound and, unless it is j, leaves the basis for j.
// It reports whether f changed.
func (s *master) swap(j int) bool {
	d := make([]float64, s.qr.len())
	for i, q := range s.qr.q {
		d[i] = floats.Dot(q, s.cols[j])
	}
	s.qr.solveUpper(d)
	sign := 1.0
	if s.at[j] == atUpper {
		sign = -1
	}
	block, most := -1, 1.0 // j's own way
	for i, k := range s.order {
		way := math.Inf(1)
		switch v := -sign * d[i]; {
		case v < 0:
			way = s.f[k] / -v
		case v > 0:
			way = (1 - s.f[k]) / v
		}
		if way < most {
			block, most = i, way
		}
	}
	for i, k := range s.order {
		s.f[k] = min(max(s.f[k]-sign*most*d[i], 0), 1)
	}
	s.f[j] = min(max(s.f[j]+sign*most, 0), 1)
	if block < 0 {
		s.at[j] = atUpper - s.at[j]
		return most > 0
	}
	k := s.order[block]
	s.at[k], s.f[k] = atZero, 0
	if -sign*d[block] > 0 {
		s.at[k], s.f[k] = atUpper, 1
	}
	s.at[j] = free
	return most > 0
}

// merit is the merit function of activeSet, which decreases with every step: the residual
// outside the ball, the mass inside, which ranks below any residual.
func (s *master) merit() float64 {
	if s.lambda > 0 {
		return -1 / (1 + floats.Sum(s.f))
	}
	return floats.Norm(s.resid, 2)
}

// step moves f towards x until a free variable reaches a bound, which it returns,
// or -1 where none does, and reports whether f changed.
func (s *master) step(x []float64) (int, bool) {
	block, alpha := -1, 1.0
	for i, j := range s.order {
		var bound float64
		switch {
		case x[i] < 0:
			bound = 0
		case x[i] > 1:
			bound = 1
		default:
			continue
		}
		if a := (bound - s.f[j]) / (x[i] - s.f[j]); block < 0 || a < alpha {
			block, alpha = j, max(0, a)
		}
	}
	if block < 0 {
		return -1, true
	}
	for i, j := range s.order {
		s.f[j] = min(max(s.f[j]+alpha*(x[i]-s.f[j]), 0), 1)
		if j == block {
			s.at[j], s.f[j] = atZero, 0
			if x[i] > 1 {
				s.at[j], s.f[j] = atUpper, 1
			}
		}
	}
	return block, alpha > 0
}

// choose returns the variable with the largest price, or -1.
func (s *master) choose(banned []bool) int {
	best, most := -1, 0.0
	for j, p := range s.at {
		if p == free || banned[j] {
			continue
		}
		if v := s.price(j); v > most {
			best, most = j, v
		}
	}
	return best
}
