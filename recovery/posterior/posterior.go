// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// Options hold the prior; the zero value is a flat node prior, and amplitude 1 or uniform at even odds.
type Options struct {
	Amplitude Amplitude
	Prior     []float64 // n values ≥ 0, in any scale; nil is flat
	Norms     *Norms    // nil: those of [ColumnNorms]
	Faults    Faults    // of the sensors
	// Progress receives the number of products with A, or of chains, done so far.
	Progress func(stage string, done, total int64)
}

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

// New returns the posterior of a single source, exact where the norms are:
// with c = Aᵀy and N_i = ‖A e_i‖², the log likelihood of amplitude a at node i is
// a·c_i − a²N_i/2 up to a constant.
//
// Where sensors may be broken it is exact for a matrix, and bounded for an operator that
// is known by products, whose entries are supposed to be at least 0.
func New(ctx context.Context, d measurement.Data, opts Options) (*Posterior, error) {
	if opts.Faults.Rate != 0 {
		return newFaulty(ctx, d, opts)
	}
	c, norms, logPrior, err := sufficient(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	e := newEvidence(opts.Amplitude)
	p := &Posterior{LogEvidence: e.logs(c, norms.N), Probability: make([]float64, len(c))}
	weight := p.Probability
	floats.AddTo(weight, p.LogEvidence, logPrior)
	if norms.Low == nil {
		p.normalize(nil, nil)
		return p, nil
	}
	low, high := e.weightBounds(c, norms, productError(d), logPrior)
	p.normalize(low, high)
	return p, nil
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
	parallel.Rows(len(weight), logWork/16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			weight[i] = math.Exp(weight[i] - p.LogPresence)
		}
	})
	floats.Scale(1/floats.Sum(p.Probability), p.Probability)
}

// productError bounds the error of an entry of Aᵀy, from the error of A.
func productError(d measurement.Data) float64 { return linop.Err(d.A) * floats.Norm(d.Y, 2) }

// logWork is the work of an evidence, in values that are read or written.
const logWork = 256

// logs returns the log evidence of each node.
func (e evidence) logs(c, norms []float64) []float64 {
	out := make([]float64, len(c))
	parallel.Rows(len(c), logWork, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = e.log(c[i], norms[i])
		}
	})
	return out
}

// weights returns the log weight of each node, evidence plus prior.
func (e evidence) weights(c, norms, logPrior []float64) []float64 {
	w := e.logs(c, norms)
	floats.Add(w, logPrior)
	return w
}

// weightBounds returns bounds on the log weight of each node, evidence plus prior, where c
// has an error of at most cError. The weight rises with c and falls with N.
func (e evidence) weightBounds(c []float64, norms Norms, cError float64, logPrior []float64) (low, high []float64) {
	low, high = make([]float64, len(c)), make([]float64, len(c))
	parallel.Rows(len(c), 2*logWork, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			low[i] = e.log(c[i]-cError, norms.High[i]) + logPrior[i]
			high[i] = e.log(c[i]+cError, norms.Low[i]) + logPrior[i]
		}
	})
	return low, high
}

// logShareErrors returns the logarithm of the uncertainty of each posterior probability,
// (e^high − e^low)/Z.
func logShareErrors(low, high []float64, logZ float64) []float64 {
	width := make([]float64, len(low))
	parallel.Rows(len(low), logWork, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			width[i] = math.Inf(-1)
			if !(high[i] <= low[i]) {
				width[i] = high[i] - logZ + math.Log1p(-math.Exp(low[i]-high[i]))
			}
		}
	})
	return width
}

// logOddsError bounds the error of the log odds of the first two: the largest and the second
// largest weight lie between those of the lower and of the upper bounds.
func logOddsError(weight, low, high []float64) float64 {
	w, l, h := firstTwo(weight), firstTwo(low), firstTwo(high)
	if math.IsInf(h[1], -1) { // no second
		return 0
	}
	odds := w[0] - w[1]
	return max(h[0]-l[1]-odds, odds-max(0, l[0]-h[1]))
}

// sufficient returns the sufficient statistic Aᵀy, the column norms and the log prior.
func sufficient(ctx context.Context, d measurement.Data, opts Options) (c []float64, norms Norms, logPrior []float64, err error) {
	_, n := d.A.Dims()
	if logPrior, err = logWeights(opts.Prior, n); err != nil {
		return nil, norms, nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, norms, nil, err
	}
	if opts.Norms != nil {
		norms = *opts.Norms
		if err := norms.check(n); err != nil {
			return nil, norms, nil, err
		}
	} else if norms, err = ColumnNorms(ctx, d, opts); err != nil {
		return nil, norms, nil, err
	}
	c = make([]float64, n)
	d.A.MulVecTo(c, true, d.Y)
	return c, norms, logPrior, ctx.Err()
}

// logWeights returns the logarithms of a prior that sums to 1.
func logWeights(prior []float64, n int) ([]float64, error) {
	w := make([]float64, n)
	if prior == nil {
		floats.AddConst(-math.Log(float64(n)), w)
		return w, nil
	}
	if len(prior) != n {
		return nil, fmt.Errorf("%w: %d prior weights for %d nodes", ErrInvalid, len(prior), n)
	}
	for i, v := range prior {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("%w: prior of node %d is %v, want ≥ 0 and finite", ErrInvalid, i, v)
		}
		w[i] = math.Log(v)
	}
	total := logSum(w)
	if math.IsInf(total, -1) {
		return nil, fmt.Errorf("%w: the prior is zero at every node", ErrInvalid)
	}
	floats.AddConst(-total, w)
	return w, nil
}

// credibleLevel is what a credible set holds.
const credibleLevel = 0.95

// Credible is the smallest set of nodes that holds 95 %, most
// probable first; its size measures how well the source is hidden. Ties go to the lower node. Nodes that have less than
// half of their share of what may be left out have half of it together: they are not in it,
// and are not sorted.
func (p *Posterior) Credible() []int {
	least := headOf(p.Probability, (1-credibleLevel)/2/float64(len(p.Probability)))
	var order []int
	for i, v := range p.Probability {
		if !(v < least) {
			order = append(order, i)
		}
	}
	parallel.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(p.Probability[j], p.Probability[i]), cmp.Compare(i, j))
	})
	sum, k := 0.0, 0
	for k == 0 || (k < len(order) && sum < credibleLevel) {
		sum += p.Probability[order[k]]
		k++
	}
	return order[:k]
}

// headOf returns a bound ≥ least such that the values from it on add up to more than the level, in
// any order, so that no others need sorting; least where there is no such bound.
func headOf(probability []float64, least float64) float64 {
	const rounding = 1e-6 // far above that of a sum
	for bound := floats.Max(probability) / 4; bound > least; bound /= 4 {
		sum := 0.0
		for _, v := range probability {
			if v >= bound {
				sum += v
			}
		}
		if sum > credibleLevel+rounding {
			return bound
		}
	}
	return least
}

// Ceiling returns Φ(Δ₂/2σ), the largest probability with which any test distinguishes two
// equally likely neighbours: their outputs are normal with means Δ₂ apart.
func Ceiling(l2, sigma float64) float64 { return tail(-l2 / (2 * sigma)) }
