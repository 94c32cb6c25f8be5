// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
)

// Simulated compares an allocation with equal noise by simulated releases of a source of
// amplitude 1, the same for both, with every node as a hypothesis. The norms of the columns
// of M are estimates, which errs towards less accuracy where it is high.
type Simulated struct {
	Trials    int     `json:"trials"`
	Right     float64 `json:"right"`        // share in which the likeliest community is the true one; the node, where there is one community
	Equal     float64 `json:"rightUniform"` // under equal noise
	Loss      float64 `json:"logLoss"`      // mean −log of the probability of the truth, in nats
	EqualLoss float64 `json:"logLossUniform"`
}

// Possible reports whether a simulation can give this.
func (s *Simulated) Possible() bool {
	share := func(v float64) bool { return v >= 0 && v <= 1 }
	return s.Trials > 0 && share(s.Right) && share(s.Equal) && s.Loss >= 0 && s.EqualLoss >= 0
}

// NoGain is an [ErrNothing] with the simulation that says so: of an allocation that was found, and of
// equal noise.
type NoGain struct{ Simulated Simulated }

func (e *NoGain) Error() string {
	return ErrNothing.Error() + ": in a simulation the allocation that was found told no more than equal noise"
}

// Unwrap returns [ErrNothing].
func (e *NoGain) Unwrap() error { return ErrNothing }

// compare simulates under u and under equal weights. It returns a [NoGain] where u tells no
// more.
func (p *problem) compare(m Diffusion, sensors []int, u []float64, equal float64, b budget) (*Simulated, error) {
	j := p.newJury(m, sensors, b)
	even := make([]float64, len(u))
	floats.AddConst(equal, even)
	s := &Simulated{Trials: len(j.sources)}
	s.Loss, s.Right = j.simulate(u)
	s.EqualLoss, s.Equal = j.simulate(even)
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	if !(s.Loss < s.EqualLoss) {
		return nil, &NoGain{*s}
	}
	return s, nil
}

// jury holds simulated sources of amplitude 1 and their readings.
type jury struct {
	p        *problem
	m        Diffusion
	sensors  []int
	probes   int // blocks of random vectors, for the norms
	sources  []int
	readings [][]float64 // a block for width sources
}

func (p *problem) newJury(m Diffusion, sensors []int, b budget) *jury {
	n := p.model.Graph.Order()
	j := &jury{p: p, m: m, sensors: sensors, probes: b.probes}
	order := p.sampleNodes(n)
	prior := make([]float64, n)
	for k, i := range order {
		prior[k] = p.prior[i]
	}
	total := cumulate(prior)
	trials := b.trials * width
	for t := range trials {
		j.sources = append(j.sources, order[total.at((float64(t)+.5)/float64(trials))])
	}
	in := make([]float64, n*width)
	for at := 0; at < trials; at += width {
		clear(in)
		for k, i := range j.sources[at : at+width] {
			in[i*width+k] = 1
		}
		out := make([]float64, n*width)
		linop.MulBlockTo(m, out, false, in, width)
		j.readings = append(j.readings, out)
	}
	return j
}

// simulate returns the mean −log of the probability of the true community under u, and how
// often it is the likeliest.
func (j *jury) simulate(u []float64) (loss, right float64) {
	n := j.p.model.Graph.Order()
	root := make([]float64, len(u))
	for k, v := range u {
		root[k] = math.Sqrt(v) / j.p.opts.Noise
	}
	half := j.halfNorms(root)
	in, out := make([]float64, n*width), make([]float64, n*width)
	losses, rights := make([]float64, len(j.sources)), make([]float64, len(j.sources))
	for b, y := range j.readings {
		clear(in)
		for k := range width {
			random := rand.New(rand.NewPCG(1, uint64(b*width+k))) // public on purpose: this noise hides nothing
			for s, i := range j.sensors {
				in[i*width+k] = root[s] * (root[s]*y[i*width+k] + random.NormFloat64())
			}
		}
		linop.MulBlockTo(j.m, out, true, in, width)
		parallel(width, func(k int) { losses[b*width+k], rights[b*width+k] = j.trial(out, half, k, j.sources[b*width+k]) })
	}
	trials := float64(len(losses))
	return floats.Sum(losses) / trials, floats.Sum(rights) / trials
}

// halfNorms estimates Σ_s u_s M_si²/2r² of every node i, by ‖x_i‖² = ‖x_i − a‖² + 2aᵀx_i − ‖a‖² for
// the columns x_i and their mean a: random vectors estimate the first term alone, for the others
// may be larger by magnitudes than all differences of columns.
func (j *jury) halfNorms(root []float64) []float64 {
	n := j.p.model.Graph.Order()
	half := j.shared(root)
	in, out := make([]float64, n*width), make([]float64, n*width)
	random := rand.New(rand.NewPCG(2, 13)) // public on purpose
	for range j.probes {
		clear(in)
		for s, i := range j.sensors {
			bits := random.Uint64()
			for k := range width {
				in[i*width+k] = root[s] * float64(1-2*int(bits>>k&1))
			}
		}
		linop.MulBlockTo(j.m, out, true, in, width)
		center(out)
		each(n, width, func(i int) {
			x := out[i*width : (i+1)*width]
			half[i] += floats.Dot(x, x) / float64(2*width*j.probes)
		})
	}
	return half
}

// shared returns aᵀx_i − ‖a‖²/2 of every node i.
func (j *jury) shared(root []float64) []float64 {
	n := j.p.model.Graph.Order()
	even, mean, in, dot := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	floats.AddConst(1/float64(n), even)
	j.m.MulVecTo(mean, false, even)
	norm := 0.0
	for s, i := range j.sensors {
		in[i] = root[s] * root[s] * mean[i]
		norm += in[i] * mean[i]
	}
	j.m.MulVecTo(dot, true, in)
	floats.AddConst(-norm/2, dot)
	return dot
}

// certainty is the largest probability that the loss believes, beside the prior's: norms are
// estimates, and one trial must not outweigh all others.
const certainty = .99

// trial returns the loss of column k, whose source is known, of naming the community or,
// where there is one, the node; and 1 where that is the likeliest, else 0.
func (j *jury) trial(c, half []float64, k, source int) (loss, right float64) {
	n, labels, count := len(half), j.p.labels, j.p.count
	if count == 1 {
		count, labels = n, make([]int, n)
		for i := range labels {
			labels[i] = i
		}
	}
	post, mean := make([]float64, n), make([]float64, n)
	for i := range mean {
		mean[i] = c[i*width+k]
	}
	integrate(post, mean, half, j.p.prior, fullSize.levels)
	weight, share, truth := make([]float64, count), 0.0, labels[source]
	for i, a := range labels {
		weight[a] += post[i]
		if a == truth {
			share += j.p.prior[i]
		}
	}
	if floats.MaxIdx(weight) == truth {
		right = 1
	}
	return -math.Log(certainty*weight[truth] + (1-certainty)*share), right
}
