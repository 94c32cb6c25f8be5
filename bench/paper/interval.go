// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// paperRatio is σ/Δ₂ of the printed calibration at ε = 4, δ = 0.1.
var paperRatio = printedRatio(4, .1)

// fixedSigma is the noise of figure 1.
const fixedSigma = .1

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
	op    *Interval
	n, m  int
	t     float64
	sigma float64
}

func newInterval(m, n int, t, sigma float64) (interval, error) {
	op, err := NewInterval(m, n, t)
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
func (v interval) recover(ctx context.Context, d measurement.Data, rule radiusRule, visible *recovery.Spectrum,
	f []float64,
) (attempt, error) {
	res, err := rule.solve(ctx, d, visible)
	if err != nil && !errors.Is(err, recovery.ErrStalled) {
		return attempt{}, err
	}
	a := attempt{status: res.Status, f: res.F, objective: res.Objective, gap: res.Gap, residual: res.Residual, certified: err == nil}
	got, want := normalised(res.F), normalised(f)
	if !a.certified || res.Status != recovery.Optimal || got == nil {
		return a, nil
	}
	a.answer = true
	a.emd = lineDistance(want, got, 1/float64(v.n))
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

// radiusRule is a rule for the radius under the name that tables give it: one of package recovery, or a number in units of the noise
// that is made larger, where asked for, as long as it is infeasible.
type radiusRule struct {
	name   string
	rule   recovery.Rule
	radius float64 // 0: by the rule
	widen  bool
}

// widenings bounds how often a radius is made larger: to √(d² + k), d the proved distance of the data from every f and k the support
// so far.
const widenings = 8

// solve solves by the rule.
func (r radiusRule) solve(ctx context.Context, d measurement.Data, s *recovery.Spectrum) (*recovery.Result, error) {
	solver := recovery.ColumnGeneration{}
	if r.radius == 0 {
		res, _, err := recovery.Recover(ctx, d, solver, r.rule, s)
		return res, err
	}
	p := recovery.Problem{A: d.A, Y: d.Y, Radius: r.radius}
	res, err := solver.Solve(ctx, p)
	for try := 0; r.widen && try < widenings && err == nil && res.Status == recovery.Infeasible; try++ {
		p.Radius = math.Hypot(p.Radius+res.Margin, math.Sqrt(float64(max(1, res.Support))))
		res, err = solver.Solve(ctx, p)
	}
	return res, err
}

// paperRadius is σ√m in units of the noise, which the noise exceeds almost half the time: P(χ²_m ≤ m) is 0.508 at m = 500.
func paperRadius(m int) float64 { return math.Sqrt(float64(m)) }

// radiusRules are the paper's radius σ√m as printed, what makes the best of it where
// it is infeasible, and those that replace it; the default stands last.
func radiusRules(m int) []radiusRule {
	return []radiusRule{
		{name: "σ√m", radius: paperRadius(m)},
		{name: "σ√m, else the least feasible", radius: paperRadius(m), widen: true},
		{name: "hsu", radius: hsuRadius(m)},
		{name: "chi2", rule: recovery.Chi2},
		{name: "projected", rule: recovery.Projected},
		{name: "auto"},
	}
}

// drawnTrials is the number of trials whose estimates are kept to be drawn.
const drawnTrials = 100

// figure1 repeats the paper's one trial many times, under each rule for the radius.
func figure1(ctx context.Context, r *runner) error {
	v, err := newInterval(50, 100, .05, fixedSigma)
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
			a, err := v.recover(ctx, d, rule, nil, f)
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
	r.figure1Table(radiusRules(v.m), all)
	return r.figure1Claims(v, f, all)
}

func (r *runner) figure1Table(rules []radiusRule, all [][]attempt) {
	t := r.table("figure-1", "Two peaks on the unit interval: what each rule for the radius gives (means over the trials that "+
		"are answered)",
		"rule,trials,infeasible,zero,answered,emd,emdStandardError,l1,l2")
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
	if err := r.figure1Plot(v, f, all); err != nil {
		return err
	}
	r.say("n = %d places, m = %d sensors, T = %v, σ = %v, unit peaks at 0.76 and 0.24. EMD, ℓ₁ and ℓ₂ compare f₀/‖f₀‖₁ with f̂/‖f̂‖₁. "+
		"Infeasible means proved to be so; zero means that f̂ = 0 is optimal. The default radius answered %d of %d trials.", v.n, v.m, v.t,
		v.sigma, right, len(all))
	lo, hi := wilson(infeasible, len(all))
	r.claim("paper-radius", infeasible == 0, hi > .2 && lo < .45,
		"%d of %d trials infeasible, each with a proof (95 %% interval %.2f to %.2f)", infeasible, len(all), lo, hi)
	me, _ := mean(e)
	m1, _ := mean(l1)
	r.claim("near-in-emd", me < .1 && m1 > 1, me < .1 && m1 > 1,
		"mean EMD %.3f of at most 1, mean ℓ₁ distance %.2f of at most 2, with the default radius", me, m1)
	return nil
}

// deltaInterval is max ‖A_i − A_{i+1}‖₂: Δ₂ at α = 1/n, one cell.
func deltaInterval(m, n int, t float64) (float64, error) {
	op, err := NewInterval(m, n, t)
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
	t := r.table("figure-2", "Δ₂(A) at α = 1/n",
		"panel,m,n,t,sensitivity")
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
	r.slope("slope-m", exponent(ms, byM), .5)
	r.slope("slope-n", exponent(ns, byN), -1)
	if err := r.exponents(ctx); err != nil {
		return err
	}
	return r.figure2Plot(ms, byM, ns, byN, ts, byT)
}

func (r *runner) slope(name string, got, want float64) {
	ok := math.Abs(got-want) <= 1e-2
	r.claim(name, ok, ok, "fitted exponent %.5f", got)
}

// silent compares the noise that the text sets on the interval with what the
// calibration asks for.
func (r *runner) silent() {
	const m, n, t = 50, 100, .05
	op, err := NewInterval(m, n, t)
	if err != nil {
		return // unreachable: the sizes are constants
	}
	text, needed := math.Sqrt(m)/(n*math.Pow(t, 1.5)), paperRatio*columnStep(op.M)
	r.claim("interval-noise", relative(text, needed) < .1, text > needed,
		"at m = %d, n = %d, T = %v, ε = 4, δ = 0.1 the text's σ is %.1f times the printed calibration's", m, n, t, text/needed)
}

// Limits of Δ₂(A)·n·T^{3/4}/√m for T → 0, and of Δ₂(A)·n·T^{3/2}/√m for T → ∞.
var (
	smallT = math.Sqrt(math.Sqrt(2*math.Pi) / (16 * math.Pi))
	largeT = 1 / math.Sqrt(48*math.Pi)
)

// exponents fits the power of T in windows, and compares with the limits.
func (r *runner) exponents(ctx context.Context) error {
	t := r.table("figure-2-exponents", "The power of T in Δ₂(A), n = 1000, m = 500",
		"from,to,exponent")
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
	r.claim("slope-t", math.Abs(fits[0]+1.5) < .1 && math.Abs(fits[1]+1.5) < .1, math.Abs(fits[0]+.75) < .02 &&
		math.Abs(fits[3]+1.5) < .02 && relative(low, smallT) < 2e-3 && relative(high, largeT) < 1e-2,
		"exponents %.2f, %.2f, %.2f, %.2f from small T to large; constants %.4f at T = 0.005, %.6f at T = 10⁴",
		fits[0], fits[1], fits[2], fits[3], low, high)
	return nil
}

// figure1Plot is the paper's: f₀ and f̂ over [0, 1].
func (r *runner) figure1Plot(v interval, f []float64, all [][]attempt) error {
	x := make([]float64, v.n)
	for i := range x {
		x[i] = float64(i+1) / float64(v.n)
	}
	estimate := func(title string, rule int) panel {
		out := panel{title, "place", "heat of the source", false, 1.3, []curve{{name: "sources", x: x, y: f}}}
		for k, trial := range all {
			if a := trial[rule]; a.answer && a.f != nil {
				out.curves = append(out.curves, curve{name: fmt.Sprintf("estimate, trial %d", k+1), x: x, y: a.f, dashed: true})
				break
			}
		}
		return out
	}
	return r.plot("figure-1", "The sources f₀ (line) and the estimate f̂ (dashed) of the first trial that has an answer.",
		estimate("the paper's radius σ√m", 0), estimate("default radius", len(all[0])-1))
}

func (r *runner) figure2Plot(ms, byM, ns, byN, ts, byT []float64) error {
	// against draws computed values with powers of x beside them.
	against := func(letter, by string, x, y []float64, powers ...curve) panel {
		list := append([]curve{{name: "computed", x: x, y: y, points: true}}, powers...)
		return panel{fmt.Sprintf("(%s) dependence on %s", letter, by), by, "Δ₂(A)", true, 0, list}
	}
	power := func(name string, x []float64, c, power float64) curve {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = c * math.Pow(x[i], power)
		}
		return curve{name: name, x: x, y: y, dashed: true}
	}
	last := func(y []float64) float64 { return y[len(y)-1] }
	scale := math.Sqrt(500) / 1000
	return r.plot("figure-2", "Δ₂(A) at α = 1/n. Unless varied, m = 500 and t = 0.1; n = 500 in (a), n = 1000 in (c).",
		against("a", "m", ms, byM, power("as √m", ms, last(byM)/math.Sqrt(last(ms)), .5)),
		against("b", "n", ns, byN, power("as 1/n", ns, last(byN)*last(ns), -1)),
		against("c", "t", ts, byT, power(fmt.Sprintf("%.4f·√m/(n·t^0.75)", smallT), ts, smallT*scale, -.75),
			power(fmt.Sprintf("%.4f·√m/(n·t^1.5)", largeT), ts, largeT*scale, -1.5)))
}
