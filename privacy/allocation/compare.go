// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// clearErrors is the number of standard errors by which an allocation has to lose less than equal noise
// to be taken at the first comparison.
const clearErrors = 2

// compare simulates under u and under equal weights. It returns a [NoGain] where u has no
// gain. Neither chance nor norms that are estimates, which cost an allocation more than equal noise,
// reject it at the first comparison: where u is not better beyond chance, a second one of more releases
// and random vectors decides, where the budget has one.
func (p *problem) compare(m Diffusion, sensors []int, u []float64, equal float64, b budget) (*Simulated, error) {
	even := make([]float64, len(u))
	floats.AddConst(equal, even)
	s, deviation := p.newComparison(m, sensors, b).run(u, even)
	if b.again > 1 && !(s.Loss < s.EqualLoss-clearErrors*deviation) && !p.expired() {
		b.trials, b.probes = b.again*b.trials, b.again*b.probes
		s, _ = p.newComparison(m, sensors, b).run(u, even)
	}
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	if !(s.Loss < s.EqualLoss) {
		return nil, &NoGain{*s}
	}
	return s, nil
}

// comparison holds simulated sources of amplitude 1.
type comparison struct {
	p       *problem
	m       Diffusion
	sensors []int
	probes  int   // blocks of random vectors, for the norms
	sources []int // of whole blocks
}

func (p *problem) newComparison(m Diffusion, sensors []int, b budget) *comparison {
	n := p.model.Graph.Order()
	c := &comparison{p: p, m: m, sensors: sensors, probes: b.probes}
	order := p.sampleNodes(n)
	prior := make([]float64, n)
	for k, i := range order {
		prior[k] = p.prior[i]
	}
	total := cumulate(prior)
	trials := b.trials * width
	for t := range trials {
		c.sources = append(c.sources, order[total.at((float64(t)+.5)/float64(trials))])
	}
	return c
}

// contender is an allocation with what is simulated under it.
type contender struct {
	root, half  []float64 // √u/r, and half the squared norms of the columns
	loss, right []float64 // of each source
}

func (c *comparison) newContender(u []float64) *contender {
	n := len(c.sources)
	w := &contender{root: make([]float64, len(u)), loss: make([]float64, n), right: make([]float64, n)}
	for k, v := range u {
		w.root[k] = math.Sqrt(v) / c.p.opts.Noise
	}
	w.half = c.halfNorms(w.root)
	return w
}

// run simulates releases of the same sources and random numbers under two allocations, and
// returns the standard error of the mean difference of their losses. The result means nothing where
// the context has ended.
func (c *comparison) run(u, other []float64) (s *Simulated, deviation float64) {
	first, second := c.newContender(u), c.newContender(other)
	for at := 0; at < len(c.sources) && c.p.ctx.Err() == nil; at += width {
		y := readings(c.m, c.sources[at:at+width], c.sensors)
		c.simulate(first, y, at)
		c.simulate(second, y, at)
	}
	trials, square := float64(len(c.sources)), 0.0
	for t, v := range first.loss {
		square += (v - second.loss[t]) * (v - second.loss[t]) / trials
	}
	s = &Simulated{
		Trials: len(c.sources), Right: floats.Sum(first.right) / trials, Equal: floats.Sum(second.right) / trials,
		Loss: floats.Sum(first.loss) / trials, EqualLoss: floats.Sum(second.loss) / trials,
	}
	return s, standardError(s.Loss-s.EqualLoss, square, trials)
}

// simulate simulates under w the block of sources from place at on, of which y is what sensors read: the
// −log of the probability of the true community, and whether it is the likeliest.
func (c *comparison) simulate(w *contender, y *mat.Dense, at int) {
	n := c.p.model.Graph.Order()
	in, out := make([]float64, n*width), make([]float64, n*width)
	for k := range width {
		random := rand.New(rand.NewPCG(1, uint64(at+k))) // public on purpose: this noise hides nothing
		for s, i := range c.sensors {
			in[i*width+k] = w.root[s] * (w.root[s]*y.At(k, s) + random.NormFloat64())
		}
	}
	linop.MulBlockTo(c.m, out, true, in, width)
	parallel.Each(width, func(k int) { w.loss[at+k], w.right[at+k] = c.trial(out, w.half, k, c.sources[at+k]) })
}

// halfNorms estimates Σ_s u_s M_si²/2r² of every node i, by ‖x_i‖² = ‖x_i − a‖² + 2aᵀx_i − ‖a‖² for
// the columns x_i and their mean a: random vectors estimate the first term alone, for the others
// may be larger by magnitudes than all differences of columns.
func (c *comparison) halfNorms(root []float64) []float64 {
	n := c.p.model.Graph.Order()
	half := c.shared(root)
	in, out := make([]float64, n*width), make([]float64, n*width)
	random := rand.New(rand.NewPCG(2, 13)) // public on purpose
	for range c.probes {
		if c.p.ctx.Err() != nil {
			break
		}
		clear(in)
		for s, i := range c.sensors {
			signs := random.Uint64()
			for k := range width {
				in[i*width+k] = root[s] * float64(1-2*int(signs>>k&1))
			}
		}
		linop.MulBlockTo(c.m, out, true, in, width)
		center(out, width)
		each(n, width, func(i int) {
			x := out[i*width : (i+1)*width]
			half[i] += floats.Dot(x, x) / float64(2*width*c.probes)
		})
	}
	return half
}

// shared returns aᵀx_i − ‖a‖²/2 of every node i.
func (c *comparison) shared(root []float64) []float64 {
	n := c.p.model.Graph.Order()
	even, mean, in, dot := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	floats.AddConst(1/float64(n), even)
	c.m.MulVecTo(mean, false, even)
	norm := 0.0
	for s, i := range c.sensors {
		in[i] = root[s] * root[s] * mean[i]
		norm += in[i] * mean[i]
	}
	c.m.MulVecTo(dot, true, in)
	floats.AddConst(-norm/2, dot)
	return dot
}

// mostCertain is the largest probability that the loss believes, beside the prior's: norms are
// estimates, and one trial must not outweigh all others.
const mostCertain = .99

// trial returns the loss of column k of yᵀz_i, whose source is known, of naming the community or,
// where there is one, the node; and 1 where that is the likeliest, else 0.
func (c *comparison) trial(readings, half []float64, k, source int) (loss, right float64) {
	n, labels, count := len(half), c.p.labels, c.p.count
	if count == 1 {
		count, labels = n, make([]int, n)
		for i := range labels {
			labels[i] = i
		}
	}
	post, mean := make([]float64, n), make([]float64, n)
	for i := range mean {
		mean[i] = readings[i*width+k]
	}
	integrate(post, mean, half, c.p.prior, fullSize.levels)
	weight, share, truth := make([]float64, count), 0.0, labels[source]
	for i, a := range labels {
		weight[a] += post[i]
		if a == truth {
			share += c.p.prior[i]
		}
	}
	if floats.MaxIdx(weight) == truth {
		right = 1
	}
	return -math.Log(mostCertain*weight[truth] + (1-mostCertain)*share), right
}

// budget says how long to search.
type budget struct {
	rounds, trials, probes int // the last two in blocks
	again                  int // times as many of these has a second comparison with equal noise; below 2: there is none
}

// blocks is what the simulation of two allocations takes.
func (b budget) blocks() float64 { return float64(3*b.trials + 2*b.probes) }
