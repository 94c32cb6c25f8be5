// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// channel simulates releases Y of a single source of amplitude 1, and the posterior
// of its community C with the amplitude unknown, a ~ U[0, 1]. Sources are the quantiles
// of the prior over the nodes, or over a sample of them stratified by community, and each
// trial has noise of its own, the same for every u (common random numbers): the functions
// below are smooth in u and deterministic.
type channel struct {
	p      *problem
	nodes  []int
	labels []int
	prior  []float64
	x      *mat.Dense // rows of M, node by node
	trials int
}

// Sizes of a simulation.
const (
	maxProducts = 1 << 29 // multiplications in all trials
	batches     = 20      // of trials, each summed on its own
	perLevel    = 20      // multiplications that take as long as a level of the amplitude at a node
)

func (p *problem) newChannel() *channel {
	nodes := p.sampleNodes(p.size.hypotheses)
	c := &channel{p: p, x: mat.NewDense(len(nodes), p.rows.k, nil)}
	c.trials = min(p.size.maxReleases, max(p.size.minReleases, maxProducts/(len(nodes)*p.rows.k)))
	for k, i := range nodes {
		c.x.SetRow(k, p.rows.readings(int32(i)))
	}
	c.sample(nodes)
	return c
}

// outcome is a mean over trials.
type outcome struct {
	loss       float64   // −log of the probability of the true community
	slope      []float64 // E Var(E[a M_s X | Y, C] | Y)
	incomplete bool      // the work is not allowed, or the context ended before the last trial
}

// evaluate simulates under u. With X the source and its amplitude drawn from the
// prior, −∂H(C|Y)/∂u_s is ½E Var(E[a M_s X | Y, C] | Y), the variance between
// communities of the expected reading of sensor s, since ∂I(X;Y)/∂u_s = ½E Var(a M_s X | Y) (Guo,
// Shamai & Verdú, IEEE Trans. Inf. Theory 51, 2005, arXiv:cs/0412108) and I(C;Y) = I(X;Y) − I(X;Y|C). At u = 0 it is the
// separation of the communities, weighted by the prior. Since trials have amplitude 1, the slope is only a search
// direction, and steps are accepted by the loss. An incomplete outcome is not to be used.
func (c *channel) evaluate(u []float64, slopes bool) outcome {
	z, on := c.whiten(u)
	n := len(c.labels)
	c.p.charge(c.trials * n * (len(on) + perLevel*c.p.size.levels))
	if c.p.expired() {
		return outcome{incomplete: true}
	}
	half := make([]float64, n)
	for i := range half {
		half[i] = floats.Dot(z.RawRowView(i), z.RawRowView(i)) / 2
	}
	total := cumulate(c.prior)
	part := make([]outcome, batches)
	parallel.Each(batches, func(k int) {
		o := &part[k]
		if slopes {
			o.slope = make([]float64, c.p.rows.k)
		}
		noise, y := make([]float64, c.p.rows.k), make([]float64, len(on))
		post, mean := make([]float64, n), make([]float64, n)
		for trial := k; trial < c.trials; trial += batches {
			if o.incomplete = c.p.ctx.Err() != nil; o.incomplete {
				return
			}
			// The seed is public on purpose: this noise hides nothing.
			random := rand.New(rand.NewPCG(1, uint64(trial)))
			for s := range noise {
				noise[s] = random.NormFloat64()
			}
			source := total.at((float64(trial) + .5) / float64(c.trials))
			x := z.RawRowView(source)
			for j, s := range on {
				y[j] = x[j] + noise[s]
			}
			c.posterior(post, mean, z, y, half)
			c.add(o, post, mean, c.labels[source])
		}
	})
	var o outcome
	if slopes {
		o.slope = make([]float64, c.p.rows.k)
	}
	for _, v := range part {
		o.incomplete = o.incomplete || v.incomplete
		o.loss += v.loss / float64(c.trials)
		axpy(1, v.slope, o.slope)
	}
	return o
}

// whiten returns √u_s M_si/r of the reporting sensors, and which they are.
func (c *channel) whiten(u []float64) (z *mat.Dense, on []int) {
	for s, v := range u {
		if v > 0 {
			on = append(on, s)
		}
	}
	n := len(c.labels)
	z = mat.NewDense(n, len(on), nil)
	for i := range n {
		x, dst := c.x.RawRowView(i), z.RawRowView(i)
		for j, s := range on {
			dst[j] = math.Sqrt(u[s]) / c.p.opts.Noise * x[s]
		}
	}
	return z, on
}

