// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// Checker tests measurements that any of several operators may have made, each as likely: what is simulated is so once for many
// measurements.
type Checker struct {
	list   []*checker
	judges []*judge // of each whose entries are held, with the law
	laws   []fitLaw
	null   Presence // of no measurements
}

// NewChecker simulates measurements without a source under each of the operators, and with one. The values of data are not looked at,
// and opts.Norms are those of the first. It returns [ErrInvalid].
func NewChecker(ctx context.Context, data []measurement.Data, opts CheckOptions) (*Checker, error) {
	c, err := newPresences(ctx, data, opts)
	if err != nil {
		return nil, err
	}
	c.judges, c.laws = make([]*judge, len(data)), make([]fitLaw, len(data))
	for i, k := range c.list {
		if !linop.HoldsEntries(k.d.A) {
			continue
		}
		if c.judges[i], err = newJudge(k, opts); err != nil {
			return nil, err
		}
		if c.laws[i], err = c.judges[i].law(ctx, opts.fitTrials(k.d.A), opts.Progress); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// newPresences is a Checker of the presence of a source alone.
func newPresences(ctx context.Context, data []measurement.Data, opts CheckOptions) (*Checker, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("%w: there is no operator to test under", ErrInvalid)
	}
	trials := opts.trials(data[0].A)
	c := &Checker{null: Presence{Trials: trials, Null: slices.Repeat([]float64{math.Inf(-1)}, trials)}}
	for _, d := range data {
		k, err := newChecker(ctx, d, opts)
		if err != nil {
			return nil, err
		}
		opts.Norms = nil // those of the first
		err = k.simulate(ctx, trials, opts.Progress, func(at int, b *noiseBlock) {
			for j, odds := range k.trials(b) {
				c.null.Null[at+j] = logAdd(c.null.Null[at+j], odds)
			}
		})
		if err != nil {
			return nil, err
		}
		c.list = append(c.list, k)
	}
	floats.AddConst(-math.Log(float64(len(data))), c.null.Null)
	slices.Sort(c.null.Null)
	return c, nil
}

// Check tests the measurements y. Measurements and trials alike are judged by the mean of the odds of a source under all operators. Noise
// alone is the same under all, so the trials are too, and the p-value is as exact as that of one operator.
// The p-value of a single source is the largest under any of them, with the source that it belongs to: what is improbable under all is
// so under the one that made them.
func (c *Checker) Check(y []float64) *Check {
	var out *Check
	for i, k := range c.list {
		var now *Check
		if j := c.judges[i]; j != nil {
			now = c.laws[i].check(j.measure(y, 1)[0])
		} else {
			now = k.bound(y)
		}
		if out == nil || now.Fit > out.Fit {
			out = now
		}
	}
	out.Presence = *c.presence(y)
	return out
}

// presence tests whether there is a source.
func (c *Checker) presence(y []float64) *Presence {
	p := c.null
	p.LogPresence = math.Inf(-1)
	for _, k := range c.list {
		p.LogPresence = logSum([]float64{p.LogPresence, k.presence(k.sums(y))})
	}
	p.LogPresence -= math.Log(float64(len(c.list)))
	p.settle()
	return &p
}

// NewPresence tests whether there is a source as [Checker.Check] does, with the values of the first of data.
func NewPresence(ctx context.Context, data []measurement.Data, opts CheckOptions) (*Presence, error) {
	c, err := newPresences(ctx, data, opts)
	if err != nil {
		return nil, err
	}
	return c.presence(data[0].Y), nil
}

// sums returns Aᵀy.
func (k *checker) sums(y []float64) []float64 {
	c := make([]float64, len(k.norms))
	k.d.A.MulVecTo(c, true, y)
	return c
}

// bound tests a single source by the residual of the best one.
func (k *checker) bound(y []float64) *Check {
	best := k.best(k.sums(y), 1)[0]
	rest := columnOf(k.d, best.node)
	floats.AddScaledTo(rest, y, -best.amplitude, rest)
	left := k.residual(rest)
	return &Check{Residual: left.square, Fit: min(1, 3*k.tail(left))}
}
