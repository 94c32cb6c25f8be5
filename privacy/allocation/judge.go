// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// SketchTrials is the number of releases that a sketch simulates at first. Accuracy is a mean of
// posterior probabilities, not of zeros and ones, which vary more.
const SketchTrials = 1000

// pivotTolerance is the share of the largest variance, and pivotNats that in nats², below which
// noise is left out of a sketch: log-likelihoods that are off by a three-hundredth change no answer.
const (
	pivotTolerance = 1e-12
	pivotNats      = 1e-5
)

// judgement simulates releases of a source of amplitude 1, which is known, under unit noise.
// The posterior depends on the differences of readings alone, through their inner
// products, so that a trial costs the square of the sample whatever the number of sensors.
type judgement struct {
	ctx        context.Context
	nodes      []int
	labels     []int
	count      int
	prior      cumulative
	distances  func(int) []float64
	gram, root *mat.Dense
	start      []float64 // log posterior but for what depends on the release
	trials     int       // done
	sums       tally
}

// tally is sums over trials.
type tally struct{ accuracy, accuracySquare, loss, distance, distanceSquare float64 }

// judge simulates; row k of z is what the sensors read of node k of the sample.
func (c *channel) judge(z *mat.Dense) Sketch {
	j := &judgement{
		ctx: c.p.ctx, nodes: c.nodes, labels: c.labels, count: c.p.count, prior: cumulate(c.prior), distances: c.p.opts.Distances,
		gram: centredGram(z), start: make([]float64, len(c.prior)),
	}
	j.root = gramRoot(j.gram, pivotNats)
	for i, v := range c.prior {
		j.start[i] = math.Log(v) - j.gram.At(i, i)/2
	}
	s := Sketch{judged: j}
	_ = s.Simulate(SketchTrials) // the caller of a sketch reports the context's error
	return s
}

// Simulate goes on until so many releases are simulated, of the same sources and noise for
// every sketch. Where the context of the sketch ends before, it returns the error of that and
// leaves the sketch as it was: sums over a part of the releases are no means.
func (s *Sketch) Simulate(trials int) error {
	j := s.judged
	part := make([]tally, batches)
	parallel.Each(batches, func(k int) { part[k] = j.simulate(j.trials+k, trials) })
	if err := j.ctx.Err(); err != nil {
		return err
	}
	for _, o := range part {
		j.sums.add(o)
	}
	j.trials = max(j.trials, trials)
	n, sum := float64(j.trials), j.sums
	s.Accuracy, s.Loss, s.Distance = sum.accuracy/n, sum.loss/n, sum.distance/n
	s.AccuracyError, s.DistanceError = standardError(s.Accuracy, sum.accuracySquare/n, n),
		standardError(s.Distance, sum.distanceSquare/n, n)
	return nil
}

func (m *tally) add(o tally) {
	m.accuracy += o.accuracy
	m.accuracySquare += o.accuracySquare
	m.loss += o.loss
	m.distance += o.distance
	m.distanceSquare += o.distanceSquare
}

// simulate returns the sums of every [batches]-th trial.
func (j *judgement) simulate(from, to int) tally {
	h, rank := j.root.Dims()
	var m tally
	noise, post, weight := make([]float64, rank), make([]float64, h), make([]float64, j.count)
	for trial := from; trial < to && j.ctx.Err() == nil; trial += batches {
		random := rand.New(rand.NewPCG(1, uint64(trial))) // public on purpose: this noise hides nothing
		for s := range noise {
			noise[s] = random.NormFloat64()
		}
		_, quantile := math.Modf((float64(trial) + .5) * math.Phi) // evenly spread at any number of trials
		source := j.prior.at(quantile)
		copy(post, j.gram.RawRowView(source))
		for i := range post {
			post[i] += j.start[i] + floats.Dot(j.root.RawRowView(i), noise)
		}
		j.addTrial(&m, post, weight, source)
	}
	return m
}

// addTrial adds a trial whose log posterior, up to a constant, is post. The posterior is that
// of the simulation itself, so its largest probability has the mean of being right.
func (j *judgement) addTrial(m *tally, post, weight []float64, source int) {
	floats.AddConst(-floats.LogSumExp(post), post)
	clear(weight)
	for i, v := range post {
		post[i] = math.Exp(v)
		weight[j.labels[i]] += post[i]
	}
	right, distance := floats.Max(weight), j.distance(source, post)
	m.add(tally{right, right * right, -math.Log(max(weight[j.labels[source]], leastProbability)), distance, distance * distance})
}

// centredGram returns the inner products of the rows of z less their mean.
func centredGram(z *mat.Dense) *mat.Dense {
	h, _ := z.Dims()
	half := blas64.Symmetric{N: h, Stride: h, Uplo: blas.Upper, Data: make([]float64, h*h)}
	blas64.Syrk(blas.NoTrans, 1, z.RawMatrix(), 0, half)
	g := mat.NewDense(h, h, half.Data)
	for i := range h {
		for j := range i {
			g.Set(i, j, g.At(j, i))
		}
	}
	mean := make([]float64, h)
	for i := range mean {
		mean[i] = floats.Sum(g.RawRowView(i)) / float64(h)
	}
	all := floats.Sum(mean) / float64(h)
	for i := range mean {
		row := g.RawRowView(i)
		for j := range row {
			row[j] += all - mean[i] - mean[j]
		}
	}
	return g
}

// gramRoot returns R with RRᵀ = g but for [pivotTolerance] and variances below least: standard normal x give Rx the
// covariance g. g is often singular, where only pivoting keeps rounding small (Higham,
// Accuracy and Stability, 2002, §10.3).
func gramRoot(g *mat.Dense, least float64) *mat.Dense {
	h, _ := g.Dims()
	most := 0.0
	for i := range h {
		most = max(most, g.At(i, i))
	}
	if !(most > least) {
		return mat.NewDense(h, 1, nil)
	}
	var c mat.PivotedCholesky
	c.Factorize(symmetric{g}, max(least, pivotTolerance*most))
	var u mat.TriDense
	c.UTo(&u)
	r := mat.NewDense(h, c.Rank(), nil)
	for k, i := range c.ColumnPivots(nil) {
		for j := range min(k+1, c.Rank()) {
			r.Set(i, j, u.At(j, k))
		}
	}
	return r
}

// symmetric is a square matrix of which only the upper triangle is read.
type symmetric struct{ *mat.Dense }

// SymmetricDim returns the order.
func (s symmetric) SymmetricDim() int {
	n, _ := s.Dims()
	return n
}

// distance is the mean distance of the posterior from a source within its component.
func (j *judgement) distance(source int, post []float64) float64 {
	if j.distances == nil {
		return 0
	}
	d := j.distances(j.nodes[source])
	var sum, share float64
	for i, v := range post {
		if x := d[j.nodes[i]]; !math.IsInf(x, 1) {
			sum, share = sum+v*x, share+v
		}
	}
	if share == 0 {
		return 0
	}
	return sum / share
}

// Sketch says roughly what the noise of one operator is worth, so that operators can be
// compared: means over simulated releases of one source among a sample of the nodes.
type Sketch struct {
	Accuracy float64 // probability that the likeliest community is the true one
	Loss     float64 // −log of the probability of the true community, in nats
	Distance float64 // of the posterior from the source, within its component; 0 without [Options].Distances

	AccuracyError, DistanceError float64 // standard errors

	Sensitivity float64 // for α, of equal noise at all sensors, roughly; 0 where that is not simulated

	judged *judgement
}
