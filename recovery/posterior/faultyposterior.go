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
	norms    Norms
	longest  float64 // the largest norm of a column
	raised   bool    // the noise was
	// columns calls do for the columns of A at some nodes, on every processor; do may write to
	// what belongs to its node.
	columns func(ctx context.Context, nodes []int, do func(i int, c *column)) error
}

func prepareFaulty(ctx context.Context, d measurement.Data, opts Options) (*faulty, error) {
	_, n := d.A.Dims()
	if err := opts.Faults.check(len(d.Y)); err != nil {
		return nil, err
	}
	logPrior, err := logWeights(opts.Prior, n)
	if err != nil {
		return nil, err
	}
	f := &faulty{d: d, logPrior: logPrior}
	f.columns = f.wholeColumns
	faults, err := f.resolve(ctx, opts)
	if err != nil {
		return nil, err
	}
	f.faultyEvidence = newFaultyEvidence(f.d.Y, faults, opts.Amplitude)
	return f, nil
}

// exact is the posterior by columns, whose log likelihood is off by what is given for each node; nil for nothing.
func (f *faulty) exact(ctx context.Context, off []float64) (*Posterior, error) {
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
	var low, high []float64
	if off != nil {
		low, high = slices.Clone(weight), slices.Clone(weight)
		floats.Sub(low, off)
		floats.Add(high, off)
	}
	p.normalize(low, high)
	p.Faulty, err = f.suspects(ctx, p, f.columns)
	return p, err
}

// weights returns the log evidence and prior of each node. Nodes that are more than
// [negligible] below the best have an upper bound: together their probability is below
// n·e⁻⁵⁰.
func (f *faulty) weights(ctx context.Context) ([]float64, error) {
	n := len(f.logPrior)
	weight, all := make([]float64, n), everyNode(n)
	err := f.columns(ctx, all, func(i int, c *column) { weight[i] = c.bound(0, 1) + f.logPrior[i] })
	if err != nil {
		return nil, err
	}
	order := descending(slices.Clone(all), weight)
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

// wholeColumns is columns by entries or products.
func (f *faulty) wholeColumns(ctx context.Context, nodes []int, do func(i int, c *column)) error {
	m := len(f.d.Y)
	return inBlocks(ctx, len(nodes), func(from, to int) {
		var c column
		x := make([]float64, m*(to-from))
		linop.ColumnsTo(f.d.A, x, nodes[from:to])
		for k, i := range nodes[from:to] {
			f.column(nil, x[k*m:(k+1)*m], &c)
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

// unseenMass is the posterior probability of the nodes that suspects are not asked about, unless there would be more than suspectNodes.
const (
	unseenMass   = 1e-6
	suspectNodes = 1 << 11
)

// suspects returns for each measurement the probability of its sensor to be faulty, given one source: under no source
// it is 1 − sensor.sound, and each source changes it where it moves the mean.
// It is off by at most [unseenMass]. columns is [faulty.columns] or what stands for it.
func (f *faulty) suspects(ctx context.Context, p *Posterior,
	columns func(context.Context, []int, func(int, *column)) error,
) ([]float64, error) {
	nodes := likeliest(p.Probability, 1-unseenMass)
	nodes = nodes[:min(suspectNodes, len(nodes))]
	place := make(map[int]int, len(nodes))
	for k, i := range nodes {
		place[i] = k / blockWidth
	}
	parts := make([][]float64, 1+(len(nodes)-1)/blockWidth) // a block has one worker
	masses := make([]float64, len(parts))
	for b := range parts {
		parts[b] = make([]float64, len(f.sensors))
	}
	err := columns(ctx, nodes, func(i int, c *column) {
		b := place[i]
		masses[b] += c.suspect(parts[b], f.logPrior[i]-p.LogPresence)
	})
	out := make([]float64, len(f.sensors))
	for _, part := range parts {
		floats.Add(out, part)
	}
	floats.Scale(1/floats.Sum(masses), out)
	for s, v := range out {
		out[s] = min(1, max(0, 1-f.sensors[s].sound+v))
	}
	return f.measurements(out), err
}

// measurements returns what is given of each sensor for each measurement.
func (e *faultyEvidence) measurements(sensors []float64) []float64 {
	out := make([]float64, len(e.of))
	for r, s := range e.of {
		out[r] = sensors[s]
	}
	return out
}

// suspect returns the integral of the posterior density, and adds to sum, for each
// sensor that the column moves, by how much it changes the probability to be faulty, times that
// density. offset is the log prior less the log evidence of all.
func (c *column) suspect(sum []float64, offset float64) (mass float64) {
	const tiny = 1e-12
	c.visit(c.raise(-offset), func(a, logWeight, value float64) {
		density := math.Exp(offset + logWeight + value)
		mass += density
		if density < tiny {
			return
		}
		for i := range c.moved {
			m := &c.moved[i]
			sound, _ := m.at(m.exponent(a))
			sum[m.number] += density * (m.sound - sound)
		}
	})
	return mass
}

// resolvable bounds the norm of a column of A where sensors may be broken. Exponents are then up to 10¹⁰ nats,
// which rounding leaves far better known than to a nat, and a likelihood is as narrow as 10⁻⁵, which takes
// some ten thousand panels where none is negligible. Far beyond it the bounds by which quadrature leaves out what is
// negligible are rounding, and panels without end. Where A is known by products, whose bounds leave little out, it is less.
const (
	resolvable           = 1e5
	resolvableByProducts = 1e3
)

// resolve raises the noise of all measurements where a column of A is longer than that, so that none is: a likelihood
// that takes noise for larger than it is claims less. Entries, measurements and ranges are in units of the noise.
func (f *faulty) resolve(ctx context.Context, opts Options) (Faults, error) {
	faults := opts.Faults
	var err error
	if f.norms, err = opts.norms(ctx, f.d); err != nil {
		return faults, err
	}
	f.longest = math.Sqrt(floats.Max(f.norms.N))
	limit := float64(resolvable)
	if !linop.HoldsEntries(f.d.A) {
		limit = resolvableByProducts
	}
	if !(f.longest > limit) {
		return faults, nil
	}
	scale := limit / f.longest
	scaled := func(x []float64, by float64) []float64 {
		x = slices.Clone(x)
		floats.Scale(by, x)
		return x
	}
	f.raised, f.longest = true, limit
	f.d = measurement.Data{A: rescaled(f.d.A, scale), Y: scaled(f.d.Y, scale)}
	faults.Low, faults.High = scaled(faults.Low, scale), scaled(faults.High, scale)
	square := scale * scale
	f.norms = Norms{scaled(f.norms.N, square), scaled(f.norms.Low, square), scaled(f.norms.High, square)}
	return faults, nil
}

// rescaled is scale·a.
func rescaled(a linop.Operator, scale float64) linop.Operator {
	s, ok := a.(linop.Scaled)
	if !ok {
		s.A = a
		m, _ := a.Dims()
		s.Rows, s.Scale = everyNode(m), slices.Repeat([]float64{1}, m)
	}
	s.Scale = slices.Clone(s.Scale)
	floats.Scale(scale, s.Scale)
	return s
}
