// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph/emd"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// attempt is one recovery by Basis Pursuit Denoising.
type attempt struct {
	status        recovery.Status
	f             []float64
	emd, l1, l2   float64 // between the normalised vectors; where there is an answer
	objective     float64
	certified     bool
	answer        bool // certified, and not 0
	gap, residual float64
}

// interval is the setting of section 4: m sensors, n sources, time T, noise σ.
type interval struct {
	op    *expm.Interval
	n, m  int
	t     float64
	sigma float64
}

func newInterval(m, n int, t, sigma float64) (interval, error) {
	op, err := expm.NewInterval(m, n, t)
	return interval{op, n, m, t, sigma}, err
}

// data is a noisy measurement of f, whitened.
func (v interval) data(f []float64, normal func() float64) (measurement.Data, error) {
	y := make([]float64, v.m)
	v.op.MulVecTo(y, false, f)
	for j := range y {
		y[j] += v.sigma * normal()
	}
	return measurement.Whiten(v.op, y, measurement.Uniform(v.sigma, v.m))
}

// recover solves by one rule and measures the answer against f.
func (v interval) recover(ctx context.Context, d measurement.Data, rule recovery.Rule, visible *recovery.Spectrum,
	f []float64,
) (attempt, error) {
	res, _, err := recovery.Recover(ctx, d, recovery.ColumnGeneration{}, rule, visible)
	if err != nil && !errors.Is(err, recovery.ErrStalled) {
		return attempt{}, err
	}
	a := attempt{status: res.Status, f: res.F, objective: res.Objective, gap: res.Gap, residual: res.Residual, certified: err == nil}
	got, want := normalised(res.F), normalised(f)
	if !a.certified || res.Status != recovery.Optimal || got == nil {
		return a, nil
	}
	a.answer = true
	if a.emd, err = emd.Line(want, got, 1/float64(v.n)); err != nil {
		return a, err
	}
	a.l1, a.l2 = floats.Distance(got, want, 1), floats.Distance(got, want, 2)
	return a, nil
}

// peaks has sources of 1 at these places of [0, 1].
func peaks(n int, places ...float64) []float64 {
	f := make([]float64, n)
	for _, x := range places {
		f[min(n-1, max(0, int(math.Round(x*float64(n)))-1))] = 1
	}
	return f
}

// radiusRule is a rule for the radius under the name that tables give it.
type radiusRule struct {
	name string
	rule recovery.Rule
}

// radiusRules are the paper's radius σ√m as printed, what makes the best of it where
// it is infeasible, and those that replace it; the default stands last.
func radiusRules(m int) []radiusRule {
	return []radiusRule{
		{"σ√m", recovery.Rule{Kind: recovery.Number, Value: recovery.PaperRadius(1, m)}},
		{"σ√m, else the least feasible", recovery.Rule{Kind: recovery.Paper}},
		{"hsu", recovery.Rule{Kind: recovery.Number, Value: hsuRadius(m)}},
		{"chi2", recovery.Rule{Kind: recovery.Chi2}},
		{"projected", recovery.Rule{Kind: recovery.Projected}},
		{"auto", recovery.Rule{}},
	}
}

// Line is a setting of the unit interval.
type Line struct {
	Places  int     // n
	Sensors int     // m
	Time    float64 // T
	Sigma   float64 // σ
}

// paperLine is the setting of figure 1.
var paperLine = Line{Places: 100, Sensors: 50, Time: .05, Sigma: .1}

// maxEntries bounds m·n: a gigabyte of entries.
const maxEntries = 1 << 27

// T and σ lie within these, so that no square of theirs or of a reading in units of σ
// leaves the floating-point numbers.
const leastScale, mostScale = 1e-12, 1e12

// withDefaults takes the paper's value for what is zero.
func (l Line) withDefaults() Line {
	return Line{
		cmp.Or(l.Places, paperLine.Places), cmp.Or(l.Sensors, paperLine.Sensors),
		cmp.Or(l.Time, paperLine.Time), cmp.Or(l.Sigma, paperLine.Sigma),
	}
}