// posterior writes the probability of every node given y, and the posterior mean of
// the amplitude there.
func (c *channel) posterior(post, mean []float64, z *mat.Dense, y, half []float64) {
	for i := range mean {
		mean[i] = floats.Dot(y, z.RawRowView(i))
	}
	integrate(post, mean, half, c.prior, c.p.size.levels)
}

// directionGap is the relative gap of a programme whose solution is only a search direction.
const directionGap = .01

// minGain is the least relative decrease of the loss for which a step is accepted.
const minGain = 3e-4

// leastPosterior is the posterior probability below which a node is left out of the means;
// leastProbability is the least probability in the loss of a trial, which bounds it.
const (
	leastPosterior   = 1e-7
	leastProbability = 1e-300
)

// add counts one trial.
func (c *channel) add(o *outcome, post, mean []float64, truth int) {
	weight := make([]float64, c.p.count)
	for i, v := range post {
		weight[c.labels[i]] += v
	}
	o.loss -= math.Log(max(weight[truth], leastProbability))
	if o.slope == nil || slices.Max(weight) > 1-leastPosterior {
		return
	}
	means := make([][]float64, c.p.count)
	centre := make([]float64, len(o.slope))
	for i, v := range post {
		if v < leastPosterior {
			continue
		}
		a := c.labels[i]
		if means[a] == nil {
			means[a] = make([]float64, len(o.slope))
		}
		axpy(v*mean[i]/weight[a], c.x.RawRowView(i), means[a])
	}
	for a, m := range means {
		axpy(weight[a], m, centre)
	}
	for a, m := range means {
		for s, v := range m {
			d := v - centre[s]
			o.slope[s] += weight[a] * d * d
		}
	}
}

// information minimises the loss by the method of Frank and Wolfe (1956): each direction is the
// solution of a packing programme with the slope as weights, and the start is the better of
// equal weights and those that separate communities most. The loss is not convex, so that the end is
// a local minimum.
func (p *problem) information(h []float64) ([]float64, error) {
	c := p.newChannel()
	g := p.newProgramme(h)
	g.gap = max(g.gap, directionGap)
	u, err := g.maximise(p.separation())
	if err != nil {
		return nil, err
	}
	now := c.evaluate(u, true)
	if now.incomplete {
		return u, p.ctx.Err()
	}
	equal := p.equalWeights(h)
	if o := c.evaluate(equal, true); !o.incomplete && o.loss < now.loss {
		u, now = equal, o
	}
	u = p.ascend(c, g, u, now)
	p.normalise(u)
	return u, p.ctx.Err()
}

// ascend takes Frank-Wolfe steps from u until none lowers the loss, and returns the last point.
func (p *problem) ascend(c *channel, g *programme, u []float64, now outcome) []float64 {
	for step := range p.size.ascents {
		p.opts.Progress("allocate: information", int64(step), int64(p.size.ascents))
		if p.expired() {
			break
		}
		v, err := g.maximise(now.slope)
		if err != nil {
			break // the slope is 0
		}
		better := p.lineSearch(c, u, v, now.loss)
		if better == nil {
			break
		}
		o := c.evaluate(better, true)
		if o.incomplete {
			break
		}
		u, now = better, o
	}
	return u
}

// lineSearch halves the step from u towards v and returns the best point that lowers the
// loss by minGain, or nil.
func (p *problem) lineSearch(c *channel, u, v []float64, loss float64) []float64 {
	var best []float64
	for f := .5; f > .01 && !p.expired(); f /= 2 {
		w := slices.Clone(u)
		blend(f, w, v)
		o := c.evaluate(w, false)
		if o.incomplete {
			break
		}
		if o.loss >= loss*(1-minGain) {
			if best != nil {
				break
			}
			continue
		}
		best, loss = w, o.loss
	}
	return best
}

func blend(f float64, u, v []float64) {
	for s := range u {
		u[s] = (1-f)*u[s] + f*v[s]
	}
}

// sample makes some nodes the hypotheses.
func (c *channel) sample(nodes []int) {
	var total float64
	c.nodes = nodes
	for _, i := range nodes {
		c.labels, c.prior = append(c.labels, c.p.labels[i]), append(c.prior, c.p.prior[i])
		total += c.p.prior[i]
	}
	for k := range c.prior {
		c.prior[k] /= total
	}
}
