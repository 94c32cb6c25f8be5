// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// gramSensors is the number of sensors from which the normal equations are tried
// first: their products cost a quarter of an orthogonal basis.
const gramSensors = 1000

// gramCond bounds the condition of the Gram matrix, the square of that of the
// columns: two passes of refinement then reach rounding.
const gramCond = 1e10

// gram solves the same problem as master from the Gram matrix of the columns, where
// they are well conditioned and block pivoting settles. Otherwise it says so and
// master takes over.
//
// With G_FF = RᵀR, Q = A_F R⁻¹ is never formed (corrected seminormal equations:
// Björck (1987), Linear Algebra Appl. 88/89).
type gram struct {
	m, k   int
	cols   []float64 // k × m
	g      []float64 // k × k
	y, aty []float64 // and A_Wᵀy
	u      float64
	at     []place
	f      []float64 // the last solution

	order  []int // the free variables
	r      blas64.Triangular
	x      []float64
	resid  []float64 // y − A_W x
	c      []float64 // A_Wᵀ resid
	lambda float64
}

func (s *gram) matrix() blas64.General {
	return blas64.General{Rows: s.k, Cols: s.m, Stride: s.m, Data: s.cols}
}

// grow adds p columns, one after the other in cols, at zero.
func (s *gram) grow(cols []float64, p int) {
	if p == 0 {
		return
	}
	old, k := s.k, s.k+p
	s.k, s.cols = k, append(s.cols, cols...)
	cross := blas64.General{Rows: k, Cols: p, Stride: p, Data: make([]float64, k*p)}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, s.matrix(),
		blas64.General{Rows: p, Cols: s.m, Stride: s.m, Data: s.cols[old*s.m:]}, 0, cross)
	g := make([]float64, k*k)
	for i := range k {
		if i < old {
			copy(g[i*k:], s.g[i*old:(i+1)*old])
		}
		copy(g[i*k+old:], cross.Data[i*p:(i+1)*p])
	}
	for i := old; i < k; i++ {
		for j := range old {
			g[i*k+j] = g[j*k+i]
		}
	}
	s.g = g
	s.at = append(s.at, make([]place, p)...)
	s.f, s.c = append(s.f, make([]float64, p)...), make([]float64, k)
	s.resid = make([]float64, s.m)
	for i := old; i < k; i++ {
		s.aty = append(s.aty, floats.Dot(s.y, s.cols[i*s.m:(i+1)*s.m]))
	}
}

// solve is block principal pivoting as in master. It reports false where it does not
// settle, or the columns are ill conditioned.
func (s *gram) solve(eta float64, stop func() bool) bool {
	fewest, tries := math.MaxInt, 5
	for !stop() {
		if !s.factor() {
			return false
		}
		s.first(eta)
		flips := s.violated()
		for pass := 0; pass < 2 && len(flips) == 0; pass++ {
			s.improve(eta, s.c, dot2(s.resid, s.resid))
			flips = s.violated()
		}
		if len(flips) == 0 {
			copy(s.f, s.x)
			return true
		}
		if len(flips) < fewest {
			fewest, tries = len(flips), 5
		} else if tries--; tries < 0 {
			return false
		}
		for _, j := range flips {
			switch {
			case s.at[j] != free:
				s.at[j] = free
			case s.x[j] > s.u:
				s.at[j] = atUpper
			default:
				s.at[j] = atZero
			}
		}
	}
	return false
}

// first sets x to the optimum over the free variables, from the Gram matrix alone.
func (s *gram) first(eta float64) {
	s.x = make([]float64, s.k)
	c, squared := slices.Clone(s.aty), dot2(s.y, s.y)
	for j, p := range s.at {
		if p != atUpper {
			continue
		}
		// ‖b − U a_j‖² = ‖b‖² − 2U a_jᵀb + U²‖a_j‖²
		squared += s.u * (s.u*s.g[j*s.k+j] - 2*c[j])
		floats.AddScaled(c, -s.u, s.g[j*s.k:(j+1)*s.k])
		s.x[j] = s.u
	}
	s.improve(eta, c, squared)
}

// improve adds to x the optimal step of the free variables, given c = A_Wᵀb and
// ‖b‖² of the present residual b, and sets lambda, resid and c to those after it.
// From the true residual it takes the rounding of R away.
func (s *gram) improve(eta float64, c []float64, squared float64) {
	n := len(s.order)
	h := blas64.Vector{N: n, Inc: 1, Data: make([]float64, n)}
	v := blas64.Vector{N: n, Inc: 1, Data: make([]float64, n)}
	for i, j := range s.order {
		h.Data[i], v.Data[i] = c[j], 1
	}
	if n > 0 {
		blas64.Trsv(blas.Trans, s.r, h)
		blas64.Trsv(blas.Trans, s.r, v)
	}
	s.lambda = 0
	if room := eta*eta - (squared - floats.Dot(h.Data, h.Data)); room > 0 {
		s.lambda = math.Sqrt(room / floats.Dot(v.Data, v.Data)) // +Inf where nothing is free
	}
	if n > 0 {
		floats.AddScaled(h.Data, -s.lambda, v.Data)
		blas64.Trsv(blas.NoTrans, s.r, h)
		for i, j := range s.order {
			s.x[j] += h.Data[i]
		}
	}
	b := blas64.Vector{N: s.m, Inc: 1, Data: s.resid}
	copy(s.resid, s.y)
	blas64.Gemv(blas.Trans, -1, s.matrix(), blas64.Vector{N: s.k, Inc: 1, Data: s.x}, 1, b)
	blas64.Gemv(blas.NoTrans, 1, s.matrix(), b, 0, blas64.Vector{N: s.k, Inc: 1, Data: s.c})
}

// factor sets order to the free variables and r to R of G_FF = RᵀR. It reports false
// where that is ill conditioned.
func (s *gram) factor() bool {
	s.order = s.order[:0]
	for j, p := range s.at {
		if p == free {
			s.order = append(s.order, j)
		}
	}
	n := len(s.order)
	if n == 0 {
		return true
	}
	sub := mat.NewSymDense(n, nil)
	raw := sub.RawSymmetric()
	for a, i := range s.order {
		row := s.g[i*s.k : (i+1)*s.k]
		for b := a; b < n; b++ {
			raw.Data[a*raw.Stride+b] = row[s.order[b]]
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(sub) || !(chol.Cond() < gramCond) {
		return false
	}
	s.r = chol.RawU().(*mat.TriDense).RawTriangular()
	return true
}

// violated lists the variables on the wrong side.
func (s *gram) violated() []int {
	var out []int
	norm := floats.Norm(s.resid, 2)
	for j, p := range s.at {
		slack := few*unit*math.Sqrt(s.g[j*s.k+j])*norm + 1e-13*s.lambda
		if math.IsInf(s.lambda, 1) {
			slack = 0
		}
		switch p {
		case free:
			if s.x[j] < 0 || s.x[j] > s.u {
				out = append(out, j)
			}
		case atZero:
			if s.c[j]-s.lambda > slack {
				out = append(out, j)
			}
		case atUpper:
			if s.lambda-s.c[j] > slack {
				out = append(out, j)
			}
		}
	}
	return out
}

// handOver moves the working set to an orthogonal basis and its master.
func (s *gram) handOver(b *basis, to *master) {
	at, f := s.at, s.f
	coords := b.extend(slices.Clone(s.cols), s.k)
	q, _, rho2 := b.project(s.y)
	to.grow(coords, q, rho2)
	copy(to.at, at)
	copy(to.f, f)
}
