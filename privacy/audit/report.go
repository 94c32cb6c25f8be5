// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/graphcloak/graphcloak/privacy"
)

// Report is what [Run] found about a plan.
type Report struct {
	Epsilon     float64      `json:"epsilon"` // nominal
	Delta       float64      `json:"delta"`
	Distinguish Result       `json:"distinguish"`
	LowBits     Result       `json:"lowBits"`
	Exact       []Exact      `json:"exact"`
	Refuted     bool         `json:"refuted"`
	Pair        [2][]float64 `json:"-"`
}

// Exact is one enumeration: noise of Steps lattice steps and readings Shift steps
// apart, at the plan's ε.
type Exact struct {
	Steps int64   `json:"steps"`
	Shift []int64 `json:"shift"`
	Delta float64 `json:"delta"` // achieved
	Limit float64 `json:"limit"` // the plan's
}

// Run audits the plan's mechanism as it is configured: the best distinguisher on
// the worst pair, the low-bit attack on the noisiest pair's sensor, and exact
// enumeration of the same mechanism on small lattices. opts.Delta is the plan's.
// noise is the escrow of an escrow plan, and nil otherwise; an audit spends nothing,
// because its readings are made up.
func Run(ctx context.Context, p *privacy.Plan, noise privacy.Noise, opts Options) (*Report, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	opts.Delta = p.Delta
	pair := WorstPair(p)
	r := &Report{Epsilon: p.Epsilon, Delta: p.Delta, Pair: [2][]float64{pair.A, pair.B}}
	m := OfPlan(p, noise)
	var err error
	if r.Distinguish, err = Distinguish(ctx, m, pair, Likelihood(p, pair), opts); err != nil {
		return nil, err
	}
	where, distance := 0, 0.0
	for i := range pair.A {
		if d := pair.A[i] - pair.B[i]; d > distance {
			where, distance = i, d
		}
	}
	_, e := math.Frexp(distance)
	one := func(y []float64) ([]float64, error) {
		readings := append([]float64(nil), pair.B...)
		readings[where] = y[0]
		out, err := m(readings)
		if err != nil {
			return nil, err
		}
		return out[where : where+1], nil
	}
	if r.LowBits, err = LowBits(ctx, one, math.Ldexp(1, e-1), opts); err != nil {
		return nil, err
	}
	if err := r.enumerate(ctx, p.Mu); err != nil {
		return nil, err
	}
	r.Refuted = r.Distinguish.Epsilon > p.Epsilon || r.LowBits.Epsilon > p.Epsilon
	for _, x := range r.Exact {
		r.Refuted = r.Refuted || x.Delta > x.Limit
	}
	return r, nil
}

// enumerate takes shifts whose norm is at most μ·S: as hard to hide as the plan's.
func (r *Report) enumerate(ctx context.Context, mu float64) error {
	if r.Epsilon > 600 {
		return nil // e^ε leaves the range of floating point
	}
	for _, c := range []struct {
		steps      int64
		dimensions int
	}{{1, 1}, {2, 1}, {8, 1}, {64, 1}, {2, 2}, {8, 2}, {1, 3}, {2, 3}} {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := int64(mu * float64(c.steps) / math.Sqrt(float64(c.dimensions)))
		if k < 1 || k > 1<<16 {
			continue
		}
		shift := make([]int64, c.dimensions)
		for i := range shift {
			shift[i] = k
		}
		delta, err := ExactDelta(c.steps, shift, r.Epsilon)
		if err != nil {
			return err
		}
		r.Exact = append(r.Exact, Exact{Steps: c.steps, Shift: shift, Delta: delta, Limit: r.Delta})
	}
	return nil
}

// String says what was refuted, and what an audit cannot show.
func (r *Report) String() string {
	var b strings.Builder
	verdict := "not refuted"
	if r.Refuted {
		verdict = "REFUTED"
	}
	fmt.Fprintf(&b, "(ε = %v, δ = %v) is %s.\n", r.Epsilon, r.Delta, verdict)
	fmt.Fprintf(&b, "Best distinguisher: ε ≥ %.3f (%d and %d of %d releases, confidence %v).\n",
		r.Distinguish.Epsilon, r.Distinguish.Hits, r.Distinguish.FalseHits, r.Distinguish.Trials, r.Distinguish.Confidence)
	fmt.Fprintf(&b, "Lowest bits: ε ≥ %.3f (%d and %d of %d releases).\n", r.LowBits.Epsilon, r.LowBits.Hits, r.LowBits.FalseHits, r.LowBits.Trials)
	for _, x := range r.Exact {
		fmt.Fprintf(&b, "Enumerated, σ of %d steps, readings %v steps apart: δ = %.6g, at most %v.\n", x.Steps, x.Shift, x.Delta, x.Limit)
	}
	b.WriteString("An audit can refute a guarantee and cannot prove one: a bound below ε says only that this attack, on this pair, with this many releases, did not succeed.")
	return b.String()
}
