// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"
	"sort"
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
	below := sort.SearchFloat64s(p.Null, p.LogPresence)
	p.NoSource = float64(p.Trials-below+1) / float64(p.Trials+1)
	if p.LogPresence > p.Null[p.Trials-1] {
		p.NoSource = min(p.NoSource, max(math.Exp(-p.LogPresence), math.SmallestNonzeroFloat64))
	}
}

// Check says whether there is a source at all, and whether one source explains the
// measurements. Both are tests against measurements that are simulated with the same A
// and noise: their p-values are multiples of 1/(Trials + 1), or less.
type Check struct {
	Residual float64 // ‖y − aAe_i‖² for the single source of the largest likelihood
	// Presence is the test of no source.
	Presence
	// Fit is the p-value of a single source. Where entries of A are held, it is at most α with a probability of at most α for a
	// source that the prior draws, be its amplitude 1 or uniform: it is the largest of those against trials of each
	// kind, FitTrials of each, of what [judge] measures. Where no trial is as large, it may be less than
	// 1/(FitTrials + 1): a bound by the exact parts. Where A is known by products, there are no trials, and it is three times the
	// least of three tails of the residual, those of noise alone.
	Fit       float64
	FitTrials int
}
