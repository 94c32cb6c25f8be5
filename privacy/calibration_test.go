// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy/internal/normal"
)

func number(t testing.TB, s string) float64 {
	t.Helper()
	return must.Get(strconv.ParseFloat(s, 64))(t)
}

// TestSigmaTable: σ is never below the 30-digit value, and at most 2⁻³⁰ above it.
func TestSigmaTable(t *testing.T) {
	var rows []map[string]any
	readJSON(t, "sigma_table.json", &rows)
	if len(rows) != 42 {
		t.Fatalf("%d rows, want 42", len(rows))
	}
	worst := 0.0
	for _, row := range rows {
		b := Budget{number(t, row["eps"].(string)), number(t, row["delta"].(string))}
		for _, c := range []struct {
			cal   Calibration
			want  string
			valid bool
		}{
			{Analytic{}, "analytic", true},
			{Classical{}, "classical_sqrt", row["classical_valid"].(bool)},
			{Paper{}, "paper_printed", row["paper_valid"].(bool)},
		} {
			got, err := c.cal.Sigma(b, 1)
			if !c.valid {
				if !errors.Is(err, ErrNotPrivate) {
					t.Errorf("%s at ε=%v δ=%v: %v, %v; want ErrNotPrivate", c.cal, b.Epsilon, b.Delta, got, err)
				}
				continue
			}
			must.Do(t, err)
			want := number(t, row[c.want].(string))
			if got < want || got > want*(1+0x1p-30) {
				t.Errorf("%s at ε=%v δ=%v: σ = %.17g, want from %.17g to that times 1+2⁻³⁰", c.cal, b.Epsilon, b.Delta, got, want)
			}
			worst = math.Max(worst, got/want-1)
		}
	}
	t.Logf("σ exceeds the least one by at most a relative %.2g", worst)
}

// profile returns Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) straight from the definition
// (Balle and Wang 2018, theorem 8), in integers wide enough for the cancellation.
func profile(eps, mu float64) *big.Float {
	prec := uint(1300 + 1.5*eps) // δ ≥ 1e-300 to 2⁻³⁰⁰, and e^ε
	num := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	ratio := new(big.Rat).Quo(num(eps), num(mu))
	half := new(big.Rat).Quo(num(mu), num(2))
	cdf := func(x *big.Rat) *big.Float {
		// Rounding the argument to 2^−prec moves Φ by less than 2^−prec.
		n := new(big.Int).Lsh(x.Num(), prec)
		n.Quo(n, x.Denom())
		c := new(big.Float).SetPrec(prec).SetInt(normal.Rational(n, new(big.Int).Lsh(big.NewInt(1), prec), prec))
		return c.SetMantExp(c, -int(prec))
	}
	a := cdf(new(big.Rat).Sub(half, ratio))
	b := cdf(new(big.Rat).Neg(half.Add(half, ratio)))
	exp := new(big.Float).SetPrec(prec).SetInt64(1)
	term := new(big.Float).SetPrec(prec).SetInt64(1)
	for k := int64(1); term.Sign() != 0 && term.MantExp(nil) > -int(prec); k++ {
		term.Mul(term, big.NewFloat(eps))
		term.Quo(term, new(big.Float).SetInt64(k))
		exp.Add(exp, term)
	}
	return a.Sub(a, b.Mul(b, exp))
}

