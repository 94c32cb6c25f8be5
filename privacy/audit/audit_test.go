// SPDX-License-Identifier: Apache-2.0

package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/cryptotest"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/audit"
	"github.com/graphcloak/graphcloak/privacy/internal/normal"
)

func plan(t testing.TB, m int, eps, delta float64, randomness privacy.Randomness) *privacy.Plan {
	t.Helper()
	s := privacy.Spec{
		Public:      privacy.Public{NodeCount: m, ComponentCount: 1, Tau: 1, Laplacian: "combinatorial", Metric: "hops", Alpha: 1},
		Budget:      privacy.Budget{Epsilon: eps, Delta: delta},
		Sensitivity: privacy.Sensitivity{Upper: 0.5},
		Randomness:  randomness,
	}
	for i := range m {
		s.Sensors = append(s.Sensors, privacy.Sensor{Node: i, ID: graph.ID(rune('a' + i))})
	}
	return must.Get(privacy.NewPlan(s))(t)
}

// TestClopperPearson holds values of the standard table (n = 20, two-sided 95 %)
// and the closed forms at both ends.
func TestClopperPearson(t *testing.T) {
	for _, c := range []struct {
		k, n          int
		alpha, lo, hi float64
		tolerance     float64
	}{
		{10, 20, 0.025, 0.27196, 0.72804, 1e-5},
		{1, 20, 0.025, 0.00127, 0.24873, 1e-5},
		{0, 100, 1e-6, 0, 1 - math.Pow(1e-6, 0.01), 1e-12},
		{100, 100, 1e-6, math.Pow(1e-6, 0.01), 1, 1e-12},
	} {
		lo, hi := audit.ClopperPearson(c.k, c.n, c.alpha)
		if math.Abs(lo-c.lo) > c.tolerance || math.Abs(hi-c.hi) > c.tolerance {
			t.Errorf("%d of %d: [%v, %v], want [%v, %v]", c.k, c.n, lo, hi, c.lo, c.hi)
		}
	}
}

// TestAudit: the lower bound stays below ε (under a fresh key it would exceed ε with
// probability at most 1e-6; the key is fixed), and catches half the noise.
func TestAudit(t *testing.T) {
	const eps, delta, trials = 1.0, 1e-3, 20_000
	p := plan(t, 2, eps, delta, privacy.EscrowRandomness)
	escrow := must.Get(privacy.NewEscrow(bytes.Repeat([]byte{1}, privacy.KeySize), "audit", 1))(t)
	n := 0
	full := func(y []float64) ([]float64, error) {
		n++
		r, err := p.Perturb(y, strconv.Itoa(n), escrow)
		if err != nil {
			return nil, err
		}
		return r.Values(), nil
	}
	pair := audit.WorstPair(p)
	opts := audit.Options{Trials: trials, Delta: delta}
	score := audit.Likelihood(p, pair)
	honest := must.Get(audit.Distinguish(context.Background(), full, pair, score, opts))(t)
	if honest.Epsilon > eps || honest.Epsilon < eps/4 {
		t.Errorf("the honest mechanism: ε ≥ %v, want from %v to %v", honest.Epsilon, eps/4, eps)
	}
	half := func(y []float64) ([]float64, error) {
		v, err := full(y)
		for i := range v {
			v[i] = y[i] + (v[i]-y[i])/2
		}
		return v, err
	}
	weak := must.Get(audit.Distinguish(context.Background(), half, pair, score, opts))(t)
	if weak.Epsilon <= eps {
		t.Errorf("half the noise: ε ≥ %v, want above %v", weak.Epsilon, eps)
	}
	t.Logf("nominal ε = %v: honest ≥ %.3f, half the noise ≥ %.3f", eps, honest.Epsilon, weak.Epsilon)
}

// TestLowBits: the attack refutes y + σ·NormFloat64() at ε = 4, and sees nothing in
// the rounded Gaussian.
func TestLowBits(t *testing.T) {
	const eps, delta = 4.0, 0.1
	sigma := must.Get(privacy.Analytic{}.Sigma(privacy.Budget{Epsilon: eps, Delta: delta}, 1))(t)
	rng := rand.New(rand.NewPCG(1, 2))
	naive := func(y []float64) ([]float64, error) { return []float64{y[0] + sigma*rng.NormFloat64()}, nil }
	r := must.Get(audit.LowBits(context.Background(), naive, 1, audit.Options{Delta: delta}))(t)
	if r.Epsilon < 7.5 {
		t.Errorf("naive noise: ε ≥ %v, want at least 7.5 (%+v)", r.Epsilon, r)
	}
	ours := plan(t, 1, eps, delta, privacy.SystemRandomness)
	r, err := audit.LowBits(context.Background(), audit.OfPlan(ours, nil), 0.5, audit.Options{Delta: delta, Trials: 5000})
	must.Do(t, err)
	if r.Epsilon != 0 || r.Hits != 0 || r.FalseHits != 0 {
		t.Errorf("rounded Gaussian: %+v, want no hit at all", r)
	}
}

