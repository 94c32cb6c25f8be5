// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// Checker tests many measurements under one operator as [NewCheck] does each: both laws are simulated once.
type Checker struct {
	k    *checker
	null Presence // of no measurements
	j    *judge
	law  fitLaw
}

// NewChecker simulates; d.Y is not looked at. It returns [ErrInvalid], also for an operator that is known by
// products.
func NewChecker(ctx context.Context, d measurement.Data, opts CheckOptions) (*Checker, error) {
	if !linop.HoldsEntries(d.A) {
		return nil, fmt.Errorf("%w: the law of the fit takes the entries of an operator", ErrInvalid)
	}
	k, _, err := newChecker(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	c := &Checker{k: k, null: Presence{Trials: opts.trials(d.A)}}
	c.null.Null = slices.Repeat([]float64{math.Inf(-1)}, c.null.Trials)
	err = k.simulate(ctx, c.null.Trials, opts.Progress, func(at int, b *noiseBlock) { k.addNull(c.null.Null[at:], b) })
	if err != nil {
		return nil, err
	}
	slices.Sort(c.null.Null)
	if c.j, err = newJudge(k, opts); err != nil {
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
	out.Presence = c.null
	out.LogPresence = c.k.presence(sums)
	out.settle()
	return out
}
