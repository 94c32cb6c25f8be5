// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/measurement"
)

// Checker tests many measurements under one operator as [NewCheck] does each: what is simulated
// without a source, and the noise, are kept, which takes 8·(m + n) bytes a trial.
type Checker struct {
	k      *checker
	null   Presence
	blocks []*noiseBlock
}

// NewChecker simulates; d.Y is not looked at. It returns [ErrInvalid].
func NewChecker(ctx context.Context, d measurement.Data, opts CheckOptions) (*Checker, error) {
	k, _, err := newChecker(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	c := &Checker{k: k, null: Presence{Trials: opts.trials(d.A)}}
	c.null.Null = slices.Repeat([]float64{math.Inf(-1)}, c.null.Trials)
	err = k.simulate(ctx, c.null.Trials, opts.Progress, func(at int, b *noiseBlock) bool {
		c.blocks = append(c.blocks, &noiseBlock{slices.Clone(b.z), slices.Clone(b.w), b.width})
		k.addNull(c.null.Null[at:], b)
		return true
	})
	slices.Sort(c.null.Null)
	return c, err
}

// Check tests the measurements y. A p-value of the fit that is above enough is known from
// below only, by a number above enough; 1 gives all exactly.
func (c *Checker) Check(y []float64, enough float64) *Check {
	k := *c.k
	k.d.Y = y
	_, n := k.d.A.Dims()
	sums := make([]float64, n)
	k.d.A.MulVecTo(sums, true, y)
	fit := k.fit(sums, c.null.Trials)
	for _, b := range c.blocks {
		if fit.add(&k, b); fit.pValue() > enough {
			break
		}
	}
	out := fit.check()
	out.Presence = c.null
	out.LogPresence = k.presence(sums)
	out.settle()
	return out
}

// Presence is the test of no source, of log odds of a source against none.
func (c *Checker) Presence(logPresence float64) Presence {
	p := c.null
	p.LogPresence = logPresence
	p.settle()
	return p
}
