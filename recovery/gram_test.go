// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/dense"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

func newTestCertifier(t *testing.T, p Problem) *certifier {
	t.Helper()
	j, _, err := newCertifier(t.Context(), Options{}, p)
	must.Do(t, err)
	return j
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// TestGram: with columns held, dropped after some, and never held, the normal equations settle on well-conditioned
// columns and find what the orthogonal basis finds, as columns come in several steps, some wider than a block of products.
func TestGram(t *testing.T) {
	never := func() bool { return false }
	const m, n = 300, 160
	rnd := rand.New(rand.NewPCG(6, 11))
	for trial := range 6 {
		a := linop.Dense{M: mat.NewDense(m, n, nil)}
		share := []float64{1, .1}[trial%2] // of entries that are not 0
		for i := range a.M.RawMatrix().Data {
			if rnd.Float64() < share {
				a.M.RawMatrix().Data[i] = rnd.NormFloat64() / math.Sqrt(share*m)
			}
		}
		f, y := make([]float64, n), make([]float64, m)
		for j := range f {
			f[j] = math.Max(0, 1.5*rnd.Float64()-.5) // a third 0, some above 1
		}
		a.MulVecTo(y, false, f)
		for i := range y {
			y[i] += .05 * rnd.NormFloat64()
		}
		p := Problem{A: a, Y: y, Radius: .3 * floats.Norm(y, 2)}
		for name, memory := range map[string]int{"held": 1 << 40, "dropped": 8 * m * 40, "none": -1} {
			j := newTestCertifier(t, p)
			s := &gram{certifier: j, memory: memory, resid: make([]float64, m)}
			b := dense.Basis{M: m}
			to := master{}
			for _, part := range [][2]int{{0, 9}, {9, 30}, {30, 30}, {30, 120}, {120, n}} {
				var picks []int
				for k := part[0]; k < part[1]; k++ {
					picks = append(picks, (37*k+11)%n)
				}
				s.grow(picks)
				if len(picks) > 0 {
					coords := b.Extend(j.columns(picks), len(picks))
					q, _, rho2 := b.Project(y)
					to.grow(coords, q, rho2)
				}
				if !s.solve(p.Radius, never) || !to.solve(p.Radius, never) {
					t.Fatalf("%s, trial %d: columns up to %d are not settled", name, trial, part[1])
				}
				if dropped := 8*m*part[1] > memory; s.dropped != dropped || (s.blocks == nil) != dropped {
					t.Fatalf("%s, trial %d: dropped %v with %d columns", name, trial, s.dropped, part[1])
				}
				for k, v := range to.f {
					if math.Abs(v-s.f[k]) > 1e-12 {
						t.Fatalf("%s, trial %d: f_%d is %v of %d, want %v", name, trial, k, s.f[k], part[1], v)
					}
				}
				if math.Abs(s.lambda-to.lambda) > 1e-12*to.lambda {
					t.Errorf("%s, trial %d: λ is %v, want %v", name, trial, s.lambda, to.lambda)
				}
				var ax mat.VecDense
				full := make([]float64, n)
				for k, c := range s.nodes {
					full[c] = s.f[k]
				}
				ax.MulVec(a.M, mat.NewVecDense(n, full))
				for i, v := range y {
					if math.Abs(v-ax.AtVec(i)-s.resid[i]) > 1e-13 {
						t.Fatalf("%s, trial %d: residual %d is %v, want %v", name, trial, i, s.resid[i], v-ax.AtVec(i))
					}
				}
			}
			if s.lambda == 0 {
				t.Errorf("%s, trial %d: the ball is never met", name, trial)
			}
		}
	}
}

// TestGramCancels: where the ball is a millionth of y, what is left of y is not seen in
// squares, and pivots are judged by the true residual.
func TestGramCancels(t *testing.T) {
	const m, n = 200, 120
	rnd := rand.New(rand.NewPCG(3, 1))
	for trial := range 20 {
		apart, noise := []float64{1, 1, .1, .01}[trial%4], []float64{1e-6, 1e-8, 1e-6, 1e-4}[trial%4]
		a := linop.Dense{M: mat.NewDense(m, n, nil)}
		f, y := make([]float64, n), make([]float64, m)
		for i := range m {
			common := rnd.NormFloat64()
			for j := range n {
				a.M.Set(i, j, common+apart*rnd.NormFloat64())
			}
		}
		for j := range f {
			f[j] = math.Max(0, rnd.Float64()-.5)
		}
		a.MulVecTo(y, false, f)
		for i := range y {
			y[i] += noise * apart * rnd.NormFloat64()
		}
		p := Problem{A: a, Y: y, Radius: noise * apart * math.Sqrt(m)}
		j := newTestCertifier(t, p)
		s := &gram{certifier: j, memory: 1 << 40, resid: make([]float64, m)}
		s.grow(upTo(n))
		rounds := 0
		if !s.solve(p.Radius, func() bool { rounds++; return false }) || rounds > 20 {
			t.Errorf("trial %d: settled after %d rounds, want at most 20", trial, rounds)
		}
	}
}

// rounding is a matrix whose products are off by 1e-16 of the vector, as those of a
// series are.
type rounding struct{ linop.Operator }

func (r rounding) MulVecTo(dst []float64, trans bool, x []float64) {
	r.Operator.MulVecTo(dst, trans, x)
	for i := range dst {
		dst[i] += float64(i%3-1) * 1e-16 * floats.Norm(x, 2)
	}
}

// TestGramLengths: columns of many lengths, nearly parallel, are priced alike by the
// true residual, or not called settled.
func TestGramLengths(t *testing.T) {
	const m, n = 300, 60
	rnd := rand.New(rand.NewPCG(3, 2))
	settled := 0
	for trial := range 40 {
		a := linop.Dense{M: mat.NewDense(m, n, nil)}
		y := make([]float64, m)
		spread := 4 + 3*rnd.Float64()
		for j := range n {
			length := math.Pow(10, -spread*rnd.Float64())
			for i := range m {
				a.M.Set(i, j, length*(1+.1*rnd.NormFloat64()))
				y[i] += .3 * a.M.At(i, j)
			}
		}
		for i := range y {
			y[i] += .01 * rnd.NormFloat64()
		}
		p := Problem{A: rounding{a}, Y: y, Radius: .01 * math.Sqrt(m)}
		for _, memory := range []int{1 << 40, -1} {
			j := newTestCertifier(t, p)
			s := &gram{certifier: j, memory: memory, resid: make([]float64, m)}
			s.grow(upTo(n))
			if !s.solve(p.Radius, j.cancelled) || s.lambda == 0 {
				continue
			}
			settled++
			if k := s.order[len(s.order)-1]; !s.pricesEqual(p.Radius) || s.pricesEqual(p.Radius*1.001) {
				t.Errorf("trial %d, memory %d: settled off the ball", trial, memory)
			} else if s.cw[k] *= 1.5; s.pricesEqual(p.Radius) {
				t.Errorf("trial %d, memory %d: one price may be off by half", trial, memory)
			}
			r, c := make([]float64, m), make([]float64, n)
			a.MulVecTo(r, false, s.f)
			floats.SubTo(r, y, r)
			a.MulVecTo(c, true, r)
			for k, at := range s.at {
				rounds := 64 * unit * floats.Norm(mat.Col(nil, k, a.M), 2) * floats.Norm(y, 2)
				if at == free && math.Abs(c[k]-s.lambda) > 1e-6*s.lambda+rounds {
					t.Errorf("trial %d, memory %d: price of column %d is %v, λ is %v", trial, memory, k, c[k], s.lambda)
				}
			}
		}
	}
	if settled < 20 {
		t.Errorf("%d settled, want at least 20", settled)
	}
}
