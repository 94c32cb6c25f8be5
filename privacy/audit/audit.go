// SPDX-License-Identifier: Apache-2.0

// Package audit tries to refute a mechanism's (ε, δ).
//
// [CheckNoise] tests its noise against the stated distribution, over all sensors and
// releases. [Distinguish] runs the mechanism on two neighbours and turns how well they can be
// told apart into a lower bound on ε that holds with stated confidence: a bound
// above the nominal ε refutes the mechanism, one below refutes nothing. [LowBits]
// is the attack on floating-point noise.
package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/graphcloak/graphcloak/privacy"
)

// Mechanism returns one release for the readings, with fresh noise.
type Mechanism func(readings []float64) ([]float64, error)

// Pair is two vectors of readings that neighbouring sources can give.
type Pair struct{ A, B []float64 }

// Options of an audit; the zero value of a field is its default as stated.
type Options struct {
	Trials     int     // releases on each side of the pair; 0: 100,000
	Delta      float64 // the δ at which ε is bounded
	Confidence float64 // 0: 1 − 10⁻⁶
	Pairs      []Pair  // readings of neighbours to try beside those that the plan allows
	Progress   func(stage string, done, total int64)
}

// Result says what was found: with probability Confidence at least, the mechanism
// is not (ε, Delta)-private for any ε < Epsilon.
type Result struct {
	Trials     int     `json:"trials"`    // releases that count, on each side
	Hits       int     `json:"hits"`      // event at the one reading
	FalseHits  int     `json:"falseHits"` // event at the other
	Epsilon    float64 `json:"epsilonLower"`
	Delta      float64 `json:"delta"`
	Confidence float64 `json:"confidence"`
}

// ClopperPearson returns an interval for the probability of an event that was seen
// k times in n: each end fails with probability at most alpha (Clopper and Pearson
// 1934).
func ClopperPearson(k, n int, alpha float64) (lo, hi float64) {
	return clopperPearsonLower(k, n, alpha), 1 - clopperPearsonLower(n-k, n, alpha)
}

