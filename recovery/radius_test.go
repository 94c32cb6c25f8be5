// SPDX-License-Identifier: Apache-2.0

package recovery_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// chi2Radius returns the least η with P(‖ν‖₂ ≤ η) ≥ 1 − β for ν ~ N(0, σ²I_m).
func chi2Radius(sigma float64, m int, beta float64) float64 {
	return sigma * math.Sqrt(measurement.Chi2Above(float64(m), beta))
}

func TestRadii(t *testing.T) {
	// Quantiles of χ² at 0.95: NIST/SEMATECH e-Handbook, table 1.3.6.7.4, 3 decimals.
	for m, want := range map[int]float64{1: 3.841, 2: 5.991, 10: 18.307, 50: 67.505, 100: 124.342} {
		if got := chi2Radius(1, m, 0.05); math.Abs(got*got-want) > 6e-4 {
			t.Errorf("Chi2Radius(1, %d, 0.05)² = %v, want %v", m, got*got, want)
		}
	}
	// m = 2 in closed form: −2 ln β.
	for _, beta := range []float64{0.5, 0.05, 1e-6} {
		if got, want := chi2Radius(3, 2, beta), 3*math.Sqrt(-2*math.Log(beta)); math.Abs(got-want) > 1e-9*want {
			t.Errorf("Chi2Radius(3, 2, %g) = %v, want %v", beta, got, want)
		}
	}
}

// The visible directions span the left singular vectors above twice the noise, repeated
// singular values included.
func TestVisibleDirections(t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 1))
	for _, c := range []struct {
		m, n   int
		values []float64
	}{
		{1, 1, []float64{3}},
		{1, 1, []float64{1.5}},
		{6, 4, []float64{5, 5, 5, 1.9}},
		{40, 60, []float64{9, 4, 4, 4, 2.01, 1.99, 0.5, 0.5}},
		{60, 40, []float64{9, 4, 2.2, 2.1, 0.3, 0.2, 1e-9}},
		{30, 30, []float64{1.9, 0.8}},
		{50, 50, nil}, // three times the identity: one value, 50 times
		{160, 160, crowded()},
	} {
		var a mat.Dense
		u, v := orthogonal(rnd, c.m), orthogonal(rnd, c.n)
		s := mat.NewDense(c.m, c.n, nil)
		want := 0
		for i := range min(c.m, c.n) {
			x := 3.0
			if c.values != nil {
				x = 0
				if i < len(c.values) {
					x = c.values[i]
				}
			}
			if s.Set(i, i, x); x > 2 {
				want++
			}
		}
		a.Product(u, s, v.T())
		y := make([]float64, c.m)
		for i := range y {
			y[i] = rnd.NormFloat64()
		}
		d := measurement.Data{A: linop.Dense{M: &a}, Y: y}
		if hidden := (measurement.Data{A: products{d.A}, Y: y}); c.m > 10 { // entries out of sight
			_, dense, err := recovery.NewProblem(t.Context(), d, recovery.Projected, nil)
			_, through, err2 := recovery.NewProblem(t.Context(), hidden, recovery.Projected, nil)
			if err != nil || err2 != nil || dense != through {
				t.Errorf("%d × %d: %+v by entries (%v), %+v by products (%v)", c.m, c.n, dense, err, through, err2)
			}
			d = hidden
		}
		p, ball, err := recovery.NewProblem(t.Context(), d, recovery.Projected, nil)
		must.Do(t, err)
		if want == 0 {
			if ball.Rule != recovery.Chi2 || ball.Dimension != c.m || ball.Radius != chi2Radius(1, c.m, recovery.DefaultBeta) {
				t.Errorf("%d × %d, nothing visible: %+v, want chi2", c.m, c.n, ball)
			}
			continue
		}
		if ball.Rule != recovery.Projected || ball.Dimension != want || ball.Radius != chi2Radius(1, want, recovery.DefaultBeta) {
			t.Errorf("%d × %d %v: %+v, want %d directions", c.m, c.n, c.values, ball, want)
			continue
		}
		// ‖UᵀA f‖ and ‖Uᵀy‖ with U the exact singular vectors.
		f := make([]float64, c.n)
		for i := range f {
			f[i] = rnd.NormFloat64()
		}
		af, pf := make([]float64, c.m), make([]float64, want)
		d.A.MulVecTo(af, false, f)
		p.A.MulVecTo(pf, false, f)
		for what, pair := range map[string][2][]float64{"y": {y, p.Y}, "A f": {af, pf}} {
			var proj mat.VecDense
			proj.MulVec(u.Slice(0, c.m, 0, want).T(), mat.NewVecDense(c.m, pair[0]))
			exact := mat.Norm(&proj, 2)
			if got := floats.Norm(pair[1], 2); math.Abs(got-exact) > 1e-4*exact {
				t.Errorf("%d × %d %v: projected %s has length %v, want %v", c.m, c.n, c.values, what, got, exact)
			}
		}
		// The caller's own spectrum gives the same ball.
		values := make([]float64, min(c.m, c.n))
		for i := range values {
			values[i] = s.At(i, i)
		}
		left := mat.DenseCopyOf(u.Slice(0, c.m, 0, len(values)))
		_, same, err := recovery.NewProblem(t.Context(), d, recovery.Projected,
			&recovery.Spectrum{Values: values, Left: left})
		if err != nil || same != ball {
			t.Errorf("with the spectrum %+v, without %+v (%v)", same, ball, err)
		}
	}
}

