// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// firstNodes is the number of nodes, of the largest upper bounds, whose evidence decides which
// others matter.
const firstNodes = 16

// blockWidth is the number of columns that are read at once.
const blockWidth = 64

// faulty is the posterior of one source where sensors may be broken.
type faulty struct {
	*faultyEvidence
	d        measurement.Data
	logPrior []float64
	level    float64
	raised   int // measurements whose noise was raised
}

// newFaulty returns the posterior of a single source where sensors may be broken.
func newFaulty(ctx context.Context, d measurement.Data, opts Options) (*Posterior, error) {
	f, err := prepareFaulty(d, opts)
	if err != nil {
		return nil, err
	}
	if linop.HoldsEntries(d.A) {
		return f.exact(ctx)
	}
	if p, ok, err := f.local(ctx); ok || err != nil {
		return p, err
	}
	return f.screened(ctx, opts)
}

func prepareFaulty(d measurement.Data, opts Options) (*faulty, error) {
	_, n := d.A.Dims()
	if err := opts.Faults.check(len(d.Y)); err != nil {
		return nil, err
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	logPrior, err := logWeights(opts.Prior, n)
	if err != nil {
		return nil, err
	}
	d, faults, raised := resolved(d, opts.Faults)
	return &faulty{newFaultyEvidence(d.Y, faults, opts.Amplitude), d, logPrior, opts.Level, raised}, nil
}

// exact is the posterior where the entries of A are at hand.
func (f *faulty) exact(ctx context.Context) (*Posterior, error) {
	weight, err := f.weights(ctx)
	if err != nil {
		return nil, err
	}
	p := &Posterior{LogEvidence: slices.Clone(weight), Probability: weight, Raised: f.raised}
	for i, l := range f.logPrior {
		p.LogEvidence[i] -= l
		if math.IsInf(l, -1) {
			p.LogEvidence[i] = math.Inf(-1)
		}
	}
	p.normalize(nil, nil, f.level)
	p.Faulty, err = f.suspects(ctx, p, f.columns)
	return p, err
}

// weights returns the log evidence and prior of each node. Nodes that are more than
// [negligible] below the best have an upper bound: together their probability is below
// n·e⁻⁵⁰.
func (f *faulty) weights(ctx context.Context) ([]float64, error) {
	n := len(f.logPrior)
	weight := make([]float64, n)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	err := f.columns(ctx, all, func(i int, c *column) { weight[i] = c.bound(0, 1) + f.logPrior[i] })
	if err != nil {
		return nil, err
	}
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(i, j int) int { return compareDown(weight[i], weight[j]) })
	known := make([]bool, n)
	floor := math.Inf(-1)
	settle := func(nodes []int) error {
		for _, i := range nodes {
			known[i] = true
		}
		return f.columns(ctx, nodes, func(i int, c *column) { weight[i] = c.log(floor-f.logPrior[i]) + f.logPrior[i] })
	}
	first := order[:min(firstNodes, n)]
	// What they have at least keeps each from being integrated where another leaves it negligible.
	err = f.columns(ctx, first, func(i int, c *column) { weight[i] = c.floor() + f.logPrior[i] })
	if err != nil {
		return nil, err
	}
	for _, i := range first {
		floor = max(floor, weight[i])
	}
	if err := settle(first); err != nil {
		return nil, err
	}
	for _, i := range first {
		floor = max(floor, weight[i])
	}
	return weight, settle(slices.DeleteFunc(order, func(i int) bool { return known[i] || !(weight[i] >= floor-negligible) }))
}

// compareDown orders the larger value first.
func compareDown(x, y float64) int {
	switch {
	case x > y:
		return -1
	case x < y:
		return 1
	}
	return 0
}

// columns calls do for the columns of A at some nodes, on every processor; do may write to
// what belongs to its node.
func (f *faulty) columns(ctx context.Context, nodes []int, do func(i int, c *column)) error {
	m := len(f.d.Y)
	return inBlocks(ctx, len(nodes), func(from, to int) {
		var c column
		x := make([]float64, m*(to-from))
		linop.ColumnsTo(f.d.A, x, nodes[from:to])
		for k, i := range nodes[from:to] {
			f.column(x[k*m:(k+1)*m], &c)
			do(i, &c)
		}
	})
}

