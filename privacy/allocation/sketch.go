// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

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

// Sizes of a sketch.
const (
	draftValues     = 1 << 21         // readings of the sensors that may report in a draft
	manyEdges       = 2               // for each node: programmes are expensive there, and a draft reads a quarter
	leastCandidates = 512             // of them
	sketchValues    = 6 << 20         // readings that are held for equal noise
	sketchProbes    = 32              // random vectors for the differences across all edges; half beyond RowsLimit
	sketchEdges     = 16              // of the largest differences, computed exactly
	momentBytes     = 64 << 20        // of what sketches share
	sketchGap       = .05             // of a draft's programmes
	draftTime       = 8 * time.Second // of one core by estimate, for them and their trials
	sketchNodes     = 400             // at which a source may be, where the memory holds them
)

// draftSize is for the search of an allocation, which then is judged on a larger sample. Its levels
// are at most two standard deviations apart, so that the midpoint rule is off by 1.5 %.
var draftSize = size{hypotheses: 250, minReleases: 200, maxReleases: 200, ascents: 4, levels: 6}

// Draft allocates noise roughly, between the limits of the options, and simulates: for [Energy] in few
// rounds, else among all of 1,448 sensors or at least 512 of more, or all of 724 where relationships are many. The errors are those of
// [Optimize].
func Draft(ctx context.Context, m sensitivity.Model, diffusion Diffusion, labels []int, opts Options) (Sketch, error) {
	opts.Time = draftTime
	p, sensors, err := newUnread(ctx, m, diffusion, labels, opts)
	if err != nil {
		return Sketch{}, err
	}
	return p.draft(diffusion, sensors)
}

// draft is [Draft] for the sensors.
func (p *problem) draft(diffusion Diffusion, sensors []int) (Sketch, error) {
	if p.objective == Energy {
		return p.draftEnergy(diffusion, sensors)
	}
	p.memory = 8 * int64(max(draftReadings(p.model.Graph), leastCandidates*len(p.labels)))
	p.gap = sketchGap
	if err := p.read(diffusion, sensors); err != nil {
		return Sketch{}, err
	}
	p.size = draftSize
	u, err := p.solveWithLimits()
	if err != nil {
		return Sketch{}, err
	}
	p.normalise(u)
	p.size.hypotheses = sketchNodes
	c := p.newChannel()
	z, _ := c.whiten(u)
	return c.judge(z), p.ctx.Err()
}

// Comparison sketches equal noise for one τ after the other on one graph. Beyond 10,000 nodes
// with sensors at all of them it takes the inner products of readings, which are entries of
// M² = e^{-2τL}, from one recurrence for all τ.
type Comparison struct{ moments *expm.Moments }

// Equal simulates equal noise at all sensors of the model. The largest difference across
// an edge is found by random vectors: it may be missed by a few per cent, and nothing
// private may rest on it. The errors are those of [Optimize].
func (e *Comparison) Equal(ctx context.Context, m sensitivity.Model, diffusion Diffusion, labels []int, opts Options) (Sketch, error) {
	p, sensors, err := newUnread(ctx, m, diffusion, labels, opts)
	if err != nil {
		return Sketch{}, err
	}
	peak := p.equalPeak(diffusion, sensors)
	if peak == 0 {
		return Sketch{}, fmt.Errorf("%w: the sensors read the same from the two ends of every relationship", ErrNothing)
	}
	s, ok := e.shared(p, sensors, peak)
	if !ok {
		s = p.simulate(diffusion, sensors, slices.Repeat([]float64{1 / (math.Sqrt(peak) * p.opts.Noise)}, len(sensors)))
	}
	s.Sensitivity = math.Sqrt(peak)
	return s, ctx.Err()
}

