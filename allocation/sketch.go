// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/sensitivity"
)

// Sketch says roughly what the noise of one operator is worth, so that operators can be
// compared: means over simulated releases of one source among a sample of the nodes.
type Sketch struct {
	Loss     float64 // −log of the probability of the true community, in nats
	Distance float64 // of the posterior from the source, within its component; 0 without [Options].Distances
}

// Sizes of a sketch.
const (
	draftValues     = 1 << 18 // readings of the sensors that may report in a draft
	leastCandidates = 128     // of them
	sketchValues    = 1 << 23 // readings that are held for equal noise
	sketchProbes    = 64      // random vectors for the differences across all edges
	sketchEdges     = 16      // of the largest differences, computed exactly
	sketchGap       = .05     // of a draft's programmes
)

var sketchSize = size{hypotheses: 300, minReleases: 300, maxReleases: 300, ascents: 4}

// Draft allocates noise roughly, among all of a few hundred sensors or at least 128 of
// more, and simulates. The errors are those of [Optimize].
func Draft(ctx context.Context, m sensitivity.Model, diffusion Diffusion, labels []int, opts Options) (Sketch, error) {
	n, _ := diffusion.Dims()
	if most := 8 * int64(max(draftValues, leastCandidates*n)); opts.Memory == 0 || opts.Memory > most {
		opts.Memory = most
	}
	opts.Gap, opts.Time = max(opts.Gap, sketchGap), 0 // it is short, and ends by itself
	p, err := newProblem(ctx, m, diffusion, labels, opts)
	if err != nil {
		return Sketch{}, err
	}
	p.size = sketchSize
	f, err := p.solveWithLimits(p.opts.Objective)
	if err != nil {
		return Sketch{}, err
	}
	p.normalise(f.u)
	o := p.newChannel().evaluate(f.u, false)
	return Sketch{o.loss, o.distance}, ctx.Err()
}

// Equal simulates equal noise at all sensors of the model. The largest difference across
// an edge is found by random vectors: it may be missed by a few per cent, and nothing
// private may rest on it. The errors are those of [Optimize].
func Equal(ctx context.Context, m sensitivity.Model, diffusion Diffusion, labels []int, opts Options) (Sketch, error) {
	p, sensors, err := newUnread(ctx, m, diffusion, labels, opts)
	if err != nil {
		return Sketch{}, err
	}
	peak := p.equalPeak(diffusion, sensors)
	if peak == 0 {
		return Sketch{}, fmt.Errorf("%w: the sensors read the same from the two ends of every relationship", ErrNothing)
	}
	p.size = sketchSize
	p.size.hypotheses = min(p.size.hypotheses, max(16, sketchValues/p.model.Graph.Order()))
	p.rows = &rows{n: p.model.Graph.Order()}
	c := &channel{p: p, trials: p.size.maxReleases}
	c.sample(p.sampleNodes(p.size.hypotheses))
	scale := 1 / (math.Sqrt(peak) * p.opts.Noise)
	x := readings(diffusion, c.nodes, sensors)
	x.Scale(scale, x)
	return c.equal(x), ctx.Err()
}

// readings returns what sensors read of unit sources at some nodes, a row for each source.
func readings(m linop.Operator, nodes, sensors []int) *mat.Dense {
	n, _ := m.Dims()
	x := mat.NewDense(len(nodes), len(sensors), nil)
	for at := 0; at < len(nodes); at += blockRows {
		part := nodes[at:min(at+blockRows, len(nodes))]
		k := len(part)
		in, out := make([]float64, n*k), make([]float64, n*k)
		for j, i := range part {
			in[i*k+j] = 1
		}
		linop.MulBlockTo(m, out, false, in, k)
		for j := range part {
			row := x.RawRowView(at + j)
			for s, i := range sensors {
				row[s] = out[i*k+j]
			}
		}
	}
	return x
}

// equalPeak estimates max (α/ℓ)² Σ_s (M_si − M_sj)² over the edges: random signs at the
// sensors, mapped by Mᵀ, have mean square differences of that size (Johnson &
// Lindenstrauss 1984), and the largest ones are computed exactly.
func (p *problem) equalPeak(m Diffusion, sensors []int) float64 {
	n := p.model.Graph.Order()
	edges := edgesOf(p.model.Graph, p.model.Alpha)
	value := make([]float64, len(edges))
	random := rand.New(rand.NewPCG(2, 5)) // public on purpose: these numbers hide nothing
	in, out := make([]float64, n*blockRows), make([]float64, n*blockRows)
	for range sketchProbes / blockRows {
		for _, s := range sensors {
			for k := range blockRows {
				in[s*blockRows+k] = float64(2*int(random.Uint64()&1) - 1)
			}
		}
		linop.MulBlockTo(m, out, true, in, blockRows)
		for k, e := range edges {
			u, v := out[int(e.u)*blockRows:][:blockRows], out[int(e.v)*blockRows:][:blockRows]
			for j, x := range u {
				value[k] += e.scale * (x - v[j]) * (x - v[j])
			}
		}
	}
	order := make([]int, len(edges))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(value[b], value[a]) })
	return p.exactPeak(m, sensors, edges, order[:min(len(order), sketchEdges)])
}

// exactPeak is the largest of (α/ℓ)² Σ_s (M_si − M_sj)² over at most sketchEdges edges.
func (p *problem) exactPeak(m Diffusion, sensors []int, edges []edge, pick []int) float64 {
	n, k := p.model.Graph.Order(), len(pick)
	in, out := make([]float64, n*k), make([]float64, n*k)
	for j, i := range pick {
		in[int(edges[i].u)*k+j], in[int(edges[i].v)*k+j] = 1, -1
	}
	linop.MulBlockTo(m, out, false, in, k)
	largest := 0.0
	for j, i := range pick {
		sum := 0.0
		for _, s := range sensors {
			sum += out[s*k+j] * out[s*k+j]
		}
		largest = max(largest, edges[i].scale*sum)
	}
	return largest
}

// equal simulates under unit noise, with readings x of every node of the sample.
func (c *channel) equal(x *mat.Dense) Sketch {
	h, sensors := x.Dims()
	var gram mat.Dense
	gram.Mul(x, x.T())
	half := make([]float64, h)
	for i := range half {
		half[i] = gram.At(i, i) / 2
	}
	total := cumulate(c.prior)
	each := make([]outcome, c.trials)
	parallel(batches, func(k int) {
		noise, post, mean := make([]float64, sensors), make([]float64, h), make([]float64, h)
		for trial := k; trial < c.trials && c.p.ctx.Err() == nil; trial += batches {
			random := rand.New(rand.NewPCG(1, uint64(trial))) // public on purpose, as in evaluate
			for s := range noise {
				noise[s] = random.NormFloat64()
			}
			source := total.at((float64(trial) + .5) / float64(c.trials))
			for i := range mean {
				mean[i] = gram.At(i, source) + floats.Dot(noise, x.RawRowView(i))
			}
			integrate(post, mean, half, c.prior)
			c.add(&each[trial], post, mean, c.labels[source])
			each[trial].distance = c.distance(source, post)
		}
	})
	var s Sketch
	for _, o := range each {
		s.Loss += o.loss / float64(c.trials)
		s.Distance += o.distance / float64(c.trials)
	}
	return s
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
