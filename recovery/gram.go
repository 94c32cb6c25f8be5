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
	y      []float64
	u      float64
	at     []place
	f      []float64
	c      []float64 // A_Wᵀ resid
	resid  []float64
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
}

// solve is block principal pivoting as in master. It reports false where it does not
// settle, or the columns are ill conditioned.
func (s *gram) solve(eta float64, stop func() bool) bool {
	fewest, tries := math.MaxInt, 5
	for !stop() {
		x, ok := s.target(eta)
		if !ok {
			return false
		}
		flips := s.violated(x)
		if len(flips) == 0 {
			s.f = x
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
			case x[j] > s.u:
				s.at[j] = atUpper
			default:
				s.at[j] = atZero
			}
		}
	}
	return false
}

// target sets resid, c and lambda to the optimum over the free variables, in closed
// form, then once more from its own residual, which takes the rounding of R away.
func (s *gram) target(eta float64) (x []float64, ok bool) {
	var order []int
	x = make([]float64, s.k)
	for j, p := range s.at {
		switch p {
		case free:
			order = append(order, j)
		case atUpper:
			x[j] = s.u
		}
	}
	r, ok := s.factor(order)
	if !ok {
		return nil, false
	}
	v := blas64.Vector{N: len(order), Inc: 1, Data: make([]float64, len(order))}
	for i := range order {
		v.Data[i] = 1
	}
	h := blas64.Vector{N: len(order), Inc: 1, Data: make([]float64, len(order))}
	if len(order) > 0 {
		blas64.Trsv(blas.Trans, r, v)
	}
	w, c := s.matrix(), blas64.Vector{N: s.k, Inc: 1, Data: s.c}
	b := blas64.Vector{N: s.m, Inc: 1, Data: s.resid}
	residual := func() {
		copy(s.resid, s.y)
		blas64.Gemv(blas.Trans, -1, w, blas64.Vector{N: s.k, Inc: 1, Data: x}, 1, b)
		blas64.Gemv(blas.NoTrans, 1, w, b, 0, c)
	}
	residual()
	for range 3 {
		for i, j := range order {
			h.Data[i] = s.c[j]
		}
		if len(order) > 0 {
			blas64.Trsv(blas.Trans, r, h)
		}
		room := eta*eta - (dot2(s.resid, s.resid) - floats.Dot(h.Data, h.Data))
		s.lambda = 0
		if room > 0 {
			s.lambda = math.Sqrt(room / floats.Dot(v.Data, v.Data)) // +Inf where nothing is free
		}
		if len(order) == 0 {
			break
		}
		floats.AddScaled(h.Data, -s.lambda, v.Data)
		blas64.Trsv(blas.NoTrans, r, h)
		for i, j := range order {
			x[j] += h.Data[i]
		}
		residual()
	}
	return x, true
}

// factor returns R of G_FF = RᵀR.
func (s *gram) factor(order []int) (blas64.Triangular, bool) {
	n := len(order)
	if n == 0 {
		return blas64.Triangular{}, true
	}
	sub := mat.NewSymDense(n, nil)
	raw := sub.RawSymmetric()
	for a, i := range order {
		row := s.g[i*s.k : (i+1)*s.k]
		for b := a; b < n; b++ {
			raw.Data[a*raw.Stride+b] = row[order[b]]
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(sub) || !(chol.Cond() < gramCond) {
		return blas64.Triangular{}, false
	}
	return chol.RawU().(*mat.TriDense).RawTriangular(), true
}

// violated lists the variables on the wrong side.
func (s *gram) violated(x []float64) []int {
	var out []int
	norm := floats.Norm(s.resid, 2)
	for j, p := range s.at {
		slack := few*unit*math.Sqrt(s.g[j*s.k+j])*norm + 1e-13*s.lambda
		if math.IsInf(s.lambda, 1) {
			slack = 0
		}
		switch p {
		case free:
			if x[j] < 0 || x[j] > s.u {
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