// crowded has 40 equal values, and 80 from 10 down past 2 in steps of 4 %.
func crowded() []float64 {
	v := make([]float64, 120)
	for i := range v {
		v[i] = 10
		if i >= 40 {
			v[i] = 10 * math.Exp(-0.04*float64(i-39))
		}
	}
	return v
}

// products is an operator whose entries cannot be read.
type products struct{ linop.Operator }

// orthogonal is the Q of a random square matrix.
func orthogonal(rnd *rand.Rand, n int) *mat.Dense {
	var qr mat.QR
	qr.Factorize(randomDense(rnd, n, n).M)
	var q mat.Dense
	qr.QTo(&q)
	return &q
}

func TestProblemRefuses(t *testing.T) {
	d := measurement.Data{A: linop.Dense{M: mat.NewDense(1, 1, []float64{2})}, Y: []float64{1}}
	if _, _, err := recovery.NewProblem(t.Context(), d, 99, nil); !errors.Is(err, recovery.ErrInvalid) {
		t.Errorf("an unknown rule: %v, want invalid", err)
	}
	if _, _, err := recovery.NewProblem(t.Context(), d,
		recovery.Auto, &recovery.Spectrum{Values: []float64{1, 2}, Left: mat.NewDense(1, 1, nil)}); !errors.Is(err, recovery.ErrInvalid) {
		t.Errorf("a spectrum of the wrong shape: %v, want invalid", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := recovery.NewProblem(ctx, d, recovery.Auto, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// What is measured in fewer directions keeps the error of the operator.
func TestProjectionKeepsError(t *testing.T) {
	op := linop.Dense{M: mat.NewDense(3, 3, []float64{9, 0, 0, 0, 8, 0, 0, 0, .1})}
	d := measurement.Data{A: blurred{op, 1e-3}, Y: []float64{9, 0, 0}}
	left := mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	for name, s := range map[string]*recovery.Spectrum{"found": nil, "given": {Values: []float64{9, 8, .1}, Left: left}} {
		p, b, err := recovery.NewProblem(t.Context(), d, recovery.Auto, s)
		if err != nil || b.Dimension != 2 || linop.Err(p.A) < 1e-3 {
			t.Errorf("%s: %d directions, error %v (%v), want 2 and 1e-3", name, b.Dimension, linop.Err(p.A), err)
		}
	}
}