// TestAnalyticIsTight: δ(σ) ≤ δ < δ(σ(1 − 2⁻³⁰)), with δ(σ) in exact arithmetic.
func TestAnalyticIsTight(t *testing.T) {
	for _, eps := range []float64{1e-6, 1e-3, 0.3, 1, 4, 50, 1e3} {
		last := math.Inf(1)
		for _, delta := range []float64{1e-300, 1e-100, 1e-30, 1e-10, 1e-5, 0.1, 0.5, 0.9} {
			sigma := must.Get(Analytic{}.Sigma(Budget{eps, delta}, 1))(t)
			want := new(big.Float).SetFloat64(delta)
			if d := profile(eps, 1/sigma); d.Cmp(want) > 0 {
				t.Errorf("σ(ε=%v, δ=%v) = %v achieves δ = %.10g", eps, delta, sigma, d)
			}
			if d := profile(eps, 1/(sigma*(1-0x1p-30))); d.Cmp(want) <= 0 {
				t.Errorf("σ(ε=%v, δ=%v) = %v is wasteful: %v smaller still achieves %.10g", eps, delta, sigma, 0x1p-30, d)
			}
			if sigma >= last {
				t.Errorf("σ(ε=%v) does not fall as δ grows to %v", eps, delta)
			}
			last = sigma
		}
	}
}

// TestDeltaBound holds logDeltaError: the bound is above the true δ by at most a
// relative 3e-11, down to 1e-300.
func TestDeltaBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		eps := math.Pow(10, -6+9*rng.Float64())
		// From t = 37 in the far tail to δ near 1.
		s := -3 + 40*rng.Float64()
		mu := -s + math.Sqrt(s*s+2*eps) // ε/μ − μ/2 = s
		if s > 0 {
			mu = 2 * eps / (s + math.Sqrt(s*s+2*eps))
		}
		want := profile(eps, mu)
		if w, _ := want.Float64(); w < MinDelta {
			continue
		}
		got := deltaBound(eps, mu)
		r, _ := new(big.Float).Quo(new(big.Float).SetFloat64(got), want).Float64()
		if r < 1 || r > 1+3e-11 {
			t.Errorf("δ(ε=%v, μ=%v) bounded by %v, relative to the truth %.15g", eps, mu, got, r)
		}
	}
}

// TestReferenceCalibrations compares with 60–80 digit values.
func TestReferenceCalibrations(t *testing.T) {
	var ref struct {
		Unit struct {
			Rows []struct {
				Epsilon, Delta float64
				Analytic       float64 `json:"sigma_analytic"`
				PaperValid     bool    `json:"paper_is_valid"`
				ClassicValid   bool    `json:"classic_is_valid"`
				PaperDelta     float64 `json:"actual_delta_of_paper_sigma"`
				ClassicDelta   float64 `json:"actual_delta_of_classic_sigma"`
				PaperSigma     float64 `json:"sigma_paper"`
				ClassicSigma   float64 `json:"sigma_classic"`
			}
		} `json:"calibration_per_unit_delta2"`
		Grid []struct {
			Epsilon, Delta float64
			L2             float64 `json:"delta2"`
			Analytic       float64 `json:"sigma_analytic"`
		} `json:"calibration_grid"`
		Profile struct {
			Rows []struct {
				Epsilon, Delta float64
				Ratio          float64 `json:"sigma_over_delta2"`
			}
		} `json:"gaussian_privacy_profile"`
		Thresholds []struct {
			Delta   float64
			Paper   float64 `json:"paper_max_valid_epsilon"`
			Classic float64 `json:"classic_max_valid_epsilon"`
		} `json:"calibration_validity_thresholds"`
	}
	readJSON(t, "calibration.json", &ref)
	within := func(what string, got, want, tol float64) {
		t.Helper()
		if got < want*(1-1e-15) || got > want*(1+tol)+math.SmallestNonzeroFloat64 {
			t.Errorf("%s = %.17g, want %.17g or a relative %g more", what, got, want, tol)
		}
	}
	for _, r := range ref.Unit.Rows {
		b := Budget{r.Epsilon, r.Delta}
		sigma := must.Get(Analytic{}.Sigma(b, 1))(t)
		within("analytic σ", sigma, r.Analytic, 0x1p-30)
		within("true δ of the paper's σ", deltaBound(r.Epsilon, 1/r.PaperSigma), r.PaperDelta, 1e-9)
		within("true δ of the classical σ", deltaBound(r.Epsilon, 1/r.ClassicSigma), r.ClassicDelta, 1e-9)
		if _, err := (Paper{}).Sigma(b, 1); (err == nil) != r.PaperValid {
			t.Errorf("paper at ε=%v δ=%v: %v", r.Epsilon, r.Delta, err)
		}
		if _, err := (Classical{}).Sigma(b, 1); (err == nil) != r.ClassicValid {
			t.Errorf("classical at ε=%v δ=%v: %v", r.Epsilon, r.Delta, err)
		}
	}
	for _, r := range ref.Grid {
		sigma := must.Get(Analytic{}.Sigma(Budget{r.Epsilon, r.Delta}, r.L2))(t)
		within("analytic σ", sigma, r.Analytic, 0x1p-30)
	}
	for _, r := range ref.Profile.Rows {
		within("δ(ε)", deltaBound(r.Epsilon, 1/r.Ratio), r.Delta, 1e-10)
	}
	for _, r := range ref.Thresholds {
		for _, c := range []struct {
			cal Calibration
			max float64
		}{{Paper{}, r.Paper}, {Classical{}, r.Classic}} {
			if c.max*(1+1e-6) > MaxEpsilon {
				continue
			}
			if _, err := c.cal.Sigma(Budget{c.max * (1 - 1e-6), r.Delta}, 1); err != nil {
				t.Errorf("%s just below its limit: %v", c.cal, err)
			}
			if _, err := c.cal.Sigma(Budget{c.max * (1 + 1e-6), r.Delta}, 1); !errors.Is(err, ErrNotPrivate) {
				t.Errorf("%s just above its limit: %v, want ErrNotPrivate", c.cal, err)
			}
		}
	}
}

