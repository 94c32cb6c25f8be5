// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// Presence is the test of no source at all, against measurements that are simulated
// without one. Its p-value is a multiple of 1/(Trials + 1); where no trial is as large it may
// be less. The odds have mean 1 without a source, so they are x with a probability of at most
// 1/x (Markov), which bounds it.
type Presence struct {
	Trials int
	// Null holds the log odds of a source against none in the trials, ascending.
	// LogPresence is that of the measurements.
	Null        []float64
	LogPresence float64
	NoSource    float64 // p-value of no source
}

// Threshold returns the log odds of a source that measurements without one exceed with a
// probability of at most falseAlarm.
func (p *Presence) Threshold(falseAlarm float64) float64 {
	k := int(falseAlarm*float64(p.Trials+1) + 1e-9) // p ≤ falseAlarm: fewer than k trials are as large
	if k < 1 {
		return max(p.Null[p.Trials-1], -math.Log(falseAlarm))
	}
	if k > p.Trials {
		return math.Inf(-1)
	}
	return p.Null[p.Trials-k]
}

// settle computes the p-value. Null is ascending.
func (p *Presence) settle() {
	p.NoSource = share(p.Null, p.LogPresence, func(x, y float64) bool { return x >= y })
	if p.LogPresence > p.Null[p.Trials-1] {
		p.NoSource = min(p.NoSource, max(math.Exp(-p.LogPresence), math.SmallestNonzeroFloat64))
	}
}

// NewPresence tests where any of several operators may have made the measurements, each as
// likely: measurements and trials alike are judged by the mean of the odds under all. Noise
// alone is the same under all, so the trials are too. The p-value is as exact as that of one
// operator, and the same bits for it. data yields the same measurements with each operator.
// opts.Norms are those of the first.
// It returns the errors that data yields, and [ErrInvalid].
func NewPresence(ctx context.Context, data iter.Seq2[measurement.Data, error], opts CheckOptions) (*Presence, error) {
	return overOperators(ctx, data, opts, func(k *checker, _, null []float64) error {
		return k.simulate(ctx, len(null), opts.Progress, func(at int, b *noiseBlock) {
			k.addNull(null[at:], b)
		})
	})
}

// overOperators tests the presence of a source under any of several operators: test adds, to the
// logarithms null, the odds of a source in each trial under one of them. c is Aᵀy.
func overOperators(ctx context.Context, data iter.Seq2[measurement.Data, error], opts CheckOptions,
	test func(k *checker, c, null []float64) error,
) (*Presence, error) {
	p, count := &Presence{LogPresence: math.Inf(-1)}, 0
	for d, err := range data {
		if err != nil {
			return nil, err
		}
		if count > 0 {
			opts.Norms = nil // those of the first
		}
		k, c, err := newChecker(ctx, d, opts)
		if err != nil {
			return nil, err
		}
		if count == 0 {
			p.Trials = opts.trials(d.A)
			p.Null = slices.Repeat([]float64{math.Inf(-1)}, p.Trials)
		}
		if err := test(k, c, p.Null); err != nil {
			return nil, err
		}
		p.LogPresence = logSum([]float64{p.LogPresence, k.presence(c)})
		count++
	}
	if count == 0 {
		return nil, fmt.Errorf("%w: there is no operator to test under", ErrInvalid)
	}
	p.LogPresence -= math.Log(float64(count))
	floats.AddConst(-math.Log(float64(count)), p.Null)
	slices.Sort(p.Null)
	p.settle()
	return p, nil
}

// deviations is the number of standard deviations that none of 10⁶ normal numbers exceeds,
// but with a probability of 1e-7.
const deviations = 7.5

// addNull adds, to logarithms, the odds of a source in each trial of a block without one, or at most so
// much more as makes up for coarse products: these change an entry of Aᵀz by a normal number of a standard deviation of
// at most off, and the odds, whose amplitudes are at most 1, by no more than the largest of those.
func (k *checker) addNull(null []float64, b *noiseBlock) {
	for j, odds := range k.trials(b) {
		null[j] = logAdd(null[j], odds+deviations*k.off)
	}
}
