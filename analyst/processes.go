// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"context"
	"fmt"
	"iter"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
)

// ListedGraph is a public graph of the same nodes that the process may have run on instead of the
// operator's, which is as likely beforehand.
type ListedGraph struct {
	Name      string
	Graph     *graph.Graph
	Laplacian *laplacian.Laplacian
}

// Process is a process that may have made the measurements.
type Process struct {
	Graph    int // place in the list, from 1; 0: the operator's own
	Tau      float64
	Operator *Operator
}

// Bounds of a posterior that is summed over graphs: processes, and those times the entries of M.
const (
	maxProcesses = 200
	processWork  = 4e8
)

// Processes counts the graphs times τ that a posterior of so many sensors is summed over. It is 1
// beyond [DenseLimit] nodes, and that of the operator's graph alone, with told false, where the listed
// graphs would take too long.
func (o *Operator) Processes(graphs []ListedGraph, from, to float64, sensors int) (count int, told bool) {
	n := o.Graph.Order()
	if n > DenseLimit {
		return 1, len(graphs) == 0
	}
	taus := 1
	if from < to {
		taus = tauPoints
	}
	count = taus * (1 + len(graphs))
	if len(graphs) == 0 || count <= maxProcesses && float64(count)*float64(n)*float64(sensors) <= processWork {
		return count, true
	}
	return taus, false
}

// EachProcess yields every graph with every τ: the operator's own and those listed, and the operator's
// τ, or [TauGrid] where from < to. Its errors are those of [expm.New].
func (o *Operator) EachProcess(ctx context.Context, graphs []ListedGraph, from, to float64) iter.Seq2[Process, error] {
	grid := []float64{o.Diffusion.Tau()}
	if from < to {
		grid = TauGrid(from, to)
	}
	return func(yield func(Process, error) bool) {
		for g := range 1 + len(graphs) {
			op, err := o, error(nil)
			if g > 0 {
				op, err = o.on(ctx, graphs[g-1], max(o.Diffusion.Tau(), to))
			}
			for _, tau := range grid {
				p := Process{g, tau, op}
				if err == nil && tau != op.Diffusion.Tau() {
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

// on returns the operator of another graph, through products where these are accurate for every τ up to
// most: eigenpairs of each graph would take longer.
func (o *Operator) on(ctx context.Context, g ListedGraph, most float64) (*Operator, error) {
	method := expm.Chebyshev
	if _, err := expm.Estimate(g.Laplacian, most, expm.Options{Method: method}); err != nil {
		method = expm.Eigen
	}
	d, err := expm.New(ctx, g.Laplacian, o.Diffusion.Tau(), expm.Options{Method: method})
	if err != nil {
		return nil, fmt.Errorf("graph %q: %w", g.Name, err)
	}
	return &Operator{Graph: g.Graph, Laplacian: g.Laplacian, Diffusion: d, Guard: o.Guard, Progress: o.Progress}, nil
}