// TestPMF checks the mass, the symmetry of the rounding rule and a closed form.
func TestPMF(t *testing.T) {
	for _, s := range []int64{1, 3, 32} {
		radius := int(12 * s)
		pmf := probabilities(s, radius)
		var sum float64
		for _, p := range pmf {
			sum += p
		}
		if math.Abs(sum-1) > 1e-13 {
			t.Errorf("S = %d: total mass %v", s, sum)
		}
		if want := math.Erf(0.5 / float64(s) / math.Sqrt2); math.Abs(pmf[radius]/want-1) > 1e-14 {
			t.Errorf("S = %d: P(0) = %v, want %v", s, pmf[radius], want)
		}
	}
}

// TestExactDelta: with noise of S steps and a shift of so many steps the
// continuous profile at μ = ‖shift‖/S is an upper bound, up to the tightness that
// rounding leaves.
func TestExactDelta(t *testing.T) {
	for _, c := range []struct {
		steps int64
		shift []int64
		eps   float64
	}{
		{1, []int64{1}, 1},
		{1, []int64{2}, 0.1},
		{2, []int64{1}, 0.5},
		{3, []int64{4}, 2},
		{8, []int64{4}, 1},
		{50, []int64{100}, 4},
		{1, []int64{1, 1}, 1},
		{2, []int64{3, 1}, 2},
		{8, []int64{2, -5}, 0.3},
		{1, []int64{1, 1, 1}, 0.5},
		{2, []int64{1, 0, -2}, 1},
		{3, []int64{2, 2, 2}, 1},
	} {
		got := must.Get(exactDelta(c.steps, c.shift, c.eps))(t)
		var norm float64
		for _, k := range c.shift {
			norm += float64(k * k)
		}
		mu := math.Sqrt(norm) / float64(c.steps)
		want := math.Erfc((c.eps/mu-mu/2)/math.Sqrt2)/2 - math.Exp(c.eps)*math.Erfc((c.eps/mu+mu/2)/math.Sqrt2)/2
		if got > want*(1+1e-9) || got < want*0.5 {
			t.Errorf("S = %d, shift %v, ε = %v: δ = %v, want at most the continuous %v", c.steps, c.shift, c.eps, got, want)
		}
	}
	if _, err := exactDelta(1<<30, []int64{1}, 1); err == nil {
		t.Error("enumerated 2³⁰ steps")
	}
}

// TestExactDeltaOfPlans: plans on coarse lattices, where rounding is a real part of
// the sensitivity, keep their δ when enumerated. A reading may differ by Δ₂, so by
// up to ⌈Δ₂/g⌉ steps after rounding.
func TestExactDeltaOfPlans(t *testing.T) {
	for _, delta := range []float64{0.1, 1e-3} {
		for _, sensitivity := range []float64{0.7, 1.01, 2.5, 3.99} { // in lattice steps
			s := privacy.Spec{
				Public:      privacy.Public{Tau: 1, Metric: "hops", Alpha: 1},
				Budget:      privacy.Budget{Epsilon: 1, Delta: delta},
				Sensors:     []privacy.Sensor{{ID: "a"}},
				Sensitivity: privacy.Sensitivity{Upper: sensitivity},
				Clip:        privacy.Interval{Lo: 0, Hi: 0x1p61},
			}
			p := must.Get(privacy.NewPlan(s))(t)
			if p.Sensors[0].Step() != 1 {
				t.Fatalf("lattice %v, want 1", p.Sensors[0].Step())
			}
			got := must.Get(exactDelta(p.Sensors[0].Steps, []int64{int64(math.Ceil(sensitivity))}, 1))(t)
			if got > delta {
				t.Errorf("Δ₂ = %v steps: S = %d achieves δ = %v, want at most %v", sensitivity, p.Sensors[0].Steps, got, delta)
			}
		}
	}
}

func TestAuditStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := plan(t, 1, 1, 1e-3, privacy.SystemRandomness)
	pair := audit.WorstPair(p)
	if _, err := audit.Distinguish(ctx, audit.OfPlan(p, nil), pair, audit.Likelihood(p, pair), audit.Options{}); err != context.Canceled {
		t.Errorf("err = %v, want context.Canceled", err)
	}
	if _, err := audit.LowBits(ctx, audit.OfPlan(p, nil), 3, audit.Options{}); err == nil {
		t.Error("a scale of 3 was taken")
	}
}

// TestRun audits a plan as the command does, at a fixed state of the system's generator.
func TestRun(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	p := plan(t, 2, 4, 0.1, privacy.SystemRandomness)
	var last int64
	r, err := audit.Run(context.Background(), p, audit.OfPlan(p, nil),
		audit.Options{Trials: 2000, Progress: func(_ string, done, _ int64) { last = done }})
	must.Do(t, err)
	if r.Refuted || last == 0 {
		t.Errorf("%s\nprogress %d", r, last)
	}
	t.Log(r)
}

// TestWorstPair: the pair uses the sensitivity up, and stays within the range.
func TestWorstPair(t *testing.T) {
	for _, c := range []struct {
		upper, hi float64
		weights   []float64
		want      []float64
	}{
		{0.5, 1, nil, []float64{0.5, 0, 0}},
		{1.5, 1, nil, []float64{1, 1, 0.5}},
		{9, 1, nil, []float64{1, 1, 1}},
		{1, 1, []float64{4, 1, 1}, []float64{0.5, 0, 0}},
	} {
		s := privacy.Spec{
			Public:      privacy.Public{Tau: 1, Metric: "hops", Alpha: 1},
			Budget:      privacy.Budget{Epsilon: 1, Delta: 0.1},
			Sensors:     []privacy.Sensor{{ID: "a"}, {ID: "b"}, {ID: "c"}},
			Sensitivity: privacy.Sensitivity{Upper: c.upper},
			Weights:     c.weights,
			Clip:        privacy.Interval{Lo: 0, Hi: c.hi},
		}
		p := must.Get(privacy.NewPlan(s))(t)
		pair := audit.WorstPair(p)
		for i, want := range c.want {
			if got := pair.A[i] - pair.B[i]; math.Abs(got-want) > 1e-9 {
				t.Errorf("Δ₂ = %v, sensor %d: %v apart, want %v", c.upper, i, got, want)
			}
		}
	}
}

// probabilities returns P(N = n) of N = ⌊steps·Z + ½⌋ for |n| ≤ radius, at index n + radius,
// each within a relative 2⁻⁵² of the truth or an absolute 2⁻¹⁹⁰.
func probabilities(steps int64, radius int) []float64 {
	const bits = 192
	pmf := make([]float64, 2*radius+1)
	last := normal.CDF(int64(-2*radius-1), 2*steps, bits)
	for i := range pmf {
		next := normal.CDF(int64(2*(i-radius)+1), 2*steps, bits)
		p, _ := new(big.Float).SetInt(last.Sub(next, last)).Float64()
		pmf[i], last = math.Ldexp(p, -bits), next
	}
	return pmf
}

// maxCells bounds the work of exactDelta.
const maxCells = 1 << 26

// exactDelta returns an upper bound, tight to about 1e-12, on the least δ at which
// the release X = a + N of len(shift) sensors, S = steps each, is (ε, δ)-private
// between a and a + shift, by enumeration:
//
//	δ = Σ_x max(0, P(x) − e^ε·P(x − shift)).
func exactDelta(steps int64, shift []int64, eps float64) (float64, error) {
	radius := int(9 * steps) // beyond lies less than 2e-19 a coordinate
	var furthest int64
	cells := 1.0
	for _, k := range shift {
		furthest = max(furthest, k, -k)
		cells *= float64(2*radius + 1)
	}
	if steps < 1 || len(shift) == 0 || cells > maxCells || furthest > 1<<20 || !(eps >= 0 && eps < 700) {
		return 0, fmt.Errorf("audit: cannot enumerate %d sensors at S = %d, shift %v, ε = %v", len(shift), steps, shift, eps)
	}
	pmf := probabilities(steps, radius+int(furthest))
	centre := radius + int(furthest)
	grow := math.Exp(eps)
	var sum func(dim int, p, q float64) float64
	sum = func(dim int, p, q float64) float64 {
		if dim == len(shift) {
			return max(0, p-grow*q)
		}
		var total float64
		for n := -radius; n <= radius; n++ {
			total += sum(dim+1, p*pmf[centre+n], q*pmf[centre+n-int(shift[dim])])
		}
		return total
	}
	const tail = 2e-19
	return sum(0, 1, 1)*(1+1e-12) + tail*float64(len(shift)), nil
}
