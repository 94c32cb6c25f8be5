// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"context"
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// problem is a model with the rows of its candidate sensors.
type problem struct {
	ctx       context.Context
	model     sensitivity.Model
	opts      Options
	objective Objective
	memory    int64   // in bytes, for the rows of the candidates
	gap       float64 // the relative distance from its optimum at which a programme ends
	limit     float64 // of the work, in seconds; 0: none
	work      float64 // so far

	rows  *rows
	index []int // of each candidate among the model's sensors

	labels []int
	count  int
	prior  []float64 // sums to 1

	cap   []float64 // h_s: the largest u_s that the candidate could have alone
	value []float64 // constraint of every edge, scratch space

	size size
}

// programmeGap is the gap of a programme whose solution is the result.
const programmeGap = .001

// newUnread checks the input. It returns the nodes of the sensors beside the problem.
func newUnread(ctx context.Context, m sensitivity.Model, diffusion Diffusion, labels []int, opts Options) (*problem, []int, error) {
	if m.Graph == nil || diffusion == nil {
		return nil, nil, fmt.Errorf("allocation: Model lacks Graph, or there is no diffusion")
	}
	n := m.Graph.Order()
	if r, c := diffusion.Dims(); r != n || c != n {
		return nil, nil, fmt.Errorf("allocation: diffusion is %d × %d, want %d × %d", r, c, n, n)
	}
	sensors := m.Sensors
	if sensors == nil {
		sensors = make([]int, n)
		for i := range sensors {
			sensors[i] = i
		}
	}
	for _, s := range sensors {
		if s < 0 || s >= n {
			return nil, nil, fmt.Errorf("allocation: sensor %d is not one of %d nodes", s, n)
		}
	}
	if !(m.Alpha >= 0) || math.IsInf(m.Alpha, 1) {
		return nil, nil, fmt.Errorf("allocation: alpha is %v, want a finite number > 0", m.Alpha)
	}
	if m.Alpha == 0 {
		m.Alpha = 1
	}
	if err := opts.check(n); err != nil {
		return nil, nil, err
	}
	if m.Graph.Size() == 0 {
		return nil, nil, fmt.Errorf("%w: the graph has no relationships, so nobody has a neighbour to hide among", ErrNothing)
	}
	p := &problem{
		ctx: ctx, model: m, opts: opts, size: fullSize, memory: DefaultMemory, gap: programmeGap, limit: opts.Time.Seconds(),
	}
	p.setPrior(n)
	if err := p.setLabels(labels); err != nil {
		return nil, nil, err
	}
	return p, sensors, nil
}

// read chooses the candidates among the sensors and reads their rows of M.
func (p *problem) read(diffusion Diffusion, sensors []int) error {
	p.index = p.chooseCandidates(diffusion, sensors)
	if err := p.ctx.Err(); err != nil {
		return err
	}
	pick := make([]int, len(p.index))
	for k, i := range p.index {
		pick[k] = sensors[i]
	}
	var err error
	block := blockRows * p.column()
	if p.rows, err = newRows(p.ctx, diffusion, pick, func() bool {
		p.work += block
		return p.limit > 0 && p.work > p.limit/2
	}, p.opts.Progress); err != nil {
		return err
	}
	p.rows.edges = edgesOf(p.model.Graph, p.model.Alpha)
	if err := p.addWorlds(); err != nil {
		return err
	}
	p.value = make([]float64, len(p.rows.edges))
	if err := p.setCap(diffusion.Err()); err != nil {
		return err
	}
	return p.ctx.Err()
}

// addWorlds reads the same candidates under the other operators, and repeats the edges
// for each.
func (p *problem) addWorlds() error {
	own := p.rows.edges
	for k, d := range p.opts.Worlds {
		if r, c := d.Dims(); r != p.rows.n || c != p.rows.n {
			return fmt.Errorf("%w: operator %d is %d × %d, want %d × %d", ErrInvalid, k, r, c, p.rows.n, p.rows.n)
		}
		other, err := newRows(p.ctx, d, p.rows.pick, func() bool { return false }, p.opts.Progress)
		if err != nil {
			return err
		}
		p.rows.worlds = append(p.rows.worlds, other)
		for _, e := range own {
			e.world = int32(k + 1)
			p.rows.edges = append(p.rows.edges, e)
		}
	}
	return nil
}

func (p *problem) setPrior(n int) {
	p.prior = make([]float64, n)
	var total float64
	for i := range p.prior {
		p.prior[i] = 1
		if p.opts.Prior != nil {
			p.prior[i] = p.opts.Prior[i]
		}
		total += p.prior[i]
	}
	for i := range p.prior {
		p.prior[i] /= total
	}
}

// setLabels checks the communities and chooses the objective.
func (p *problem) setLabels(labels []int) (err error) {
	n := p.model.Graph.Order()
	if labels == nil {
		labels = make([]int, n)
	}
	if p.labels, p.count, err = groups(labels, n); err != nil {
		return err
	}
	switch {
	case n > RowsLimit:
		p.objective = Energy
	case p.count > 1:
		p.objective = Information
	}
	return nil
}

// RowsLimit is the order up to which rows of M are read: those of most sensors fit.
const RowsLimit = 10_000

// numericalError bounds what numerical errors may add to the whitened sensitivity, whose scale
// is 1.
const numericalError = 1e-3

// setCap sets h_s, the largest feasible weight of sensor s alone, and at most u_max: the
// equal weight or, if larger, the weight at which √u_max times the error of M and of its
// certificate is numericalError. It binds where the differences of M_s· across edges are
// below that error. A sensor in a component of its own has no edge that bounds its weight,
// and gets that of equal allocation.
func (p *problem) setCap(norm float64) error {
	worst := p.rows.largestSquares()
	uniform := 1 / p.rows.constraints(p.value, ones(p.rows.k))
	if math.IsInf(uniform, 1) {
		return fmt.Errorf("%w: the candidates read the same from the two ends of every relationship", ErrNothing)
	}
	n := float64(p.rows.n)
	e := n*math.Sqrt(n)*0x1p-52 + 2*math.Sqrt(n)*norm
	most := max(uniform, numericalError*numericalError/(e*e))
	component, sizes := p.model.Graph.Components()
	p.cap = make([]float64, p.rows.k)
	for s, w := range worst {
		p.cap[s] = min(1/w, most)
		if sizes[component[p.rows.pick[s]]] == 1 {
			p.cap[s] = uniform
		}
	}
	return nil
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// perMultiplication is about how many seconds a multiplication takes with its share of the memory.
const perMultiplication = .5e-9

// charge adds so many multiplications to the work. Work is counted where it is done one after the other alone.
func (p *problem) charge(multiplications int) { p.work += perMultiplication * float64(multiplications) }

// expired reports whether the search must stop.
func (p *problem) expired() bool { return p.ctx.Err() != nil || p.limit > 0 && p.work >= p.limit }

// column estimates the seconds of a product with M.
func (p *problem) column() float64 {
	cost, err := expm.Estimate(p.model.Laplacian, p.model.Tau, expm.Options{Method: expm.Chebyshev})
	if n := float64(p.model.Graph.Order()); err != nil { // there are eigenpairs
		return perMultiplication * n * n / 2 // in a block
	}
	return cost.Column
}