func (l Line) check() error {
	l = l.withDefaults()
	switch {
	case l.Places < 2 || l.Sensors < 2:
		return fmt.Errorf("%w: %d places and %d sensors, want at least 2 of each", ErrOptions, l.Places, l.Sensors)
	case l.Places > maxEntries/l.Sensors:
		return fmt.Errorf("%w: %d places × %d sensors are more than %d entries, a gigabyte", ErrOptions, l.Places, l.Sensors, maxEntries)
	case !(l.Time >= leastScale && l.Time <= mostScale):
		return fmt.Errorf("%w: T is %v, want a number > 0, from %v to %v", ErrOptions, l.Time, leastScale, mostScale)
	case !(l.Sigma >= leastScale && l.Sigma <= mostScale):
		return fmt.Errorf("%w: σ is %v, want a number > 0, from %v to %v", ErrOptions, l.Sigma, leastScale, mostScale)
	}
	return nil
}

// drawnTrials is the number of trials whose estimates are kept to be drawn.
const drawnTrials = 100

// figure1 repeats the paper's one trial many times, under each rule for the radius.
func figure1(ctx context.Context, r *runner) error {
	line := r.Line.withDefaults()
	v, err := newInterval(line.Sensors, line.Places, line.Time, line.Sigma)
	if err != nil {
		return err
	}
	f := peaks(v.n, .76, .24)
	n := r.trials(400)
	all := make([][]attempt, n)
	err = r.each(ctx, "trials", n, func(ctx context.Context, k int) error {
		d, err := v.data(f, r.random("figure-1", k).NormFloat64)
		if err != nil {
			return err
		}
		for _, rule := range radiusRules(v.m) {
			a, err := v.recover(ctx, d, rule.rule, nil, f)
			if err != nil {
				return err
			}
			if k >= drawnTrials {
				a.f = nil
			}
			all[k] = append(all[k], a)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.Tables = append(r.Tables, figure1Table(radiusRules(v.m), all))
	return r.figure1Claims(v, f, all)
}

func figure1Table(rules []radiusRule, all [][]attempt) Table {
	t := Table{
		Name: "figure-1", Title: "Two peaks on the unit interval: what each rule for the radius gives (means over the trials that " +
			"are answered)",
		Columns: []string{"rule", "trials", "infeasible", "zero", "answered", "emd", "emdStandardError", "l1", "l2"},
	}
	for i, rule := range rules {
		infeasible, zero, answered := 0, 0, 0
		var e, l1, l2 []float64
		for _, trial := range all {
			a := trial[i]
			switch {
			case a.answer:
				answered++
				e, l1, l2 = append(e, a.emd), append(l1, a.l1), append(l2, a.l2)
			case a.status == recovery.Infeasible:
				infeasible++
			case a.status == recovery.Zero:
				zero++
			}
		}
		me, se := mean(e)
		m1, _ := mean(l1)
		m2, _ := mean(l2)
		t.add(rule.name, len(all), infeasible, zero, answered, me, se, m1, m2)
	}
	return t
}

func (r *runner) figure1Claims(v interval, f []float64, all [][]attempt) error {
	infeasible, right := 0, 0
	var e, l1 []float64
	for _, trial := range all {
		if trial[0].status == recovery.Infeasible {
			infeasible++
		}
		if a := trial[len(trial)-1]; a.answer {
			right++
			e, l1 = append(e, a.emd), append(l1, a.l1)
		}
	}
	p, err := figure1Plot(v, f, all)
	if err != nil {
		return err
	}
	r.Plots = append(r.Plots, p)
	r.say("n = %d places, m = %d sensors, T = %v, σ = %v, unit peaks at 0.76 and 0.24. EMD, ℓ₁ and ℓ₂ compare f₀/‖f₀‖₁ with f̂/‖f̂‖₁. "+
		"Infeasible means proved to be so; zero means that f̂ = 0 is optimal. The default radius answered %d of %d trials.", v.n, v.m, v.t,
		v.sigma, right, len(all))
	if r.Line.withDefaults() != paperLine {
		return nil // the claims are about the paper's setting
	}
	lo, hi := wilson(infeasible, len(all))
	r.claim(Claim{
		Statement: "Recovery with the radius σ√m on the unit interval", Printed: "returns an estimate",
		True: "about a third of the trials have no feasible point",
		Found: fmt.Sprintf("%d of %d trials infeasible, each with a proof (95 %% interval %.2f to %.2f)", infeasible,
			len(all), lo, hi),
		PrintedHolds: infeasible == 0, TrueHolds: hi > .2 && lo < .45,
	})
	me, _ := mean(e)
	m1, _ := mean(l1)
	r.claim(Claim{
		Statement: "f̂ is close to f₀ in EMD, and not in ℓ₁ or ℓ₂", Printed: "so in the figure",
		Found:        fmt.Sprintf("mean EMD %.3f of at most 1, mean ℓ₁ distance %.2f of at most 2, with the default radius", me, m1),
		PrintedHolds: me < .1 && m1 > 1, TrueHolds: me < .1 && m1 > 1,
	})
	return nil
}

// deltaInterval is max ‖A_i − A_{i+1}‖₂: Δ₂ at α = 1/n, one cell.
func deltaInterval(m, n int, t float64) (float64, error) {
	op, err := expm.NewInterval(m, n, t)
	if err != nil {
		return 0, err
	}
	return columnStep(op.M), nil
}

func columnStep(a *mat.Dense) float64 {
	m, n := a.Dims()
	sums := make([]float64, n-1)
	for j := range m {
		row := a.RawRowView(j)
		for i := range sums {
			d := row[i] - row[i+1]
			sums[i] += d * d
		}
	}
	return math.Sqrt(floats.Max(sums))
}

// sweep computes Δ₂ along one parameter.
func (r *runner) sweep(ctx context.Context, stage string, x []float64, at func(x float64) (m, n int, t float64)) ([]float64, error) {
	y := make([]float64, len(x))
	err := r.each(ctx, stage, len(x), func(_ context.Context, k int) (err error) {
		m, n, t := at(x[k])
		y[k], err = deltaInterval(m, n, t)
		return err
	})
	return y, err
}

// figure2 draws Δ₂(A) against m, n and t, and fits exponents.
func figure2(ctx context.Context, r *runner) error {
	points := 12
	if r.Quick {
		points = 6
	}
	ms, ns := geometric(50, 1000, points), geometric(50, 1000, points)
	floor := func(x []float64) {
		for i := range x {
			x[i] = math.Round(x[i])
		}
	}
	floor(ms)
	floor(ns)
	byM, err := r.sweep(ctx, "m", ms, func(x float64) (int, int, float64) { return int(x), 500, .1 })
	if err != nil {
		return err
	}
	byN, err := r.sweep(ctx, "n", ns, func(x float64) (int, int, float64) { return 500, int(x), .1 })
	if err != nil {
		return err
	}
	t := Table{Name: "figure-2", Title: "Δ₂(A) at α = 1/n", Columns: []string{"panel", "m", "n", "t", "sensitivity"}}
	for i := range ms {
		t.add("a", int(ms[i]), 500, .1, byM[i])
	}
	for i := range ns {
		t.add("b", 500, int(ns[i]), .1, byN[i])
	}
	ts := geometric(.005, 100, 3*points)
	byT, err := r.sweep(ctx, "t", ts, func(x float64) (int, int, float64) { return 500, 1000, x })
	if err != nil {
		return err
	}
	for i := range ts {
		t.add("c", 500, 1000, ts[i], byT[i])
	}
	r.Tables = append(r.Tables, t)
	r.claim(slope("Δ₂(A) against m", "√m", exponent(ms, byM), .5, 1e-2))
	r.claim(slope("Δ₂(A) against n", "1/n", exponent(ns, byN), -1, 1e-2))
	if err := r.exponents(ctx); err != nil {
		return err
	}
	return r.figure2Plot(ms, byM, ns, byN, ts, byT)
}

func slope(what, printed string, got, want, tol float64) Claim {
	ok := math.Abs(got-want) <= tol
	return Claim{
		Statement: what, Printed: "proportional to " + printed, Found: fmt.Sprintf("fitted exponent %.5f", got),
		PrintedHolds: ok, TrueHolds: ok,
	}
}

// silent compares the noise that the text sets on the interval with what the
// calibration asks for.
func (r *runner) silent() {
	const m, n, t = 50, 100, .05
	op, err := expm.NewInterval(m, n, t)
	if err != nil {
		return // unreachable: the sizes are constants
	}
	text, needed := math.Sqrt(m)/(n*math.Pow(t, 1.5)), paperRatio*columnStep(op.M)
	r.claim(Claim{
		Statement: "The noise on the unit interval", Printed: "σ = √m/(n T^{3/2})",
		True: "σ/Δ₂ of a calibration times Δ₂(A); α = 1/n, ε and δ were left out",
		Found: fmt.Sprintf("at m = %d, n = %d, T = %v, ε = 4, δ = 0.1 the text's σ is %.1f times the printed calibration's", m, n,
			t, text/needed),
		PrintedHolds: relative(text, needed) < .1, TrueHolds: text > needed,
	})
}

// Limits of Δ₂(A)·n·T^{3/4}/√m for T → 0, and of Δ₂(A)·n·T^{3/2}/√m for T → ∞.
var (
	smallT = math.Sqrt(math.Sqrt(2*math.Pi) / (16 * math.Pi))
	largeT = 1 / math.Sqrt(48*math.Pi)
)

// exponents fits the power of T in windows, and compares with the limits.
func (r *runner) exponents(ctx context.Context) error {
	t := Table{Name: "figure-2-exponents", Title: "The power of T in Δ₂(A), n = 1000, m = 500", Columns: []string{"from", "to", "exponent"}}
	var fits []float64
	for _, w := range [][2]float64{{.002, .02}, {.05, .5}, {.1, 1}, {3, 100}} {
		x := geometric(w[0], w[1], 9)
		y, err := r.sweep(ctx, "exponents", x, func(x float64) (int, int, float64) { return 500, 1000, x })
		if err != nil {
			return err
		}
		b := exponent(x, y)
		fits = append(fits, b)
		t.add(w[0], w[1], b)
	}
	r.Tables = append(r.Tables, t)
	small, err := deltaInterval(500, 1000, .005)
	if err != nil {
		return err
	}
	large, err := deltaInterval(500, 1000, 1e4)
	if err != nil {
		return err
	}
	low, high := small*1000*math.Pow(.005, .75)/math.Sqrt(500), large*1000*math.Pow(1e4, 1.5)/math.Sqrt(500)
	r.silent()
	r.claim(Claim{
		Statement: "Δ₂(A) against T, over the range 2T < 1 of the theorem", Printed: "tight: proportional to T^{-3/2}",
		True: fmt.Sprintf("%.7f·√m/(n T^{3/4}) for small T, %.7f·√m/(n T^{3/2}) only for T → ∞", smallT, largeT),
		Found: fmt.Sprintf("exponents %.2f, %.2f, %.2f, %.2f from small T to large; constants %.4f at T = 0.005, %.6f at T = 10⁴",
			fits[0], fits[1], fits[2], fits[3], low, high),
		PrintedHolds: math.Abs(fits[0]+1.5) < .1 && math.Abs(fits[1]+1.5) < .1,
		TrueHolds: math.Abs(fits[0]+.75) < .02 && math.Abs(fits[3]+1.5) < .02 && relative(low, smallT) < 2e-3 &&
			relative(high, largeT) < 1e-2,
	})
	return nil
}
