// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
)

// fitWork bounds, as entries of A times trials, the products of the law of the fit; mostFits and leastFits
// bound the trials of each kind: of 1199 a p-value can be 1/1200, below .001.
const (
	fitWork   = 2e8
	mostFits  = 1199
	leastFits = 199
)

// fitTrials returns how many measurements of one source are simulated unless it is said.
func (o CheckOptions) fitTrials(a linop.Operator) int {
	if o.Trials > 0 {
		return o.Trials
	}
	m, n := a.Dims()
	return int(min(mostFits, max(leastFits, math.Floor(fitWork/float64(m)/float64(n)))))
}

// suspected is the rate of broken sensors that the fit is held against, and omnibusWeight that of a large
// residual of any kind beside each of the explanations.
const (
	suspected     = 0.02
	omnibusWeight = 0.25
)

// judge measures what speaks against one source under the model: the logarithm of a mean of ratios, each of
// which has mean 1 under the model, or nearly so:
//
//   - the evidence of louder noise, of a uniform background, of another τ, and of a weaker source where amplitude
//     1 is supposed, to that of one source;
//   - the evidence of a further source beside the one that fits best;
//   - the likelihood of that one where sensors may be broken;
//   - 1/(2√p) for the p-value p of its residual.
//
// So it is large where any of them is, and what it loses by looking at all is at most the logarithm of their
// number. A ratio of evidence is the most powerful test of the model against that explanation, on average over
// the sources that the prior allows (J. Neyman and E. S. Pearson, 1933).
type judge struct {
	k          *checker
	model      *quickEvidence
	weaker     *quickEvidence // nil: amplitudes may be below 1 under the model too
	louder     []louderNoise
	background []backgrounds
	h, v       []float64 // one unit of background, and Aᵀ of it
	others     []otherOperator
}

type louderNoise struct {
	scale float64 // of the noise
	*quickEvidence
}

type backgrounds struct {
	deviation, square float64 // of b, and ‖h‖²
	*quickEvidence
}

type otherOperator struct {
	a linop.Operator
	*quickEvidence
}

// newJudge returns [ErrInvalid] for a background and for operators of other measurements.
func newJudge(ctx context.Context, k *checker, opts CheckOptions) (*judge, error) {
	m, n := k.d.A.Dims()
	quick := func(e evidence, norms []float64) *quickEvidence { return newQuickEvidence(e, norms, k.logPrior) }
	j := &judge{k: k, model: quick(k.e, k.norms)}
	if k.e.unit == 1 {
		j.weaker = quick(newEvidence(UniformAmplitude), k.norms)
	}
	for _, s := range louderBy {
		j.louder = append(j.louder, louderNoise{s, quick(k.e, scaled(1/(s*s), k.norms))})
	}
	if h := opts.Background; h != nil {
		if len(h) != m {
			return nil, fmt.Errorf("%w: a background at %d sensors, want %d", ErrInvalid, len(h), m)
		}
		j.h, j.v = h, make([]float64, n)
		k.d.A.MulVecTo(j.v, true, h)
		for _, s := range backgroundDeviations {
			b := backgrounds{deviation: s, square: floats.Dot(h, h)}
			norms := make([]float64, n)
			for i, x := range j.v {
				norms[i] = max(0, k.norms[i]-b.shrink()*x*x)
			}
			b.quickEvidence = quick(k.e, norms)
			j.background = append(j.background, b)
		}
	}
	for _, a := range opts.Others {
		if r, c := a.Dims(); r != m || c != n {
			return nil, fmt.Errorf("%w: another operator is %d × %d, want %d × %d", ErrInvalid, r, c, m, n)
		}
		norms, err := ColumnNorms(ctx, measurement.Data{A: a}, Options{})
		if err != nil {
			return nil, err
		}
		j.others = append(j.others, otherOperator{a, quick(k.e, norms.N)})
	}
	return j, nil
}

// judged is what is found of some measurements.
type judged struct {
	node      int // of the source that fits best
	amplitude float64
	residual  float64
	against   float64 // the logarithm of the mean
	// unlikely bounds the probability, under the model, that its exact parts are so large: a ratio of evidence
	// is x with a probability of at most 1/x (Markov), on average over the kinds of amplitudes.
	unlikely float64
}

