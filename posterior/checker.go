// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
)

// PresenceTest tests many measurements under one operator as [NewPresence] does each: what is simulated without a
// source is kept.
type PresenceTest struct {
	k    *checker
	null Presence
}

// NewPresenceTest simulates; d.Y is not looked at. It returns [ErrInvalid].
func NewPresenceTest(ctx context.Context, d measurement.Data, opts CheckOptions) (*PresenceTest, error) {
	k, _, err := newChecker(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	t := &PresenceTest{k: k, null: Presence{Trials: opts.trials(d.A)}}
	t.null.Null = slices.Repeat([]float64{math.Inf(-1)}, t.null.Trials)
	err = k.simulate(ctx, t.null.Trials, opts.Progress, func(at int, b *noiseBlock) { k.addNull(t.null.Null[at:], b) })
	slices.Sort(t.null.Null)
	return t, err
}

// Presence is the test of no source, of log odds of a source against none.
func (t *PresenceTest) Presence(logPresence float64) Presence {
	p := t.null
	p.LogPresence = logPresence
	p.settle()
	return p
}

// Test tests lists of measurements, which are multiplied together.
func (t *PresenceTest) Test(measurements [][]float64) []Presence {
	m, n := t.k.d.A.Dims()
	var out []Presence
	for block := range slices.Chunk(measurements, checkBlock) {
		width := len(block)
		y, c := make([]float64, m*width), make([]float64, n*width)
		for j, values := range block {
			for s, v := range values {
				y[s*width+j] = v
			}
		}
		linop.MulBlockTo(t.k.d.A, c, true, y, width)
		for j := range block {
			out = append(out, t.Presence(t.k.presence(stride(c, j, width, n))))
		}
	}
	return out
}

// Checker tests many measurements under one operator as [NewCheck] does each: both laws are simulated once.
type Checker struct {
	*PresenceTest
	j   *judge
	law fitLaw
}

// NewChecker simulates; d.Y is not looked at. It returns [ErrInvalid], also for an operator that is known by
// products.
func NewChecker(ctx context.Context, d measurement.Data, opts CheckOptions) (*Checker, error) {
	if !linop.HoldsEntries(d.A) {
		return nil, fmt.Errorf("%w: the law of the fit takes the entries of an operator", ErrInvalid)
	}
	t, err := NewPresenceTest(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	c := &Checker{PresenceTest: t}
	if c.j, err = newJudge(t.k, opts); err != nil {
		return nil, err
	}
	c.law, err = c.j.law(ctx, opts.fitTrials(d.A), opts.Progress)
	return c, err
}

// Check tests the measurements y.
func (c *Checker) Check(y []float64) *Check {
	sums := make([]float64, len(c.k.norms))
	c.k.d.A.MulVecTo(sums, true, y)
	out := c.law.check(c.j.measure(y, 1)[0])
	out.Presence = c.Presence(c.k.presence(sums))
	return out
}