// TestComposition holds the figures of 7, 30 and 365 releases at (1, 1e-5).
func TestComposition(t *testing.T) {
	sigma := must.Get(Analytic{}.Sigma(Budget{1, 1e-5}, 1))(t)
	one := must.Get(CostOf(1 / sigma))(t)
	for _, c := range []struct {
		n    Cost
		want float64
	}{{1, 1}, {7, 2.953}, {30, 6.873}, {365, 34.23}} {
		got, err := (c.n * one).Epsilon(1e-5)
		if err != nil || got < c.want*(1-2e-4) || got > c.want*(1+2e-4) {
			t.Errorf("%d releases: ε = %v (%v), want %v", c.n, got, err, c.want)
		}
	}
}

// zcdpEpsilon is an ε at which every ρ-zCDP mechanism is (ε, δ)-private: the least over
// orders a > 1 of ρa + (ln(1/δ) − ln a)/(a−1) + ln(1 − 1/a) (Canonne, Kamath and Steinke,
// NeurIPS 2020).
func zcdpEpsilon(rho, delta float64) float64 {
	eps := func(x float64) float64 { // order a = 1 + e^x
		a := 1 + math.Exp(x)
		return rho*a + (-math.Log(delta)-math.Log(a))/(a-1) - math.Log1p(1/(a-1))
	}
	lo, hi := -40.0, 40.0
	const golden = 0.6180339887498949
	for range 120 {
		c, d := hi-golden*(hi-lo), lo+golden*(hi-lo)
		if eps(c) < eps(d) {
			hi = d
		} else {
			lo = c
		}
	}
	return max(0, eps((lo+hi)/2))
}

// TestZCDP: the optimal conversion of zero-concentrated privacy at the σ of the table
// returns the table's ε, and the exact one of Gaussian privacy never more.
func TestZCDP(t *testing.T) {
	var rows []map[string]any
	readJSON(t, "sigma_table.json", &rows)
	for _, row := range rows {
		eps, delta := number(t, row["eps"].(string)), number(t, row["delta"].(string))
		sigma := number(t, row["zcdp_optimal"].(string))
		got := zcdpEpsilon(0.5/(sigma*sigma), delta)
		if got < eps*(1-1e-8) || got > eps*(1+1e-8) {
			t.Errorf("ρ-zCDP at σ = %v, δ = %v: ε = %v, want %v", sigma, delta, got, eps)
		}
		gdp, err := GDPEpsilon(1/sigma, delta)
		if err != nil || gdp > got {
			t.Errorf("the exact conversion gives ε = %v (%v), more than zCDP's %v", gdp, err, got)
		}
	}
}

