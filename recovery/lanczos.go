// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/linop"
)

// ritzTol is the residual, relative to the threshold, at which a singular vector
// is good enough: any orthonormal directions are valid, these are the best.
const ritzTol = 1e-6

// lanczosMemory bounds the values that are held, (m + n) for each step, and
// lanczosWork the work of orthogonalising them, (m + n)k² for k steps, to some
// seconds: 450 steps at m = n = 5,000, 84 at 100,000.
const (
	lanczosMemory = 1 << 24
	lanczosWork   = 2e9
)

// visibleDirections returns the left singular vectors of a above the threshold as
// columns, nil where there are none or more than limit.
//
// Golub–Kahan–Lanczos with full reorthogonalisation runs from a fixed start, keeps
// what it finds and runs again in the complement until nothing is found, since one
// run sees each repeated singular value once. Where the budget ends it, what was
// found so far is returned: fewer directions than there are, yet all visible, since
// a Ritz value never exceeds ‖Aᵀu‖ of its vector u.
func visibleDirections(ctx context.Context, a linop.Operator, threshold float64, limit int) (*mat.Dense, error) {
	m, n := a.Dims()
	g := &bidiagonal{a: a, rnd: rand.New(rand.NewPCG(1, 1)), steps: max(8, min(lanczosMemory/(m+n), int(math.Sqrt(lanczosWork/float64(m+n)))))}
	for g.steps > 0 {
		found, err := g.run(ctx, threshold, limit)
		if err != nil {
			return nil, err
		}
		if len(g.left) > limit {
			return nil, nil
		}
		if found == 0 || len(g.left) >= min(m, n) {
			break
		}
	}
	if len(g.left) == 0 {
		return nil, nil
	}
	p := mat.NewDense(m, len(g.left), nil)
	for i, u := range g.left {
		p.SetCol(i, u)
	}
	return p, nil
}

// bidiagonal is the Golub–Kahan–Lanczos process with its locked vectors.
type bidiagonal struct {
	a           linop.Operator
	rnd         *rand.Rand
	left, right [][]float64 // locked
	steps       int         // that the budget leaves
}

// run finds singular triplets above the threshold and locks them.
func (g *bidiagonal) run(ctx context.Context, threshold float64, limit int) (int, error) {
	m, n := g.a.Dims()
	var us, vs [][]float64
	var alpha, beta []float64
	v := make([]float64, n)
	for i := range v {
		v[i] = g.rnd.NormFloat64()
	}
	if normalize(v, g.right, nil) == 0 {
		return 0, nil
	}
	// tiny is a breakdown: an invariant subspace was found.
	tiny := 1e-12 * threshold
	for check, end := 8, min(m, n)-len(g.left); ; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		vs = append(vs, v)
		u := make([]float64, m)
		g.a.MulVecTo(u, false, v)
		al := normalize(u, g.left, us)
		us, alpha = append(us, u), append(alpha, al)
		v = make([]float64, n)
		be := 0.0
		if al > tiny {
			g.a.MulVecTo(v, true, u)
			be = normalize(v, g.right, vs)
		}
		beta = append(beta, be)
		k := len(us)
		g.steps--
		last := k >= end || be <= tiny || g.steps == 0
		if k < check && !last {
			continue
		}
		check = k + k/2
		s, x, y := smallSVD(alpha, beta)
		wanted, done := 0, last
		for i := range s {
			if s[i] <= threshold {
				done = true // the list above it is complete
				break
			}
			if !last && be*math.Abs(x.At(k-1, i)) > ritzTol*threshold {
				done = false
				wanted = 0
				break
			}
			wanted++
		}
		if wanted+len(g.left) > limit || done {
			g.lock(us, vs, x, y, wanted)
			return wanted, nil
		}
	}
}

// lock keeps the first k Ritz vectors.
func (g *bidiagonal) lock(us, vs [][]float64, x, y *mat.Dense, k int) {
	for i := range k {
		u, v := combine(us, x, i), combine(vs, y, i)
		if normalize(u, g.left, nil) > 0 && normalize(v, g.right, nil) > 0 {
			g.left, g.right = append(g.left, u), append(g.right, v)
		}
	}
}

func combine(basis [][]float64, x *mat.Dense, col int) []float64 {
	out := make([]float64, len(basis[0]))
	for i, b := range basis {
		floats.AddScaled(out, x.At(i, col), b)
	}
	return out
}

// normalize removes the components along a and b, twice, scales v to length 1 and
// returns the length that it had, 0 where only rounding was left.
func normalize(v []float64, a, b [][]float64) float64 {
	start := floats.Norm(v, 2)
	for range 2 {
		for _, set := range [2][][]float64{a, b} {
			for _, q := range set {
				floats.AddScaled(v, -floats.Dot(q, v), q)
			}
		}
	}
	rest := floats.Norm(v, 2)
	if rest <= dependence*start || rest == 0 {
		clear(v)
		return 0
	}
	floats.Scale(1/rest, v)
	return rest
}

// smallSVD decomposes the upper bidiagonal matrix with this diagonal and
// superdiagonal (the last beta is outside).
func smallSVD(alpha, beta []float64) (s []float64, x, y *mat.Dense) {
	k := len(alpha)
	b := mat.NewDense(k, k, nil)
	for i, v := range alpha {
		b.Set(i, i, v)
		if i+1 < k {
			b.Set(i, i+1, beta[i])
		}
	}
	var svd mat.SVD
	x, y = new(mat.Dense), new(mat.Dense)
	if !svd.Factorize(b, mat.SVDThin) {
		return nil, x, y
	}
	svd.UTo(x)
	svd.VTo(y)
	return svd.Values(nil), x, y
}
