// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"context"
	"fmt"
	"math"
	"slices"

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
	rows, c := diffusion.Dims()
	if c != n || rows != n && m.Given == nil {
		return nil, nil, fmt.Errorf("allocation: diffusion is %d × %d, want %d × %d", rows, c, n, n)
	}
	sensors := m.Sensors
	if sensors == nil || m.Given != nil {
		sensors = make([]int, rows)
		for i := range sensors {
			sensors[i] = i
		}
	}
	for _, s := range sensors {
		if s < 0 || s >= rows {
			return nil, nil, fmt.Errorf("allocation: sensor %d is not one of %d", s, rows)
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

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// secondsPerMultiplication is about how many seconds a multiplication takes with its share of the memory.
const secondsPerMultiplication = .5e-9

// charge adds so many multiplications to the work. Work is counted where it is done one after the other alone.
func (p *problem) charge(multiplications int) {
	p.work += secondsPerMultiplication * float64(multiplications)
}

// expired reports whether the search must stop.
func (p *problem) expired() bool { return p.ctx.Err() != nil || p.limit > 0 && p.work >= p.limit }

// column estimates the seconds of a product with M.
func (p *problem) column() float64 {
	if p.model.Given != nil {
		return secondsPerMultiplication * float64(len(p.model.Given[0].Row))
	}
	cost, err := expm.Estimate(p.model.Laplacian, p.model.Tau, expm.Options{Method: expm.Chebyshev})
	if n := float64(p.model.Graph.Order()); err != nil { // there are eigenpairs
		return secondsPerMultiplication * n * n / 2 // in a block
	}
	return cost.Column
}

// groups numbers the labels 0, 1, … by first node and returns their count.
func groups(labels []int, n int) ([]int, int, error) {
	if len(labels) != n {
		return nil, 0, fmt.Errorf("allocation: %d community labels for %d nodes", len(labels), n)
	}
	number := make(map[int]int)
	out := make([]int, n)
	for i, l := range labels {
		if l < 0 {
			return nil, 0, fmt.Errorf("allocation: community of node %d is %d, want a number ≥ 0", i, l)
		}
		k, ok := number[l]
		if !ok {
			k = len(number)
			number[l] = k
		}
		out[i] = k
	}
	return out, len(number), nil
}

// sensors returns the number of sensors of the model.
func (p *problem) sensors() int {
	switch {
	case p.model.Given != nil:
		rows, _ := p.model.Given[0].Dims()
		return rows
	case p.model.Sensors == nil:
		return p.model.Graph.Order()
	}
	return len(p.model.Sensors)
}

func reporting(u []float64) int {
	n := 0
	for _, v := range u {
		if v > 0 {
			n++
		}
	}
	return n
}

// sampleNodes returns at most most nodes, from every community in proportion to its order.
func (p *problem) sampleNodes(most int) []int {
	order := make([]int, len(p.labels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return p.labels[i] - p.labels[j] })
	m := min(len(order), most)
	nodes := make([]int, m)
	for k := range nodes {
		nodes[k] = order[k*len(order)/m]
	}
	return nodes
}
