// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// Sizes of a sketch.
const (
	draftValues      = 1 << 21         // readings of the sensors that may report in a draft
	manyEdgesPerNode = 2               // for each node: programmes are expensive there, and a draft reads a quarter
	leastCandidates  = 512             // of them
	sketchValues     = 6 << 20         // readings that are held for equal noise
	sketchGap        = .05             // of a draft's programmes
	draftTime        = 8 * time.Second // of one core by estimate, for them and their trials
	sketchNodes      = 400             // at which a source may be, where the memory holds them
)

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
	s := p.simulate(diffusion, sensors, slices.Repeat([]float64{1 / (math.Sqrt(peak) * p.opts.Noise)}, len(sensors)))
	s.Sensitivity = math.Sqrt(peak)
	return s, ctx.Err()
}

// sampled returns a channel of the nodes for a sketch of equal noise.
func (p *problem) sampled() *channel {
	n := p.model.Graph.Order()
	p.rows = &rows{n: n}
	c := &channel{p: p}
	c.sample(p.sampleNodes(equalNodes(n)))
	return c
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
	if g.Size() > manyEdgesPerNode*g.Order() {
		return draftValues / 4
	}
	return draftValues
}

// SketchProducts is about how many products with M [Equal] takes on n nodes, and [Draft]
// where it comes too, or instead on more than [RowsLimit] nodes.
func SketchProducts(g *graph.Graph, draft bool) int {
	n := g.Order()
	if draft && n > RowsLimit {
		return energyDraftProducts(n)
	}
	products := sketchEdges + probesFor(n) + equalNodes(n)
	if draft {
		products += min(n, draftCandidates(g))
		if n > leastCandidates {
			products += 2 * probes
		}
	}
	return products
}

// draftRounds is the number of rounds of a [Draft] by [Energy]: enough to rank operators, of which
// the allocation that follows gets more.
const draftRounds = 12

// draftEnergy is [Draft] without rows of M, as [Energy] allocates. It is judged at the sources at which
// equal noise is. It returns [ErrWork] where [Optimize] does.
func (p *problem) draftEnergy(m Diffusion, sensors []int) (Sketch, error) {
	if _, err := p.affordable(); err != nil {
		return Sketch{}, err
	}
	peak := p.equalPeak(m, sensors)
	if peak == 0 {
		return Sketch{}, fmt.Errorf("%w: the sensors read the same from the two ends of every relationship", ErrNothing)
	}
	s := p.newSearch(m, sensors, 1/peak)
	s.m = p.coarse(m, peak)
	s.run(draftRounds)
	if err := p.ctx.Err(); err != nil {
		return Sketch{}, err
	}
	scale := make([]float64, len(s.u))
	for k, u := range s.u {
		scale[k] = math.Sqrt(u) / p.opts.Noise
	}
	found := p.simulate(m, sensors, scale)
	found.Sensitivity = math.Sqrt(peak)
	return found, p.ctx.Err()
}

// energyDraftProducts is about how many products draftEnergy takes on n nodes.
func energyDraftProducts(n int) int {
	const blocks = draftRounds*roundBlocks + settleBlocks + 5 // 5: the worst edge of equal weights, and the odds
	return int(blocks*width) + equalNodes(n)
}