// shared simulates by entries of e^{-2τL}, where that is M².
func (e *Comparison) shared(p *problem, sensors []int, peak float64) (Sketch, bool) {
	if !sharesProducts(p.model, len(sensors)) {
		return Sketch{}, false
	}
	c := p.sampled()
	if e.moments == nil {
		e.moments = expm.NewMoments(p.model.Laplacian, c.nodes)
	}
	gram, err := e.moments.Entries(p.ctx, 2*p.model.Tau, momentBytes)
	if err != nil {
		return Sketch{}, false // products serve
	}
	gram.Scale(1/(peak*p.opts.Noise*p.opts.Noise), gram)
	return c.judgeGram(centred(gram)), true
}

// sharesProducts reports whether sketches of equal noise share products over τ.
func sharesProducts(m sensitivity.Model, sensors int) bool {
	n := m.Graph.Order()
	return n > RowsLimit && sensors == n && m.Laplacian.Similarity() == nil
}

// sampled returns a channel of the nodes for a sketch of equal noise.
func (p *problem) sampled() *channel {
	n := p.model.Graph.Order()
	p.rows = &rows{n: n}
	c := &channel{p: p}
	c.sample(p.sampleNodes(equalNodes(n)))
	return c
}

// PerSensor simulates noise of each sensor's own worst edge, as the guarantee perSensor
// has it; it takes a product for each sensor. The errors are those of
// [Optimize].
func PerSensor(ctx context.Context, m sensitivity.Model, diffusion Diffusion, labels []int, opts Options) (Sketch, error) {
	p, sensors, err := newUnread(ctx, m, diffusion, labels, opts)
	if err != nil {
		return Sketch{}, err
	}
	peaks := p.sensorPeaks(diffusion, sensors)
	if slices.Max(peaks) == 0 {
		return Sketch{}, fmt.Errorf("%w: the sensors read the same from the two ends of every relationship", ErrNothing)
	}
	for s, peak := range peaks {
		peaks[s] = 1 / (math.Sqrt(peak) * p.opts.Noise)
	}
	return p.simulate(diffusion, sensors, peaks), ctx.Err()
}

// simulate judges noise of standard deviation 1/scale_s at each sensor.
func (p *problem) simulate(diffusion Diffusion, sensors []int, scale []float64) Sketch {
	c := p.sampled()
	x := readings(diffusion, c.nodes, sensors)
	for k := range c.nodes {
		row := x.RawRowView(k)
		floats.Mul(row, scale)
	}
	return c.judge(x)
}

// equalNodes is the number of sources of a sketch of equal noise on n nodes: where memory
// limits it, whole blocks.
func equalNodes(n int) int {
	return min(n, sketchNodes, max(1, sketchValues/(n*blockRows))*blockRows)
}

// DraftsAll reports whether all of so many sensors may report in a [Draft] on a graph: equal noise is
// among what it considers then.
func DraftsAll(g *graph.Graph, sensors int) bool { return sensors <= draftCandidates(g) }

// draftCandidates is how many sensors may report in a [Draft].
func draftCandidates(g *graph.Graph) int { return max(leastCandidates, draftReadings(g)/g.Order()) }

// draftReadings is the number of readings of the sensors that may report in a [Draft].
func draftReadings(g *graph.Graph) int {
	if g.Size() > manyEdges*g.Order() {
		return draftValues / 4
	}
	return draftValues
}

// SketchProducts is about how many products with M a [Comparison] takes for each τ, and [Draft]
// where it comes too, or instead on more than [RowsLimit] nodes; and how many it takes with the largest of
// them, √2 times as long, for all together.
func SketchProducts(m sensitivity.Model, sensors int, draft bool) (each, together int) {
	n := m.Graph.Order()
	if draft && n > RowsLimit {
		return energyDraftProducts(n), 0
	}
	each, together = sketchEdges+probesFor(n), 0
	if sharesProducts(m, sensors) {
		together = equalNodes(n)
	} else {
		each += equalNodes(n)
	}
	if draft {
		each += min(n, draftCandidates(m.Graph))
		if n > leastCandidates {
			each += 2 * probes
		}
	}
	return each, together
}