// measure judges measurements, of which y has one column each.
func (j *judge) measure(y []float64, width int) []judged {
	m, n := j.k.d.A.Dims()
	product := func(a linop.Operator, y []float64) []float64 {
		w := make([]float64, n*width)
		linop.MulBlockTo(a, w, true, y, width)
		return w
	}
	c := product(j.k.d.A, y)
	out, nodes := make([]judged, width), make([]int, width)
	for t, s := range j.k.best(c, nil, width) {
		out[t].node, out[t].amplitude, nodes[t] = s.node, s.amplitude, s.node
	}
	columns, rest := make([]float64, m*width), slices.Clone(y)
	linop.ColumnsTo(j.k.d.A, columns, nodes)
	for t := range width {
		for s, v := range columns[t*m : (t+1)*m] {
			rest[s*width+t] -= out[t].amplitude * v
		}
	}
	beside := product(j.k.d.A, rest)
	others := make([][]float64, len(j.others))
	for i, o := range j.others {
		others[i] = product(o.a, y)
	}
	parallel.Each(width, func(t int) {
		at := func(x []float64, k int) []float64 { return stride(x, t, width, k) }
		var under [][]float64
		for _, x := range others {
			under = append(under, at(x, n))
		}
		j.weigh(&out[t], at(y, m), at(c, n), at(rest, m), at(beside, n), under)
	})
	return out
}

// weigh sets what speaks against the model: c and beside are Aᵀ of y and of the rest, under that of the other
// operators.
func (j *judge) weigh(out *judged, y, c, rest, beside []float64, under [][]float64) {
	left := j.k.residuals(rest, 1)[0]
	one, tail := j.model.logSum(c), 3*j.k.tail(left)
	out.residual = left.square
	exact := []float64{j.louderLog(y, c) - one}
	if j.weaker != nil {
		exact = append(exact, j.weaker.logSum(c)-one)
	}
	if j.h != nil {
		exact = append(exact, j.backgroundLog(y, c)-one)
	}
	if len(under) > 0 {
		var logs []float64
		for i, w := range under {
			logs = append(logs, j.others[i].logSum(w))
		}
		exact = append(exact, logMean(logs)-one)
	}
	omnibus := math.Log(omnibusWeight/2) - math.Log(min(1, max(tail, math.SmallestNonzeroFloat64)))/2
	logs := append(slices.Clone(exact), j.model.logSum(beside), brokenLog(rest), omnibus)
	out.against = logSum(logs) - math.Log(float64(len(logs)-1)+omnibusWeight)
	out.unlikely = float64(len(exact)+1) * min(tail, float64(len(j.k.e.kinds()))*math.Exp(-floats.Max(exact)))
}

// louderLog is [Louder].
func (j *judge) louderLog(y, c []float64) float64 {
	square, m := floats.Dot(y, y), float64(len(y))
	var logs []float64
	for _, l := range j.louder {
		by := 1 / (l.scale * l.scale)
		logs = append(logs, l.logSum(scaled(by, c))+square*(1-by)/2-m*math.Log(l.scale))
	}
	return logMean(logs)
}

// backgroundLog is [Background].
func (j *judge) backgroundLog(y, c []float64) float64 {
	along := floats.Dot(j.h, y)
	var logs []float64
	for _, b := range j.background {
		shifted := slices.Clone(c)
		floats.AddScaled(shifted, -b.shrink()*along, j.v)
		logs = append(logs, b.logSum(shifted)+b.gain(along))
	}
	return logMean(logs)
}

// shrink is κ = s²/(1 + s²‖h‖²).
func (b backgrounds) shrink() float64 {
	return b.deviation * b.deviation / (1 + b.deviation*b.deviation*b.square)
}

// gain is what a background alone adds to the evidence, along being hᵀy.
func (b backgrounds) gain(along float64) float64 {
	return b.shrink()*along*along/2 - math.Log1p(b.deviation*b.deviation*b.square)/2
}

// brokenLog is the logarithm of the likelihood of a residual where each sensor is broken with a known
// probability, to that of sound sensors.
func brokenLog(rest []float64) float64 {
	sum := 0.0
	for _, r := range rest {
		sum += logAdd(math.Log1p(-suspected), math.Log(suspected)+logUnknown(r)-logNormal(r))
	}
	return sum
}

