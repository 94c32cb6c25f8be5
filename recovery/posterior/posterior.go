// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Posterior is the distribution of the node of a single source.
type Posterior struct {
	// LogEvidence is the log likelihood ratio, for each node, of a source there
	// against no source, with the amplitude integrated out.
	LogEvidence []float64
	// Probability of each node, given that there is one source. It sums to 1.
	Probability []float64
	// RunnerUp is the odds of the best node against the second; +Inf where there is none
	// and beyond e^709.
	RunnerUp float64
	// LogPresence is the log evidence of one source against none.
	LogPresence float64
	// LogOddsError and ProbabilityError bound the effect of column norms that are bounded,
	// not exact, and then of the error of A too. LogOddsError bounds the errors of
	// LogPresence and of log RunnerUp; ProbabilityError bounds the total variation distance
	// of Probability from the exact posterior, hence the error of every probability and of
	// every sum of them. Both are 0 where all norms are exact, whatever the error of A;
	// rounding is not included.
	LogOddsError, ProbabilityError float64
	// Faulty is the probability of each measurement to be that of a faulty sensor, given
	// that there is one source; nil where [Options].Faults supposes none.
	Faulty []float64
	// Raised reports that the noise is so small, where sensors may be broken, that rounding
	// would decide: the likelihood takes it for larger.
	Raised bool
}

// Best returns the most probable node.
func (p *Posterior) Best() int { return floats.MaxIdx(p.Probability) }

// Groups sums the posterior by label. Labels are 0, 1, …, one for each node.
func (p *Posterior) Groups(labels []int) ([]float64, error) {
	count, err := groupCount(labels, len(p.Probability))
	if err != nil {
		return nil, err
	}
	sums := make([]float64, count)
	for i, l := range labels {
		sums[l] += p.Probability[i]
	}
	return sums, nil
}

// groupCount checks one label for each of n nodes and returns their number.
func groupCount(labels []int, n int) (int, error) {
	if len(labels) != n {
		return 0, fmt.Errorf("%w: %d labels for %d nodes", ErrInvalid, len(labels), n)
	}
	count := 0
	for i, l := range labels {
		if l < 0 || l >= n {
			return 0, fmt.Errorf("%w: label of node %d is %d, want 0 to %d", ErrInvalid, i, l, n-1)
		}
		count = max(count, l+1)
	}
	return count, nil
}

// normalize turns log weights, which Probability holds, into all that is not set; low and
// high bound them where they are not exact.
func (p *Posterior) normalize(low, high []float64) {
	weight := p.Probability
	p.LogPresence = logSum(weight)
	first := firstTwo(weight)
	p.RunnerUp = math.Exp(first[0] - first[1])
	if low != nil {
		p.LogOddsError = max(logOddsError(weight, low, high), logSum(high)-p.LogPresence, p.LogPresence-logSum(low))
		p.ProbabilityError = math.Exp(logSum(logShareErrors(low, high, p.LogPresence)))
		if !(p.ProbabilityError < 1) {
			p.ProbabilityError = 1
		}
	}
	eachRow(len(weight), logWork/16, func(i int) {
		weight[i] = math.Exp(weight[i] - p.LogPresence)
	})
	floats.Scale(1/floats.Sum(p.Probability), p.Probability)
}

// credibleLevel is what a credible set holds.
const credibleLevel = 0.95

// Credible is the smallest set of nodes that holds 95 %, most
// probable first; its size measures how well the source is hidden. Ties go to the lower node.
func (p *Posterior) Credible() []int { return likeliest(p.Probability, credibleLevel) }

// Ceiling returns Φ(Δ₂/2σ), the largest probability with which any test distinguishes two
// equally likely neighbours: their outputs are normal with means Δ₂ apart.
func Ceiling(l2, sigma float64) float64 { return tail(-l2 / (2 * sigma)) }
