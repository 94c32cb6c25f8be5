// SPDX-License-Identifier: Apache-2.0

package recovery_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery"
)

// Problems of the sizes and kinds on which solvers of Basis Pursuit Denoising are shown
// and tested: the demonstrations of SPGL1 (Gaussian rows made orthonormal, 50 × 128, 14
// spikes, radius 0.1) and of ℓ₁-magic (120 × 512, 20 spikes, its radius for σ = 0.005),
// and three kinds of the Sparco collection, smaller: spikes in Gaussian rows, spikes and
// cosines together, rows of a cosine transform. Spikes are positive here. Each solver
// proves its answer, finds where the spikes are, and none needs more mass than they.
func TestClassicProblems(t *testing.T) {
	rnd := rand.New(rand.NewPCG(61, 1))
	for _, c := range []struct {
		name   string
		a      *mat.Dense
		spikes int
		noise  float64 // a sensor
		radius float64
	}{
		{"orthonormal rows", orthonormalRows(rnd, 50, 128), 14, .005, .1},
		{"l1-magic", orthonormalRows(rnd, 120, 512), 20, .005, .005 * math.Sqrt(120) * math.Sqrt(1+2*math.Sqrt2/math.Sqrt(120))},
		{"spikes without noise", orthonormalRows(rnd, 150, 640), 8, 0, 1e-6},
		{"spikes and cosines", spikesAndCosines(128), 12, .001, .02},
		{"cosine transform", cosineRows(rnd, 100, 400), 10, .001, .02},
	} {
		m, n := c.a.Dims()
		f, y := make([]float64, n), make([]float64, m)
		at := rnd.Perm(n)[:c.spikes]
		for _, i := range at {
			f[i] = 1
		}
		op := linop.Dense{M: c.a}
		op.MulVecTo(y, false, f)
		noise := make([]float64, m)
		for i := range noise {
			noise[i] = c.noise * rnd.NormFloat64()
		}
		floats.Add(y, noise)
		if floats.Norm(noise, 2) > c.radius {
			t.Fatalf("%s: noise of length %v in a ball of %v", c.name, floats.Norm(noise, 2), c.radius)
		}
		slices.Sort(at)
		for _, upper := range []float64{1, math.Inf(1)} {
			p := recovery.Problem{A: op, Y: y, Radius: c.radius, Upper: upper}
			for solver, s := range solvers() {
				name := c.name + ", " + solver
				res, err := s.Solve(t.Context(), p)
				if err != nil || res.Status != recovery.Optimal {
					t.Errorf("%s: %v %+v", name, err, short(res))
					continue
				}
				certified(t, name, p, res)
				if res.Objective > float64(c.spikes)*(1+res.Gap) {
					t.Errorf("%s: mass %v, the spikes have %d", name, res.Objective, c.spikes)
				}
				order := make([]int, n)
				floats.Argsort(slices.Clone(res.F), order)
				if found := slices.Sorted(slices.Values(order[n-c.spikes:])); !slices.Equal(found, at) {
					t.Errorf("%s: largest at %v, spikes are at %v", name, found, at)
				}
				if c.noise == 0 {
					if d := floats.Distance(res.F, f, math.Inf(1)); d > 1e-5 {
						t.Errorf("%s: off by %v without noise", name, d)
					}
				}
			}
		}
	}
}

// orthonormalRows is Qᵀ of a Gaussian n × m matrix QR.
func orthonormalRows(rnd *rand.Rand, m, n int) *mat.Dense {
	g := mat.NewDense(n, m, nil)
	for i := range n {
		for j := range m {
			g.Set(i, j, rnd.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	var q mat.Dense
	qr.QTo(&q)
	return mat.DenseCopyOf(q.Slice(0, n, 0, m).T())
}

// cosine is entry (k, j) of the orthonormal discrete cosine transform of order n.
func cosine(k, j, n int) float64 {
	if k == 0 {
		return math.Sqrt(1 / float64(n))
	}
	return math.Sqrt(2/float64(n)) * math.Cos(math.Pi*float64(k)*(float64(j)+.5)/float64(n))
}

// spikesAndCosines is [I C], n × 2n: a signal is a sum of unit vectors and of cosines.
func spikesAndCosines(n int) *mat.Dense {
	a := mat.NewDense(n, 2*n, nil)
	for i := range n {
		a.Set(i, i, 1)
		for k := range n {
			a.Set(i, n+k, cosine(k, i, n))
		}
	}
	return a
}

// cosineRows is m random rows of the cosine transform of order n.
func cosineRows(rnd *rand.Rand, m, n int) *mat.Dense {
	a := mat.NewDense(m, n, nil)
	for i, k := range rnd.Perm(n)[:m] {
		for j := range n {
			a.Set(i, j, cosine(k, j, n))
		}
	}
	return a
}
