// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// sketchTrials is the number of releases that a sketch simulates. Accuracy is a mean of
// posterior probabilities, not of zeros and ones, which vary more.
const sketchTrials = 2000

// pivotTolerance is the share of the largest variance below which noise is left out of a
// sketch.
const pivotTolerance = 1e-12

// judge simulates releases of a source of amplitude 1, which is known, under unit noise;
// row k of z is what the sensors read of node k of the sample. The posterior depends on
// the differences of these rows alone, through their inner products, so that a trial costs
// the square of the sample whatever the number of sensors.
func (c *channel) judge(z *mat.Dense) Sketch {
	gram := centredGram(z)
	root := gramRoot(gram)
	h, rank := root.Dims()
	start := make([]float64, h) // log posterior but for what depends on the release
	for i := range start {
		start[i] = math.Log(c.prior[i]) - gram.At(i, i)/2
	}
	total := cumulate(c.prior)
	part := make([]Sketch, batches)
	parallel(batches, func(k int) {
		noise, post, weight := make([]float64, rank), make([]float64, h), make([]float64, c.p.count)
		for trial := k; trial < sketchTrials && c.p.ctx.Err() == nil; trial += batches {
			random := rand.New(rand.NewPCG(1, uint64(trial))) // public on purpose: this noise hides nothing
			for s := range noise {
				noise[s] = random.NormFloat64()
			}
			source := total.at((float64(trial) + .5) / sketchTrials)
			copy(post, gram.RawRowView(source))
			for i := range post {
				post[i] += start[i] + floats.Dot(root.RawRowView(i), noise)
			}
			c.count(&part[k], post, weight, source)
		}
	})
	var s Sketch
	for _, o := range part {
		s.Accuracy += o.Accuracy / sketchTrials
		s.Loss += o.Loss / sketchTrials
		s.Distance += o.Distance / sketchTrials
	}
	return s
}

// count adds a trial whose log posterior, up to a constant, is post. The posterior is that
// of the simulation itself, so its largest probability has the mean of being right.
func (c *channel) count(s *Sketch, post, weight []float64, source int) {
	floats.AddConst(-floats.LogSumExp(post), post)
	clear(weight)
	for i, v := range post {
		post[i] = math.Exp(v)
		weight[c.labels[i]] += post[i]
	}
	s.Accuracy += floats.Max(weight)
	s.Loss -= math.Log(max(weight[c.labels[source]], tiny))
	s.Distance += c.distance(source, post)
}

// centredGram returns the inner products of the rows of z less their mean.
func centredGram(z *mat.Dense) *mat.Dense {
	h, _ := z.Dims()
	g := mat.NewDense(h, h, nil)
	g.Mul(z, z.T())
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

// gramRoot returns R with RRᵀ = g but for [pivotTolerance]: standard normal x give Rx the
// covariance g. g is often singular, where only pivoting keeps rounding small (Higham,
// Accuracy and Stability, 2002, §10.3).
func gramRoot(g *mat.Dense) *mat.Dense {
	h, _ := g.Dims()
	most := 0.0
	for i := range h {
		most = max(most, g.At(i, i))
	}
	if !(most > 0) {
		return mat.NewDense(h, 1, nil)
	}
	var c mat.PivotedCholesky
	c.Factorize(symmetric{g}, pivotTolerance*most)
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
func (c *channel) distance(source int, post []float64) float64 {
	if c.p.opts.Distances == nil {
		return 0
	}
	d := c.p.opts.Distances(c.nodes[source])
	var sum, share float64
	for i, v := range post {
		if x := d[c.nodes[i]]; !math.IsInf(x, 1) {
			sum, share = sum+v*x, share+v
		}
	}
	if share == 0 {
		return 0
	}
	return sum / share
}
