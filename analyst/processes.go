// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"context"
	"fmt"
	"iter"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/response"
)

// ListedGraph is a public graph of the same nodes that the process may have run on instead of the
// operator's, which is as likely beforehand; or a further given operator.
type ListedGraph struct {
	Name      string
	Graph     *graph.Graph
	Laplacian *laplacian.Laplacian
	Given     *response.Operator // in place of Graph and Laplacian, beside an operator that is given
}

// Process is a process that may have made the measurements.
type Process struct {
	Graph    int // place in the list, from 1; 0: the operator's own
	Tau      float64
	Operator *Operator
}

// Bounds of a posterior that is summed over graphs. With these it never holds much more than 1 GiB: rows of a
// minute are 240 MB, eigenpairs of a minute for at most so many graphs 1.2 GB.
const (
	maxProcesses   = 200
	processSeconds = 60   // of one core, by estimate
	entrySeconds   = 2e-6 // of the posteriors and tests for an entry of M
	nodeSeconds    = 3e-3 // of these for a node, where sensors are few
)

// Processes counts the graphs times τ that a posterior of so many sensors is summed over. It is 1
// beyond [DenseLimit] nodes, and that of the operator's graph alone, with all false, where the listed
// graphs would take too long.
func (o *Operator) Processes(graphs []ListedGraph, taus tau.Range, sensors int) (count int, all bool) {
	if o.Graph.Order() > DenseLimit {
		return 1, len(graphs) == 0
	}
	points := 1
	if taus.IsWide() {
		points = tauPoints
	}
	count = points * (1 + len(graphs))
	if len(graphs) == 0 {
		return count, true
	}
	if count > maxProcesses {
		return points, false
	}
	// the error is that of CheckProcesses and EachProcess
	if seconds, _, _ := o.processCost(graphs, taus.To, count, sensors); seconds > processSeconds {
		return points, false
	}
	return count, true
}

// processCost estimates what a posterior over so many processes takes: seconds of one core, and the bytes that
// it holds. It returns the errors of [expm.Estimate].
func (o *Operator) processCost(graphs []ListedGraph, to float64, count, sensors int) (seconds float64, bytes int64, err error) {
	entries := int64(count) * int64(o.Graph.Order()) * int64(sensors)
	seconds, bytes = max(entrySeconds*float64(entries), nodeSeconds*float64(count)*float64(o.Graph.Order())), 8*entries
	for _, g := range graphs {
		if g.Given != nil {
			continue
		}
		cost, e := o.costOn(g, to)
		seconds += cost.Prepare
		bytes += cost.Bytes
		if err == nil && e != nil {
			err = fmt.Errorf("graph %q: %w", g.Name, e)
		}
	}
	return seconds, bytes, err
}

// CheckProcesses refuses a posterior over all processes that does not fit into memory, with the error of Guard,
// and a graph whose operator cannot be computed, with that of [expm.Estimate].
func (o *Operator) CheckProcesses(graphs []ListedGraph, taus tau.Range, nodes []int) error {
	count, all := o.Processes(graphs, taus, len(nodes))
	if count == 1 {
		return o.CheckMemory(nodes)
	}
	if !all {
		graphs = nil
	}
	_, bytes, err := o.processCost(graphs, taus.To, count, len(nodes))
	if err != nil || o.Guard == nil {
		return err
	}
	return o.Guard("recovery over tau and graphs", bytes+o.workspace(nodes))
}

// EachProcess yields every graph with every τ: the operator's own and those listed, and the operator's
// τ, or [TauGrid] of a range. Its errors are those of [expm.New].
func (o *Operator) EachProcess(ctx context.Context, graphs []ListedGraph, taus tau.Range) iter.Seq2[Process, error] {
	grid := []float64{0}
	if o.Given == nil {
		grid[0] = o.Diffusion.Tau()
	}
	if taus.IsWide() {
		grid = TauGrid(taus)
	}
	return func(yield func(Process, error) bool) {
		for g := range 1 + len(graphs) {
			op, err := o, error(nil)
			if g > 0 {
				op, err = o.on(ctx, graphs[g-1], taus.To)
			}
			for _, tau := range grid {
				p := Process{g, tau, op}
				if err == nil && op.Given == nil && tau != op.Diffusion.Tau() {
					p.Operator, err = op.at(tau)
				}
				if !yield(p, err) || err != nil {
					return
				}
			}
		}
	}
}

// at returns the operator of another τ.
func (o *Operator) at(tau float64) (*Operator, error) {
	d, err := o.Diffusion.WithTau(tau)
	if err != nil {
		return nil, fmt.Errorf("tau %v: %w", tau, err)
	}
	return o.With(d), nil
}

// costOn estimates the operator of another graph for every τ up to the operator's or to: through products
// where these are accurate, for eigenpairs of each graph would take longer.
func (o *Operator) costOn(g ListedGraph, to float64) (expm.Cost, error) {
	most := max(o.Diffusion.Tau(), to)
	cost, err := expm.Estimate(g.Laplacian, most, expm.Options{Method: expm.Chebyshev})
	if err != nil {
		return expm.Estimate(g.Laplacian, most, expm.Options{Method: expm.Eigen})
	}
	return cost, nil
}

// on returns the operator of another graph, for every τ up to the operator's or to.
func (o *Operator) on(ctx context.Context, g ListedGraph, to float64) (*Operator, error) {
	if g.Given != nil {
		return &Operator{Graph: o.Graph, Given: g.Given, Guard: o.Guard, Progress: o.Progress}, nil
	}
	cost, err := o.costOn(g, to)
	if err != nil {
		return nil, fmt.Errorf("graph %q: %w", g.Name, err)
	}
	d, err := expm.New(ctx, g.Laplacian, o.Diffusion.Tau(), expm.Options{Method: cost.Method})
	if err != nil {
		return nil, fmt.Errorf("graph %q: %w", g.Name, err)
	}
	return &Operator{Graph: g.Graph, Laplacian: g.Laplacian, Diffusion: d, Guard: o.Guard, Progress: o.Progress}, nil
}