// clopperPearsonLower returns the p with P(Binomial(n, p) ≥ k) = alpha, rounded down:
// that probability is the incomplete beta function I_p(k, n−k+1), increasing in p.
func clopperPearsonLower(k, n int, alpha float64) float64 {
	if k == 0 {
		return 0
	}
	lo, hi := 0.0, float64(k)/float64(n)
	for range 200 {
		mid := (lo + hi) / 2
		if mid == lo || mid == hi {
			break
		}
		if mathext.RegIncBeta(float64(k), float64(n-k+1), mid) <= alpha {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// epsilonLower bounds ε from P(E|A) ≤ e^ε·P(E|B) + δ.
func (r *Result) epsilonLower() {
	alpha := (1 - r.Confidence) / 2
	p, _ := ClopperPearson(r.Hits, r.Trials, alpha)
	_, q := ClopperPearson(r.FalseHits, r.Trials, alpha)
	r.Epsilon = 0
	if p > r.Delta {
		r.Epsilon = max(0, math.Log((p-r.Delta)/q))
	}
}

// setDefaults replaces zero values by defaults, and checks the ranges.
func (o *Options) setDefaults() error {
	if o.Trials == 0 {
		o.Trials = 100_000
	}
	if o.Confidence == 0 {
		o.Confidence = 1 - 1e-6
	}
	if o.Trials < 100 || !(o.Delta >= 0 && o.Delta < 1) || !(o.Confidence > 0 && o.Confidence < 1) {
		return fmt.Errorf("audit: %d trials, delta %v, confidence %v; want ≥ 100, [0, 1), (0, 1)", o.Trials, o.Delta, o.Confidence)
	}
	return nil
}

// Distinguish audits m on a pair of neighbours. score orders outputs, highest for
// those that speak for pair.A; for Gaussian noise that is [Likelihood]. The first
// half of the trials chooses the threshold, the second half is counted, so that
// the choice costs no confidence.
func Distinguish(ctx context.Context, m Mechanism, pair Pair, score func([]float64) float64, opts Options) (Result, error) {
	if err := opts.setDefaults(); err != nil {
		return Result{}, err
	}
	var scores [2][]float64
	for side, y := range [][]float64{pair.A, pair.B} {
		for i := range opts.Trials {
			if err := ctx.Err(); err != nil {
				return Result{}, err
			}
			out, err := m(y)
			if err != nil {
				return Result{}, err
			}
			scores[side] = append(scores[side], score(out))
			opts.report("distinguish", side*opts.Trials+i+1, 2*opts.Trials)
		}
	}
	half := opts.Trials / 2
	threshold := chooseThreshold(scores[0][:half], scores[1][:half], opts)
	return count(scores[0][half:], scores[1][half:], threshold, opts), nil
}

// chooseThreshold returns the threshold with the best bound on the training half.
func chooseThreshold(a, b []float64, opts Options) float64 {
	candidates := append([]float64(nil), a...)
	sort.Float64s(candidates)
	best, threshold := -1.0, math.Inf(1)
	for i := range 200 {
		t := candidates[i*len(candidates)/200]
		if r := count(a, b, t, opts); r.Epsilon > best {
			best, threshold = r.Epsilon, t
		}
	}
	return threshold
}

// count bounds ε by the event score ≥ threshold.
func count(a, b []float64, threshold float64, opts Options) Result {
	r := Result{Trials: len(a), Delta: opts.Delta, Confidence: opts.Confidence}
	for i := range a {
		if a[i] >= threshold {
			r.Hits++
		}
		if b[i] >= threshold {
			r.FalseHits++
		}
	}
	r.epsilonLower()
	return r
}

func (o Options) report(stage string, done, total int) {
	if o.Progress != nil && (done%1024 == 0 || done == total) {
		o.Progress(stage, int64(done), int64(total))
	}
}

// LowBits audits one sensor's mechanism by the lowest bits of its output (Mironov
// 2012). At the reading scale, a power of two, floating-point noise added to the
// reading gives multiples of scale·2⁻⁵³, whatever the noise; at the reading 0 it
// mostly does not. A mechanism on a lattice coarser than that gives nothing away.
func LowBits(ctx context.Context, m Mechanism, scale float64, opts Options) (Result, error) {
	if err := opts.setDefaults(); err != nil {
		return Result{}, err
	}
	if frac, _ := math.Frexp(scale); frac != 0.5 {
		return Result{}, fmt.Errorf("audit: scale is %v, want a positive power of two", scale)
	}
	r := Result{Trials: opts.Trials, Delta: opts.Delta, Confidence: opts.Confidence}
	for i := range opts.Trials {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		for _, c := range []struct {
			y    float64
			hits *int
		}{{0, &r.Hits}, {scale, &r.FalseHits}} {
			out, err := m([]float64{c.y})
			if err != nil {
				return Result{}, err
			}
			if n := out[0] / scale * 0x1p53; n != math.Trunc(n) {
				*c.hits++
			}
		}
		opts.report("low bits", i+1, opts.Trials)
	}
	r.epsilonLower()
	return r, nil
}

// OfPlan returns the mechanism of a plan as it is configured; noise nil is the
// system's.
func OfPlan(p *privacy.Plan, noise privacy.Noise) Mechanism {
	return func(readings []float64) ([]float64, error) {
		r, err := p.Perturb(readings, "audit "+privacy.NewAttempt(), noise)
		if err != nil {
			return nil, err
		}
		return r.Values(), nil
	}
}

// Likelihood returns the most powerful score for the pair under the plan's noise:
// the logarithm of the Gaussian likelihood ratio, up to a constant.
func Likelihood(p *privacy.Plan, pair Pair) func([]float64) float64 {
	weight := make([]float64, len(p.Sensors))
	for i, s := range p.Sensors {
		weight[i] = (pair.A[i] - pair.B[i]) / (s.Sigma() * s.Sigma())
	}
	return func(out []float64) float64 {
		var sum float64
		for i, w := range weight {
			sum += w * out[i]
		}
		return sum
	}
}

// namedPair is a pair with a name for the report.
type namedPair struct {
	name string
	Pair
}

// attackPairs returns pairs as far apart as the plan permits, beside [WorstPair]: all
// sensors up or down at random, twice, and the difference of two sensors, beside each
// other and half the plan apart. Under PerSensor the promise is about one value, so
// each is of one sensor, from the first to the last.
func attackPairs(p *privacy.Plan) []namedPair {
	m := len(p.Sensors)
	var out []namedPair
	if p.Guarantee == privacy.PerSensor {
		for k := range min(m, 4) {
			i := k * (m - 1) / max(1, min(m, 4)-1)
			out = append(out, namedPair{fmt.Sprintf("sensor %q", p.Sensors[i].ID), perSensorPair(p, i)})
		}
		return out
	}
	rng := rand.New(rand.NewPCG(0x7370, uint64(m)))
	for k := range 2 {
		v := make([]float64, m)
		for i := range v {
			v[i] = float64(2*rng.IntN(2) - 1)
		}
		out = append(out, namedPair{fmt.Sprintf("all sensors, random signs %d", k+1), pairAlong(p, v)})
	}
	for _, j := range slices.Compact([]int{1, max(1, m/2)}) {
		if j < m {
			v := make([]float64, m)
			v[0], v[j] = 1, -1
			name := fmt.Sprintf("the difference of sensors %q and %q", p.Sensors[0].ID, p.Sensors[j].ID)
			out = append(out, namedPair{name, pairAlong(p, v)})
		}
	}
	return out
}

// pairAlong returns the pair whose whitened difference √u·(A − B) lies in direction v and
// has the plan's sensitivity for its length, or less where the range of readings ends.
func pairAlong(p *privacy.Plan, v []float64) Pair {
	scale := p.Sensitivity.Upper / floats.Norm(v, 2)
	width := p.Clip.Hi - p.Clip.Lo
	for i, s := range p.Sensors {
		if d := math.Abs(v[i]) / math.Sqrt(s.Weight); d > 0 {
			scale = min(scale, width/d)
		}
	}
	pair := equalReadings(p)
	for i, s := range p.Sensors {
		d := scale * v[i] / math.Sqrt(s.Weight)
		pair.A[i] += max(0, d)
		pair.B[i] += max(0, -d)
	}
	return pair
}

// equalReadings returns a pair without a difference, at the lower end of the range.
func equalReadings(p *privacy.Plan) Pair {
	pair := Pair{A: make([]float64, len(p.Sensors)), B: make([]float64, len(p.Sensors))}
	for i := range pair.A {
		pair.A[i], pair.B[i] = p.Clip.Lo, p.Clip.Lo
	}
	return pair
}

// perSensorPair returns the widest pair of one sensor of a PerSensor plan.
func perSensorPair(p *privacy.Plan, i int) Pair {
	pair := equalReadings(p)
	pair.A[i] += min(p.Sensors[i].Bound, p.Clip.Hi-p.Clip.Lo)
	return pair
}

// WorstPair returns two vectors of readings as far apart as the plan's sensitivity
// and its range of readings allow: at one sensor where that is enough, at several
// in the plan's order where it is not, and at the least private sensor for a
// PerSensor plan. Whether neighbouring sources give exactly these depends on the
// graph; the guarantee of the plan covers them either way.
func WorstPair(p *privacy.Plan) Pair {
	width := p.Clip.Hi - p.Clip.Lo
	if p.Guarantee == privacy.PerSensor {
		worst, where := 0.0, 0
		for i, s := range p.Sensors {
			if mu := min(s.Bound, width) / s.Sigma(); mu > worst {
				worst, where = mu, i
			}
		}
		return perSensorPair(p, where)
	}
	pair := equalReadings(p)
	square := p.Sensitivity.Upper * p.Sensitivity.Upper
	left := square // of Σ u_s D_s²
	for i, s := range p.Sensors {
		d := min(width, math.Sqrt(left/s.Weight))
		pair.A[i] += d
		if left -= s.Weight * d * d; left <= 1e-12*square {
			break
		}
	}
	return pair
}