// fitLaw holds, for each kind of amplitudes that the prior allows, what speaks against the model in trials where it
// holds, of sources drawn from the prior, in ascending order.
type fitLaw [][]float64

// kinds are the priors of an amplitude of one kind that the prior mixes.
func (e evidence) kinds() []Amplitude {
	switch e.unit {
	case 0:
		return []Amplitude{UniformAmplitude}
	case 1:
		return []Amplitude{UnitAmplitude}
	default:
		return []Amplitude{UnitAmplitude, UniformAmplitude}
	}
}

// law simulates it.
func (j *judge) law(ctx context.Context, trials int, progress func(string, int64, int64)) (fitLaw, error) {
	m, _ := j.k.d.A.Dims()
	total, cumulative := 0.0, make([]float64, len(j.k.logPrior))
	for i, l := range j.k.logPrior {
		total += math.Exp(l)
		cumulative[i] = total
	}
	kinds := j.k.e.kinds()
	law := make(fitLaw, len(kinds))
	y, columns := make([]float64, m*checkBlock), make([]float64, m*checkBlock)
	for kind, a := range kinds {
		for at := 0; at < trials; at += checkBlock {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			width := min(checkBlock, trials-at)
			j.drawBlock(y[:m*width], columns[:m*width], a, cumulative, uint64(kind*trials+at))
			for _, found := range j.measure(y[:m*width], width) {
				law[kind] = append(law[kind], found.against)
			}
			if progress != nil {
				progress("check the fit", int64(kind*trials+at+width), int64(len(kinds)*trials))
			}
		}
		slices.Sort(law[kind])
	}
	return law, nil
}

// drawBlock fills y with measurements of sources, one a column: cumulative is the prior, and first the stream of random
// numbers of the first, none that [noiseBlock.draw] takes.
func (j *judge) drawBlock(y, columns []float64, a Amplitude, cumulative []float64, first uint64) {
	m, _ := j.k.d.A.Dims()
	width := len(y) / m
	nodes, amplitudes, streams := make([]int, width), make([]float64, width), make([]*rand.Rand, width)
	for t := range width {
		streams[t] = rand.New(rand.NewPCG(j.k.seed, first+uint64(t)|1<<63))
		u := streams[t].Float64() * cumulative[len(cumulative)-1]
		nodes[t] = min(sort.Search(len(cumulative), func(i int) bool { return cumulative[i] > u }), len(cumulative)-1)
		amplitudes[t] = 1
		if a == UniformAmplitude {
			amplitudes[t] = streams[t].Float64()
		}
	}
	linop.ColumnsTo(j.k.d.A, columns, nodes)
	for t, random := range streams {
		for s, v := range columns[t*m : (t+1)*m] {
			y[s*width+t] = amplitudes[t]*v + random.NormFloat64()
		}
	}
}

// pValue is the largest, over the kinds, of the share of trials, of all and of the measurements, that speak
// as clearly against the model; less where none does and the exact parts alone say so.
func (l fitLaw) pValue(of judged) float64 {
	p, most := 0.0, math.Inf(-1)
	for _, kind := range l {
		below := sort.SearchFloat64s(kind, of.against)
		p = max(p, float64(len(kind)-below+1)/float64(len(kind)+1))
		most = max(most, kind[len(kind)-1])
	}
	if of.against > most {
		p = min(p, of.unlikely)
	}
	return p
}

// check is the test of some measurements.
func (l fitLaw) check(of judged) *Check {
	return &Check{Node: of.node, Amplitude: of.amplitude, Residual: of.residual, Fit: l.pValue(of), FitTrials: len(l[0])}
}

// tail returns the least of three probabilities that noise alone leaves as large a
// residual: χ² of all measurements, χ² along the visible directions, and the largest.
func (k *checker) tail(r residual) float64 {
	rows, _ := k.d.A.Dims()
	m := float64(rows)
	p := mathext.GammaIncRegComp(m/2, r.square/2)
	if k.visible != nil {
		directions, _ := k.visible.Dims()
		p = min(p, mathext.GammaIncRegComp(float64(directions)/2, r.along/2))
	}
	return min(p, -math.Expm1(m*math.Log1p(-2*tail(r.largest))))
}
