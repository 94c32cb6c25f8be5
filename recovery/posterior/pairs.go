// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/dense"
	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// pairLimit is the largest number of nodes for which every pair is weighed: some minutes where the measurements tell little.
const pairLimit = 6000

// Pairs is the exact posterior of two sources at different nodes.
type Pairs struct {
	// Probability of each node to be one of the two. It sums to 2.
	Probability []float64
	// LogPresence is the log evidence of two sources against none.
	LogPresence float64

	// Faulty is the probability of each measurement to be that of a faulty sensor; nil where none may be.
	Faulty []float64

	n int
	p []float64 // of the pair i < j at j(j−1)/2 + i
}

// At returns the probability that the two sources are at i and j: 0 where these are not
// two nodes of the graph.
func (p *Pairs) At(i, j int) float64 {
	if i > j {
		i, j = j, i
	}
	if i < 0 || i == j || j >= p.n {
		return 0
	}
	return p.p[j*(j-1)/2+i]
}

// Groups returns, for each label, the probability that it holds at least one of the
// two sources.
func (p *Pairs) Groups(labels []int) ([]float64, error) {
	count, err := groupCount(labels, p.n)
	if err != nil {
		return nil, err
	}
	out := make([]float64, count)
	for j := range p.n {
		for i := range j {
			v := p.At(i, j)
			out[labels[i]] += v
			if labels[i] != labels[j] {
				out[labels[j]] += v
			}
		}
	}
	return out, nil
}

// pairBlock is the number of columns of the Gram matrix that are held at once.
const pairBlock = 64

// weigh sets the log evidence and prior of every pair. The largest exponent bounds the evidence, since the prior's mass is 1. Pairs
// e⁻⁵⁰ below the best of the blocks before, or a good pair, are negligible in a sum of n²/2 terms.
func (p *Pairs) weigh(ctx context.Context, d measurement.Data, e evidence, c, norms, logPrior []float64) error {
	m, n := d.A.Dims()
	all := everyNode(n)
	x, gram, best := make([]float64, m*pairBlock), make([]float64, n*pairBlock), goodPair(d, e, c, norms, logPrior)
	for from := 0; from < n; from += pairBlock {
		if err := ctx.Err(); err != nil {
			return err
		}
		width := min(pairBlock, n-from)
		nodes := all[from : from+width]
		linop.ColumnsTo(d.A, x[:m*width], nodes)
		linop.MulBlockTo(d.A, gram[:n*width], true, dense.Transpose(x[:m*width], width, m), width)
		tops := make([]float64, width)
		parallel.Each(width, func(k int) {
			tops[k] = math.Inf(-1)
			q, j := quadratic{e: e}, nodes[k]
			for i := range j {
				at, prior := j*(j-1)/2+i, logPrior[i]+logPrior[j]
				q.set(c[i], c[j], norms[i], norms[j], gram[i*width+k])
				if math.IsInf(prior, -1) || q.peak()+prior < best-negligible {
					p.p[at] = math.Inf(-1)
					continue
				}
				p.p[at] = q.log() + prior
				tops[k] = max(tops[k], p.p[at])
			}
		})
		best = max(best, floats.Max(tops))
	}
	return ctx.Err()
}

// goodPair returns the weight of the likeliest node with the one that is likeliest beside it.
func goodPair(d measurement.Data, e evidence, c, norms, logPrior []float64) float64 {
	gram, rest := make([]float64, len(c)), make([]float64, len(c))
	w := e.weights(c, norms, logPrior)
	i := floats.MaxIdx(w)
	d.A.MulVecTo(gram, true, columnOf(d, i))
	floats.AddScaledTo(rest, c, -e.likeliest(c[i], norms[i]), gram)
	w = e.weights(rest, norms, logPrior)
	w[i] = math.Inf(-1)
	j := floats.MaxIdx(w)
	q := quadratic{e: e}
	q.set(c[i], c[j], norms[i], norms[j], gram[j])
	return q.log() + logPrior[i] + logPrior[j]
}

// newPairs returns the pairs of n nodes, without probabilities, and the log mass of their prior.
func newPairs(logPrior []float64) (*Pairs, float64, error) {
	n, logMass := len(logPrior), logDistinct(logPrior)-math.Ln2
	if math.IsInf(logMass, -1) {
		return nil, 0, fmt.Errorf("%w: the prior leaves no two nodes", ErrInvalid)
	}
	return &Pairs{n: n, p: make([]float64, n*(n-1)/2), Probability: make([]float64, n)}, logMass, nil
}

// normalize turns log weights into probabilities; logMass is that of the prior.
func (p *Pairs) normalize(logMass float64) {
	total := logSum(p.p)
	p.LogPresence = total - logMass
	for j := range p.n {
		for i := range j {
			at := j*(j-1)/2 + i
			v := math.Exp(p.p[at] - total)
			p.p[at] = v
			p.Probability[i] += v
			p.Probability[j] += v
		}
	}
}