// inBlocks calls do for [0, blockWidth), [blockWidth, 2·blockWidth), … below n, on every
// processor.
func inBlocks(ctx context.Context, n int, do func(from, to int)) error {
	parallel.Each((n+blockWidth-1)/blockWidth, func(b int) {
		if ctx.Err() == nil {
			do(b*blockWidth, min((b+1)*blockWidth, n))
		}
	})
	return ctx.Err()
}

// unseenMass is the posterior probability of the nodes that suspects are not asked about.
const unseenMass = 1e-6

// suspects returns the probability of each sensor to be faulty, given one source: under no source
// and in one state it is 1 − sensor.sound, and each source changes it where it moves the mean.
// It is off by at most [unseenMass].
func (f *faulty) suspects(ctx context.Context, p *Posterior,
	columns func(context.Context, []int, func(int, *column)) error,
) ([]float64, error) {
	return f.suspectsAt(ctx, p, likeliest(p.Probability, 1-unseenMass), columns)
}

// suspectsAt supposes that the source is at one of some nodes.
func (f *faulty) suspectsAt(ctx context.Context, p *Posterior, nodes []int,
	columns func(context.Context, []int, func(int, *column)) error,
) ([]float64, error) {
	return f.suspectsOf(nodes, func(visit func(int, suspecter)) error {
		return columns(ctx, nodes, func(i int, c *column) { visit(i, c.suspect) })
	}, p.LogPresence)
}

// suspecter is [column.suspect] of a node.
type suspecter func(sum []float64, mass *[maxStates]float64, offset float64)

// suspectsOf sums over nodes, each of which is visited once, those of a block by one worker. presence is the log evidence of all.
func (f *faulty) suspectsOf(nodes []int, each func(visit func(int, suspecter)) error, presence float64) ([]float64, error) {
	place := make(map[int]int, len(nodes))
	for k, i := range nodes {
		place[i] = k / blockWidth
	}
	parts := make([][]float64, 1+(len(nodes)-1)/blockWidth) // a block has one worker
	masses := make([][maxStates]float64, len(parts))
	for b := range parts {
		parts[b] = make([]float64, len(f.sensors))
	}
	err := each(func(i int, suspect suspecter) {
		b := place[i]
		suspect(parts[b], &masses[b], f.logPrior[i]-presence)
	})
	out := make([]float64, len(f.sensors))
	var mass [maxStates]float64
	for b, part := range parts {
		floats.Add(out, part)
		floats.Add(mass[:], masses[b][:])
	}
	total := floats.Sum(mass[:])
	for s := range f.sensors {
		for k := range f.logStates {
			out[s] += mass[k] * (1 - f.sensors[s].sound[k])
		}
		out[s] = min(1, max(0, out[s]/total))
	}
	return out, err
}

// likeliest returns the fewest nodes that hold a share of the probability.
func likeliest(probability []float64, share float64) []int {
	order := make([]int, len(probability))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compareDown(probability[i], probability[j]) })
	sum := 0.0
	for k, i := range order {
		if sum += probability[i]; sum >= share {
			return order[:k+1]
		}
	}
	return order
}

// suspect adds to mass, for each state, the integral of the posterior density, and to sum, for each
// sensor that the column moves, by how much it changes the probability to be faulty, times that
// density. offset is the log prior less the log evidence of all.
func (c *column) suspect(sum []float64, mass *[maxStates]float64, offset float64) {
	const tiny = 1e-12
	c.visit(c.raise(-offset), func(a, logWeight, value float64) {
		density := math.Exp(offset + logWeight + value)
		if density < tiny {
			mass[0] += density
			return
		}
		shares, states := c.shares(a), len(c.logStates)
		for k := range states {
			shares[k] *= density
			mass[k] += shares[k]
		}
		for i := range c.moved {
			m := &c.moved[i]
			sum[m.row] += m.unsound(a*m.x, &shares, states)
		}
	})
}
