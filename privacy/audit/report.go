// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/privacy"
)

// Report is what [Run] found about a plan.
type Report struct {
	Epsilon     float64  `json:"epsilon"` // nominal
	Delta       float64  `json:"delta"`
	Distinguish Result   `json:"distinguish"` // of the attack that found most
	Attacks     []Attack `json:"attacks"`
	LowBits     Result   `json:"lowBits"`
	Noise       Noise    `json:"noise"`
	Refuted     bool     `json:"refuted"`
}

// Attack is one attempt to tell a pair apart.
type Attack struct {
	Pair string `json:"pair"`
	Result
}

// Run audits a mechanism that is said to be the plan's, such as [OfPlan]: the best
// distinguisher on pairs as far apart as the plan permits, at one sensor, over all of
// them and between two, and on those that opts names; the low-bit attack on one
// sensor; and [CheckNoise]. A right mechanism is refuted with probability at most
// 3·(1 − opts.Confidence) in all.
// opts.Delta is the plan's. An audit spends nothing, because its readings are made up.
func Run(ctx context.Context, p *privacy.Plan, m Mechanism, opts Options) (*Report, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	opts.Delta = p.Delta
	if err := opts.setDefaults(); err != nil {
		return nil, err
	}
	r := &Report{Epsilon: p.Epsilon, Delta: p.Delta}
	worst := WorstPair(p)
	if err := r.attack(ctx, p, m, worst, opts); err != nil {
		return nil, err
	}
	if err := r.attackLowBits(ctx, m, worst, opts); err != nil {
		return nil, err
	}
	nearest := min(max(0, p.Clip.Lo), p.Clip.Hi) // to 0: the reading whose floating-point form loses least
	var err error
	if r.Noise, err = CheckNoise(ctx, m, slices.Repeat([]float64{nearest}, len(p.Sensors)), p.Sensors, opts); err != nil {
		return nil, err
	}
	r.Refuted = r.Distinguish.Epsilon > p.Epsilon || r.LowBits.Epsilon > p.Epsilon || r.Noise.Refuted
	return r, nil
}

// attack tries the pairs: the worst one with all trials, the others with a quarter,
// each with its share of the failure probability.
func (r *Report) attack(ctx context.Context, p *privacy.Plan, m Mechanism, worst Pair, opts Options) error {
	pairs := append([]namedPair{{"as far apart as the plan permits", worst}}, attackPairs(p)...)
	if p.Guarantee == privacy.Joint {
		for k, pair := range opts.Pairs {
			pairs = append(pairs, namedPair{fmt.Sprintf("neighbours on the graph %d", k+1), pair})
		}
	}
	opts.Confidence = 1 - (1-opts.Confidence)/float64(len(pairs))
	for k, pair := range pairs {
		if k == 1 {
			opts.Trials = max(minTrials, opts.Trials/4)
		}
		found, err := Distinguish(ctx, m, pair.Pair, Likelihood(p, pair.Pair), opts)
		if err != nil {
			return err
		}
		if found.Epsilon > r.Distinguish.Epsilon || k == 0 {
			r.Distinguish = found
		}
		r.Attacks = append(r.Attacks, Attack{pair.name, found})
	}
	return nil
}

// attackLowBits attacks the lowest bits of the sensor at which the pair is widest.
func (r *Report) attackLowBits(ctx context.Context, m Mechanism, pair Pair, opts Options) (err error) {
	where, distance := 0, 0.0
	for i := range pair.A {
		if d := pair.A[i] - pair.B[i]; d > distance {
			where, distance = i, d
		}
	}
	_, e := math.Frexp(distance)
	one := func(y []float64) ([]float64, error) {
		readings := slices.Clone(pair.B)
		readings[where] = y[0]
		out, err := m(readings)
		if err != nil {
			return nil, err
		}
		return out[where : where+1], nil
	}
	r.LowBits, err = LowBits(ctx, one, math.Ldexp(1, e-1), opts)
	return err
}

// String says what was refuted, and what an audit cannot show.
func (r *Report) String() string {
	var b strings.Builder
	verdict := "not refuted"
	if r.Refuted {
		verdict = "REFUTED"
	}
	fmt.Fprintf(&b, "(ε = %v, δ = %v) is %s.\n", r.Epsilon, r.Delta, verdict)
	for _, a := range r.Attacks {
		fmt.Fprintf(&b, "Best distinguisher, %s: ε ≥ %.3f (%d and %d of %d releases, confidence 1 − %.2g).\n",
			a.Pair, a.Epsilon, a.Hits, a.FalseHits, a.Trials, 1-a.Confidence)
	}
	fmt.Fprintf(&b, "Lowest bits: ε ≥ %.3f (%d and %d of %d releases).\n", r.LowBits.Epsilon, r.LowBits.Hits, r.LowBits.FalseHits,
		r.LowBits.Trials)
	b.WriteString(r.Noise.String())
	b.WriteString("An audit can refute a guarantee and cannot prove one: a bound below ε says only that this attack, on this pair, with " +
		"this many releases, did not succeed.")
	return b.String()
}

// String says what was looked at, and what spoke most against the noise.
func (n Noise) String() string {
	if n.Refuted {
		return fmt.Sprintf("The noise of %d sensors in %d releases is NOT as stated: the %s is off. Right noise fails one of %d tests "+
			"like this with probability %.2g at most.\n",
			n.Sensors, n.Releases, n.Worst, n.Tests, n.Probability)
	}
	return fmt.Sprintf("The noise of %d sensors in %d releases is as stated, as far as %d tests tell: right noise looks no better with "+
		"probability %.2g at most.\n",
		n.Sensors, n.Releases, n.Tests, n.Probability)
}