// logDistinct returns log Σ π_i π_j over two different nodes, in order: twice the elementary symmetric polynomial, node by node, a sum of
// terms ≥ 0 that neither cancels nor underflows. −Inf where fewer nodes have π > 0.
func logDistinct(logPrior []float64) float64 {
	one, two := math.Inf(-1), math.Inf(-1)
	for _, l := range logPrior {
		if !math.IsInf(l, -1) {
			one, two = logAdd(one, l), logAdd(two, l+math.Ln2+one)
		}
	}
	return two
}

// quadratic is the log likelihood of two amplitudes.
type quadratic struct {
	e             evidence
	c1, c2        float64
	n1, n2, cross float64
}

// set keeps the sharper amplitude outside the closed form inside.
func (q *quadratic) set(c1, c2, n1, n2, cross float64) {
	if n1 < n2 {
		c1, c2, n1, n2 = c2, c1, n2, n1
	}
	q.c1, q.c2, q.n1, q.n2, q.cross = c1, c2, n1, n2, cross
}

// peak returns the largest exponent over 0 ≤ a, b ≤ 1.
func (q *quadratic) peak() float64 {
	value := func(a, b float64) float64 {
		return a*q.c1 + b*q.c2 - (a*a*q.n1+b*b*q.n2)/2 - a*b*q.cross
	}
	if q.e.unit == 1 {
		return value(1, 1)
	}
	best := 0.0
	for _, t := range [2]float64{0, 1} {
		b := q.e.likeliest(q.c2-t*q.cross, q.n2)
		a := q.e.likeliest(q.c1-t*q.cross, q.n1)
		best = max(best, value(t, b), value(a, t))
	}
	if det := q.n1*q.n2 - q.cross*q.cross; det > 0 {
		a, b := (q.c1*q.n2-q.c2*q.cross)/det, (q.c2*q.n1-q.c1*q.cross)/det
		if a > 0 && a < 1 && b > 0 && b < 1 {
			best = max(best, value(a, b))
		}
	}
	return best
}

// log returns the log evidence of the pair. Where an amplitude may be 1 itself as well as
// uniform, it is the sum over the cases of both.
func (q *quadratic) log() float64 {
	switch e := q.e; e.unit {
	case 0:
		return q.uniform()
	case 1:
		return q.peak()
	default:
		one := q.c1 - q.n1/2 + e.log(q.c2-q.cross, q.n2) // the first is 1
		second := q.c2 - q.n2/2 + e.uniform(q.c1-q.cross, q.n1)
		return e.mix(one, e.mix(second, q.uniform()))
	}
}

// uniform is log for uniform amplitudes: the closed form in a, quadrature in b over the
// part of [0, 1] where the integrand is within e⁻⁴⁰ of its peak. The integrand is
// log-concave in b.
func (q *quadratic) uniform() float64 {
	h := func(b float64) float64 {
		return b*q.c2 - b*b*q.n2/2 + q.e.uniform(q.c1-b*q.cross, q.n1)
	}
	if math.Abs(q.c2)+q.n2+math.Abs(q.cross) <= legendreLimit/2 {
		return q.panel(h, 0, 1)
	}
	peak := golden(h)
	top := h(peak)
	edge := func(end float64) float64 { // bisects for h = top − 40
		in, out := peak, end
		if h(end) > top-40 {
			return end
		}
		for range 30 {
			if mid := (in + out) / 2; h(mid) > top-40 {
				in = mid
			} else {
				out = mid
			}
		}
		return out
	}
	lo, hi := edge(0), edge(1)
	mid1, mid2 := (lo+peak)/2, (peak+hi)/2
	return logSum([]float64{q.panel(h, lo, mid1), q.panel(h, mid1, peak), q.panel(h, peak, mid2), q.panel(h, mid2, hi)})
}

// panel is log ∫ e^h over [lo, hi] by the Gauss–Legendre rule.
func (q *quadratic) panel(h func(float64) float64, lo, hi float64) float64 {
	if hi <= lo {
		return math.Inf(-1)
	}
	v := make([]float64, len(q.e.at))
	for i, t := range q.e.at {
		v[i] = h(lo+t*(hi-lo)) + math.Log(q.e.w[i])
	}
	return logSum(v) + math.Log(hi-lo)
}

// golden returns the argument of the maximum of a concave function on [0, 1].
func golden(h func(float64) float64) float64 {
	const ratio = 0.6180339887498949
	lo, hi := 0.0, 1.0
	a, b := hi-ratio, lo+ratio
	ha, hb := h(a), h(b)
	for range 40 {
		if ha >= hb {
			hi, b, hb = b, a, ha
			a = hi - ratio*(hi-lo)
			ha = h(a)
		} else {
			lo, a, ha = a, b, hb
			b = lo + ratio*(hi-lo)
			hb = h(b)
		}
	}
	return (lo + hi) / 2
}
