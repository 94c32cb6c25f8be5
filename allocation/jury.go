// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
)

// judge returns [ErrNothing] where simulated releases tell the community no better under u
// than under equal weights. Every node is a hypothesis, and both see the same sources and
// the same random numbers.
func (p *problem) judge(m Diffusion, sensors []int, u []float64, equal float64, b budget) error {
	j := p.newJury(m, sensors, b)
	even := make([]float64, len(u))
	floats.AddConst(equal, even)
	mine, theirs := j.loss(u), j.loss(even)
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if !(mine < theirs) {
		return fmt.Errorf("%w: in a simulation the allocation that was found told no more than equal noise", ErrNothing)
	}
	return nil
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

// loss returns the mean −log of the probability of the true community under u.
func (j *jury) loss(u []float64) float64 {
	n := j.p.model.Graph.Order()
	root := make([]float64, len(u))
	for k, v := range u {
		root[k] = math.Sqrt(v) / j.p.opts.Noise
	}
	half := j.halfNorms(root)
	in, out := make([]float64, n*width), make([]float64, n*width)
	losses := make([]float64, len(j.sources))
	for b, y := range j.readings {
		clear(in)
		for k := range width {
			random := rand.New(rand.NewPCG(1, uint64(b*width+k))) // public on purpose: this noise hides nothing
			for s, i := range j.sensors {
				in[i*width+k] = root[s] * (root[s]*y[i*width+k] + random.NormFloat64())
			}
		}
		linop.MulBlockTo(j.m, out, true, in, width)
		parallel(width, func(k int) { losses[b*width+k] = j.trial(out, half, k, j.sources[b*width+k]) })
	}
	return floats.Sum(losses) / float64(len(losses))
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

// trial returns the loss of column k, whose source is known: of naming the community or,
// where there is one, the node.
func (j *jury) trial(c, half []float64, k, source int) float64 {
	n := len(half)
	post, mean := make([]float64, n), make([]float64, n)
	for i := range mean {
		mean[i] = c[i*width+k]
	}
	integrate(post, mean, half, j.p.prior)
	right, share := 0.0, 0.0
	for i, a := range j.p.labels {
		if i == source || j.p.count > 1 && a == j.p.labels[source] {
			right += post[i]
			share += j.p.prior[i]
		}
	}
	return -math.Log(certainty*right + (1-certainty)*share)
}