// probesFor is the number of random vectors of [problem.equalPeak].
func probesFor(n int) int {
	if n > RowsLimit {
		return sketchProbes / 2
	}
	return sketchProbes
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
		parallel.Rows(len(sensors), 2*k, func(lo, hi int) {
			for s := lo; s < hi; s++ {
				for j, v := range out[sensors[s]*k:][:k] {
					x.RawRowView(at + j)[s] = v
				}
			}
		})
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
	for range probesFor(n) / blockRows {
		for _, s := range sensors {
			for k := range blockRows {
				in[s*blockRows+k] = float64(2*int(random.Uint64()&1) - 1)
			}
		}
		linop.MulBlockTo(m, out, true, in, blockRows)
		parallel.Rows(len(edges), 2*blockRows, func(lo, hi int) {
			for k := lo; k < hi; k++ {
				e := edges[k]
				u, v := out[int(e.u)*blockRows:][:blockRows], out[int(e.v)*blockRows:][:blockRows]
				for j, x := range u {
					value[k] += e.scale * (x - v[j]) * (x - v[j])
				}
			}
		})
	}
	return slices.Max(p.edgeSquares(m, sensors, ones(len(sensors)), edges, largest(value, sketchEdges)))
}

// sensorPeaks returns max (α/ℓ)² (M_si − M_sj)² over the edges for each sensor. One that no
// edge reaches, as far as products tell, has the largest of all: a plan charges it so.
func (p *problem) sensorPeaks(m Diffusion, sensors []int) []float64 {
	n := p.model.Graph.Order()
	edges := edgesOf(p.model.Graph, p.model.Alpha)
	peaks := make([]float64, len(sensors))
	in, out := make([]float64, n*blockRows), make([]float64, n*blockRows)
	for at := 0; at < len(sensors); at += blockRows {
		part := sensors[at:min(at+blockRows, len(sensors))]
		clear(in)
		for k, s := range part {
			in[s*blockRows+k] = 1
		}
		linop.MulBlockTo(m, out, true, in, blockRows)
		for _, e := range edges {
			u, v := out[int(e.u)*blockRows:][:blockRows], out[int(e.v)*blockRows:][:blockRows]
			for k := range part {
				peaks[at+k] = max(peaks[at+k], e.scale*(u[k]-v[k])*(u[k]-v[k]))
			}
		}
	}
	largest, least := slices.Max(peaks), unreached*(float64(n)*0x1p-52+m.Err())
	for s, v := range peaks {
		if v <= least*least {
			peaks[s] = largest
		}
	}
	return peaks
}

// unreached is how many errors of a product a difference is up to which it counts as none.
const unreached = 1024

// largest returns the places of the count largest values, largest first and equal ones in
// order, in O(len(value)) where few are large.
func largest(value []float64, count int) []int {
	pick := make([]int, 0, count+1)
	for k, v := range value {
		if len(pick) == count && !(v > value[pick[count-1]]) {
			continue
		}
		at := slices.IndexFunc(pick, func(i int) bool { return v > value[i] })
		if at < 0 {
			at = len(pick)
		}
		pick = slices.Insert(pick, at, k)
		pick = pick[:min(count, len(pick))]
	}
	return pick
}

// edgeSquares returns (α/ℓ)² Σ_s u_s (M_si − M_sj)² of the picked edges, by a product for each.
func (p *problem) edgeSquares(m Diffusion, sensors []int, u []float64, edges []edge, pick []int) []float64 {
	n, k := p.model.Graph.Order(), len(pick)
	in, out, sums := make([]float64, n*k), make([]float64, n*k), make([]float64, k)
	for j, i := range pick {
		in[int(edges[i].u)*k+j], in[int(edges[i].v)*k+j] = 1, -1
	}
	linop.MulBlockTo(m, out, false, in, k)
	for t, s := range sensors {
		for j, v := range out[s*k:][:k] {
			sums[j] += u[t] * v * v
		}
	}
	for j, i := range pick {
		sums[j] *= edges[i].scale
	}
	return sums
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