func TestBadCalibrationInput(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ eps, delta, l2 float64 }{
		{0, 0.1, 1},
		{-1, 0.1, 1},
		{nan, 0.1, 1},
		{inf, 0.1, 1},
		{5e-324, 0.1, 1},
		{2e3, 0.1, 1},
		{1, 0, 1},
		{1, 1, 1},
		{1, -0.1, 1},
		{1, nan, 1},
		{1, 5e-324, 1},
		{1, inf, 1},
		{1, 0.1, 0},
		{1, 0.1, -1},
		{1, 0.1, nan},
		{1, 0.1, inf},
		{1, 0.1, 1e308},
		{1, 0.1, 5e-324},
	} {
		for _, cal := range []Calibration{Analytic{}, Classical{}, Paper{}} {
			if s, err := cal.Sigma(Budget{c.eps, c.delta}, c.l2); err == nil {
				t.Errorf("%s at ε=%v δ=%v Δ=%v gave σ = %v", cal, c.eps, c.delta, c.l2, s)
			}
		}
	}
	for _, mu := range []float64{0, -1, nan, inf, 3000} {
		if c, err := CostOf(mu); err == nil {
			t.Errorf("μ = %v costs %d", mu, c)
		}
	}
	if _, err := ParseCalibration("gaussian"); err == nil {
		t.Error("an unknown calibration was read")
	}
}

// TestCostRoundsUp: a cost is at least μ²/2 and less than a unit more, and its
// conversions back go up.
func TestCostRoundsUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for range 1000 {
		mu := math.Exp(12*rng.Float64() - 9)
		c := must.Get(CostOf(mu))(t)
		exact := new(big.Rat).SetFloat64(mu)
		exact.Mul(exact, exact)
		exact.Mul(exact, new(big.Rat).SetInt64(1<<39)) // μ²/2 in units of 2⁻⁴⁰
		got := new(big.Rat).SetInt64(int64(c))
		excess, _ := new(big.Rat).Sub(got, exact).Float64()
		if excess < 0 || excess >= 1+1e-15*float64(c) {
			t.Errorf("μ = %v costs %d units, %v more than μ²/2", mu, c, excess)
		}
		if back := c.Mu(); back < mu || back*back/2 < c.Rho()*(1-1e-15) {
			t.Errorf("cost %d is worth μ = %v, want at least %v", c, back, mu)
		}
	}
}

// TestGDPEpsilonIsTight: δ(ε) ≤ δ < δ(ε(1 − 1e-9)) in exact arithmetic.
func TestGDPEpsilonIsTight(t *testing.T) {
	for _, mu := range []float64{0.05, 1, 7, 40} {
		for _, delta := range []float64{1e-3, 1e-12} {
			eps := must.Get(GDPEpsilon(mu, delta))(t)
			want := new(big.Float).SetFloat64(delta)
			if d := profile(eps, mu); d.Cmp(want) > 0 {
				t.Errorf("μ = %v: ε = %v has δ = %.12g, want at most %v", mu, eps, d, delta)
			}
			if d := profile(eps*(1-1e-9), mu); d.Cmp(want) <= 0 {
				t.Errorf("μ = %v: ε = %v is larger than needed for δ = %v", mu, eps, delta)
			}
		}
	}
	if eps, err := GDPEpsilon(1e-6, 0.1); eps != 0 || err != nil {
		t.Errorf("μ = 1e-6 at δ = 0.1: ε = %v, %v; want 0", eps, err)
	}
}
