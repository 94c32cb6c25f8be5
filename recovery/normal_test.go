// SPDX-License-Identifier: Apache-2.0

package recovery_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// normed is an operator without entries whose norm is bounded.
type normed struct {
	linop.Operator
	norm float64
}

func (p normed) Norm() float64 { return p.norm }

func (p normed) Err() float64 { return linop.Err(p.Operator) }

// withValues is a random m × n matrix of these singular values.
func withValues(rnd *rand.Rand, m, n int, value func(i int) float64) *mat.Dense {
	s := mat.NewDense(m, n, nil)
	for i := range min(m, n) {
		s.Set(i, i, value(i))
	}
	var a mat.Dense
	a.Product(orthogonal(rnd, m), s, orthogonal(rnd, n).T())
	return &a
}

// The noise lies in the ball of the normal equations as often as the rule says, up to what
// the two traces and the law of two moments are off.
func TestNormalEquationsHoldTheNoise(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 1))
	const trials = 4000
	for name, value := range map[string]func(i int) float64{
		"flat":      func(int) float64 { return 3 },
		"geometric": func(i int) float64 { return 9 * math.Pow(.9, float64(i)) },
		"steep":     func(i int) float64 { return 9 * math.Pow(.5, float64(i)) },
		"one":       func(i int) float64 { return 5 / float64(1+99*i) },
	} {
		a := withValues(rnd, 60, 40, value)
		d := measurement.Data{A: normed{products{linop.Dense{M: a}}, mat.Norm(a, 2)}, Y: make([]float64, 60)}
		for beta, slack := range map[float64]float64{.5: .06, .05: .02} {
			_, ball, err := recovery.NewProblem(t.Context(), d, recovery.NormalEquations, nil)
			if err != nil || ball.Resized(.5) != ball {
				t.Fatalf("%+v, want the median radius (%v)", ball, err)
			}
			ball = ball.Resized(beta)
			outside := 0
			noise, image := make([]float64, 60), make([]float64, 40)
			for range trials {
				for i := range noise {
					noise[i] = rnd.NormFloat64()
				}
				d.A.MulVecTo(image, true, noise)
				if floats.Norm(image, 2) > ball.Radius {
					outside++
				}
			}
			if got := float64(outside) / trials; math.Abs(got-beta) > slack {
				t.Errorf("%s: outside in %.3f, want %.2f ± %.2f (%+v)", name, got, beta, slack, ball)
			}
		}
	}
}

// What is proved of the normal equations holds for every operator within the declared error.
func TestNormalEquationsChargeTheError(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 2))
	const m, n, d = 25, 20, 1e-7
	optimal := 0
	for trial := range 10 {
		a := withValues(rnd, m, n, func(i int) float64 { return 12 / float64(1+i) })
		y := mat.Col(nil, trial, a)
		for i := range y {
			y[i] += .3 * rnd.NormFloat64()
		}
		data := measurement.Data{A: normed{linop.Dense{M: a, Bound: d}, 12 * (1 + 1e-12)}, Y: y}
		rule := recovery.NormalEquations
		p, _, err := recovery.NewProblem(t.Context(), data, rule, nil)
		must.Do(t, err)
		res, _, err := recovery.Recover(t.Context(), data, recovery.ColumnGeneration{}, rule, nil)
		if err != nil {
			t.Fatalf("trial %d: %v, %v", trial, res.Status, err)
		}
		if res.Status != recovery.Optimal {
			continue
		}
		optimal++
		var dual, fit, residual, leave mat.VecDense
		dual.MulVec(a, mat.NewVecDense(n, res.Dual)) // E along this raises an entry most
		f := mat.NewVecDense(n, res.F)
		fit.MulVec(a, f)
		fit.SubVec(mat.NewVecDense(m, y), &fit)
		residual.MulVec(a.T(), &fit)
		leave.MulVec(a, &residual) // and along this F leaves the ball fastest
		for _, v := range []mat.Vector{&dual, &leave} {
			for _, sign := range []float64{1, -1} {
				worst := mat.NewDense(m, n, nil)
				worst.Outer(sign*d/mat.Norm(v, 2)/floats.Norm(res.F, 2), v, f)
				worst.Add(worst, a)
				var exact mat.Dense
				exact.Mul(a.T(), worst)
				of := recovery.Problem{A: linop.Dense{M: &exact}, Y: p.Y, Radius: p.Radius}
				if low, err := of.LowerBound(res.Dual); err != nil || low < res.LowerBound*(1-1e-12) {
					t.Errorf("trial %d: the bound is %v, of an operator within the error %v (%v)", trial, res.LowerBound, low, err)
				}
				var out mat.VecDense
				out.MulVec(&exact, f)
				out.SubVec(&out, mat.NewVecDense(n, p.Y))
				if norm := mat.Norm(&out, 2); norm > p.Radius*(1+1e-12) {
					t.Errorf("trial %d: f̂ is at %v of the exact data, radius %v", trial, norm, p.Radius)
				}
			}
		}
	}
	if optimal < 3 {
		t.Errorf("%d of 10 had an optimum", optimal)
	}
}

