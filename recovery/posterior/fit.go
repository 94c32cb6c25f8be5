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
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
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

// omnibusWeight is the weight of a large residual of any kind beside each of the explanations.
const omnibusWeight = 0.25

// judge measures what speaks against one source under the model: the logarithm of a mean of ratios, each of
// which has mean 1 under the model, or about 1:
//
//   - the evidence of one source with a uniform background beside it, to that of one source;
//   - the evidence of a further source beside the one that fits best;
//   - 1/(2√p) for the p-value p of its residual.
//
// So it is large where any of them is, and what it loses by looking at all is at most the logarithm of their
// number. A ratio of evidence is the most powerful test of the model against that explanation, on average over
// the sources that the prior allows (J. Neyman and E. S. Pearson, 1933).
type judge struct {
	k          *checker
	model      *quickEvidence
	background []backgrounds // none: none is supposed
	h, v       []float64     // one unit of background, and Aᵀ of it
}

type backgrounds struct {
	deviation, square float64 // of b, and ‖h‖²
	*quickEvidence
}

// newJudge returns [ErrInvalid] for a background at other sensors.
func newJudge(k *checker, opts CheckOptions) (*judge, error) {
	m, n := k.d.A.Dims()
	j := &judge{k: k, model: newQuickEvidence(k.candidates)}
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
			b.quickEvidence = newQuickEvidence(candidates{k.e, norms, k.logPrior})
			j.background = append(j.background, b)
		}
	}
	return j, nil
}

// backgroundDeviations are the standard deviations of a background that are supposed.
var backgroundDeviations = []float64{0.01, 0.1, 1}

// Background returns the log evidence, against no source, of one source and a background
// b·h beside it, b ~ N(0, s²) for s = 0.01, 0.1 and 1, each as likely. The background is
// integrated in closed form: with κ = s²/(1 + s²‖h‖²) and v = Aᵀh, c and N become
// c − κ(hᵀy)v and N − κv², and κ(hᵀy)²/2 − ½log(1 + s²‖h‖²) is added.
func Background(ctx context.Context, d measurement.Data, h []float64, opts Options) (float64, error) {
	c, norms, logPrior, err := sufficient(ctx, d, opts)
	if err != nil {
		return 0, err
	}
	k := &checker{d: d, candidates: candidates{newEvidence(opts.Amplitude), norms.N, logPrior}}
	j, err := newJudge(k, CheckOptions{Background: h})
	if err != nil {
		return 0, err
	}
	return j.backgroundLog(d.Y, c), nil
}

// judged is what is found of some measurements.
type judged struct {
	node      int // of the source that fits best
	amplitude float64
	residual  float64
	against   float64 // the logarithm of the mean
	// unlikely bounds the probability, under the model, that the residual or the evidence of a background is so large: a ratio of evidence
	// is x with a probability of at most 1/x (Markov), on average over the kinds of amplitudes.
	unlikely float64
}

// measure judges measurements, of which y has one column each.
func (j *judge) measure(y []float64, width int) []judged {
	m, n := j.k.d.A.Dims()
	product := func(y []float64) []float64 {
		w := make([]float64, n*width)
		linop.MulBlockTo(j.k.d.A, w, true, y, width)
		return w
	}
	c := product(y)
	out, nodes := make([]judged, width), make([]int, width)
	for t, s := range j.k.best(c, width) {
		out[t].node, out[t].amplitude, nodes[t] = s.node, s.amplitude, s.node
	}
	columns, rest := make([]float64, m*width), slices.Clone(y)
	linop.ColumnsTo(j.k.d.A, columns, nodes)
	for t := range width {
		for s, v := range columns[t*m : (t+1)*m] {
			rest[s*width+t] -= out[t].amplitude * v
		}
	}
	beside := product(rest)
	parallel.Each(width, func(t int) {
		at := func(x []float64, k int) []float64 { return stride(x, t, width, k) }
		j.weigh(&out[t], at(y, m), at(c, n), at(rest, m), at(beside, n))
	})
	return out
}

// weigh sets what speaks against the model: c and beside are Aᵀ of y and of the rest.
func (j *judge) weigh(out *judged, y, c, rest, beside []float64) {
	left := j.k.residual(rest)
	one, tail := j.model.logSum(c), 3*j.k.tail(left)
	out.residual = left.square
	omnibus := math.Log(omnibusWeight/2) - math.Log(min(1, max(tail, math.SmallestNonzeroFloat64)))/2
	logs, unlikely := []float64{j.model.logSum(beside), omnibus}, tail
	if j.h != nil {
		background := j.backgroundLog(y, c) - one
		logs = append(logs, background)
		unlikely = 2 * min(tail, float64(len(j.k.e.kinds()))*math.Exp(-background))
	}
	out.against, out.unlikely = logSum(logs)-math.Log(float64(len(logs)-1)+omnibusWeight), unlikely
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
	sums := cumulative(j.k.logPrior)
	kinds := j.k.e.kinds()
	law := make(fitLaw, len(kinds))
	y, columns := make([]float64, m*checkBlock), make([]float64, m*checkBlock)
	for kind, a := range kinds {
		for at := 0; at < trials; at += checkBlock {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			width := min(checkBlock, trials-at)
			j.drawBlock(y[:m*width], columns[:m*width], a, sums, uint64(kind*trials+at))
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

// drawBlock fills y with measurements of sources, one a column: sums are those of the prior, and first the stream of random
// numbers of the first, none that [noiseBlock.draw] takes.
func (j *judge) drawBlock(y, columns []float64, a Amplitude, sums []float64, first uint64) {
	m, _ := j.k.d.A.Dims()
	width := len(y) / m
	nodes, amplitudes, streams := make([]int, width), make([]float64, width), make([]*rand.Rand, width)
	for t := range width {
		streams[t] = rand.New(rand.NewPCG(j.k.seed, first+uint64(t)|1<<63))
		nodes[t], amplitudes[t] = drawn(sums, streams[t]), 1
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
	return &Check{Residual: of.residual, Fit: l.pValue(of), FitTrials: len(l[0])}
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