// Auto takes the normal equations where no entries and no singular vectors are at hand, and
// what is prepared once gives the same problem without the products of the traces.
func TestAutoByProducts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 3))
	a := withValues(rnd, 30, 30, func(i int) float64 { return 20 / float64(1+i) })
	dense, y := linop.Dense{M: a}, mat.Col(nil, 3, a)
	for name, c := range map[string]struct {
		op   linop.Operator
		rule recovery.Rule
		want recovery.Rule
	}{
		"entries":             {dense, recovery.Auto, recovery.Projected},
		"products":            {normed{products{dense}, 20}, recovery.Auto, recovery.NormalEquations},
		"products, no norm":   {products{dense}, recovery.Auto, recovery.Projected},
		"projected, products": {normed{products{dense}, 20}, recovery.Projected, recovery.Projected},
		"normal, entries":     {dense, recovery.NormalEquations, recovery.NormalEquations},
	} {
		data, rule := measurement.Data{A: c.op, Y: y}, c.rule
		p, ball, err := recovery.NewProblem(t.Context(), data, rule, nil)
		if err != nil || ball.Rule != c.want {
			t.Errorf("%s: %v (%v), want %v", name, ball.Rule, err, c.want)
			continue
		}
		s, err := recovery.Prepare(t.Context(), data, rule, nil)
		if err != nil || s == nil {
			t.Fatalf("%s: %v, %v", name, s, err)
		}
		q, again, err := recovery.NewProblem(t.Context(), data, rule, s)
		if err != nil || again != ball || !slices.Equal(q.Y, p.Y) {
			t.Errorf("%s: %+v after preparation, %+v without (%v)", name, again, ball, err)
		}
	}
	hidden := measurement.Data{A: products{dense}, Y: y}
	if _, _, err := recovery.NewProblem(t.Context(), hidden, recovery.NormalEquations, nil); !errors.Is(err,
		recovery.ErrInvalid) {
		t.Errorf("no bound on the norm: %v, want invalid", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	hidden.A = normed{hidden.A, 20}
	if _, _, err := recovery.NewProblem(ctx, hidden, recovery.Auto, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := recovery.Prepare(ctx, hidden, recovery.Auto, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled preparation: %v", err)
	}
}

// The norms that operators declare are upper bounds, and near.
func TestDeclaredNorms(t *testing.T) {
	for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.Normalized, laplacian.RandomWalk} {
		g := testgraph.Star(12).Graph
		n := g.Order()
		m := must.Get(expm.New(t.Context(), laplacian.New(g, kind), .3, expm.Options{}))(t)
		rows := []int{1, 4, 5, 9}
		separated := must.Get(recovery.Separate(m, make([]int32, n), make([]int32, n)))(t)
		for name, op := range map[string]linop.Operator{
			"all": m, "rows": linop.Rows(m, rows), "separate": separated,
			"scaled": linop.Scaled{A: m, Rows: rows, Scale: []float64{3, .5, 2, 1}},
		} {
			bound, norm := linop.Norm(op), spectralNorm(op)
			if !(bound >= norm) || bound > 12*norm {
				t.Errorf("%v, %s: declared %v, is %v", kind, name, bound, norm)
			}
		}
	}
}

func spectralNorm(op linop.Operator) float64 {
	r, c := op.Dims()
	a := mat.NewDense(r, c, nil)
	for j := range c {
		x, y := make([]float64, c), make([]float64, r)
		x[j] = 1
		op.MulVecTo(y, false, x)
		a.SetCol(j, y)
	}
	var svd mat.SVD
	svd.Factorize(a, mat.SVDNone)
	return svd.Values(nil)[0]
}
