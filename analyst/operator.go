// SPDX-License-Identifier: Apache-2.0

// Package analyst turns private measurements into a report: the posterior of the
// sources, the ranking of the communities and Basis Pursuit Denoising. It sees the
// public graph, the operator and noisy values; it cannot reach a
// store, a ledger or a signal.
package analyst

import (
	"context"
	"slices"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/laplacian/response"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// DenseLimit is the order up to which the rows of e^{-τL} are held as a matrix, of at
// most 8n² bytes.
const DenseLimit = 6000

// Operator is M: e^{-τL} with the graph and the Laplacian that it was made from, or one that is given. It keeps
// the matrix of the last sensors, and what was simulated for their noise: it is for one goroutine.
//
// A sensor is named by its row of M: by its node, or by its place among the readings of a given operator.
type Operator struct {
	Graph     *graph.Graph
	Laplacian *laplacian.Laplacian // nil with Given
	Diffusion *expm.Diffusion      // nil with Given
	Given     *response.Operator   // nil: e^{-τL}
	// Guard refuses a step that needs more memory than there is; nil: nothing is refused.
	Guard func(step string, bytes int64) error
	// Progress receives how far a stage of Analyse has come; total is 0 where it is
	// unknown. nil: silent.
	Progress func(stage string, done, total int64)

	nodes  []int // sensors of matrix
	matrix linop.Operator
	last   simulated
}

// simulated is a checker and what it was made for.
type simulated struct {
	nodes      []int
	sigmas     []float64
	prior      []float64
	amplitude  posterior.Amplitude
	falseAlarm float64
	checker    *posterior.Checker // nil: none was made
}

func (s simulated) is(of simulated) bool {
	return s.checker != nil && s.amplitude == of.amplitude && s.falseAlarm == of.falseAlarm &&
		slices.Equal(s.nodes, of.nodes) && slices.Equal(s.sigmas, of.sigmas) && slices.Equal(s.prior, of.prior)
}

// M returns the matrix.
func (o *Operator) M() linop.Approximation {
	if o.Given != nil {
		return o.Given
	}
	return o.Diffusion
}

// kind names what is listed beside the operator's own.
func (o *Operator) kind() string {
	if o.Given != nil {
		return "operator"
	}
	return "graph"
}

// own names the operator's own process.
func (o *Operator) own() string {
	if o.Given != nil {
		return "first operator"
	}
	return "stored graph"
}

// SensorID names the sensor of a row.
func (o *Operator) SensorID(row int) graph.ID {
	if o.Given != nil {
		return o.Given.ID(o.Graph, row)
	}
	return o.Graph.ID(row)
}

// SensorNodes returns the node of each of some rows, ascending as they are.
func (o *Operator) SensorNodes(rows []int) []int {
	if o.Given == nil {
		return rows
	}
	nodes := make([]int, len(rows))
	for k, row := range rows {
		nodes[k] = o.Given.Readings[row].Node
	}
	return nodes
}

// SensorCount counts the sensors of some rows.
func (o *Operator) SensorCount(rows []int) int {
	return len(slices.Compact(slices.Clone(o.SensorNodes(rows))))
}

// With returns the operator of another τ, without the rows that are held.
func (o *Operator) With(d *expm.Diffusion) *Operator {
	return &Operator{Graph: o.Graph, Laplacian: o.Laplacian, Diffusion: d, Guard: o.Guard, Progress: o.Progress}
}

// rows returns the rows of some sensors: as a matrix up to [DenseLimit]
// nodes of the graph, else through products.
func (o *Operator) rows(ctx context.Context, nodes []int) (linop.Operator, error) {
	if o.Graph.Order() > DenseLimit {
		return o.products(nodes)
	}
	if o.cached(nodes) {
		return o.matrix, nil
	}
	if err := o.CheckMemory(nodes); err != nil {
		return nil, err
	}
	if o.Given != nil {
		matrix, err := o.Given.Rows(ctx, nodes)
		o.nodes, o.matrix = slices.Clone(nodes), linop.Dense{M: matrix, Bound: o.Given.Err()}
		return o.matrix, err
	}
	matrix, err := o.Diffusion.Rows(ctx, nodes)
	if err != nil {
		return nil, err
	}
	component, _ := o.Graph.Components()
	parallel.Rows(len(nodes), o.Graph.Order(), func(lo, hi int) { // eigenvectors leave rounding between components
		for k := lo; k < hi; k++ {
			row, own := matrix.RawRowView(k), component[nodes[k]]
			for i := range row {
				if component[i] != own {
					row[i] = 0
				}
			}
		}
	})
	op, err := o.byComponent(linop.Dense{M: matrix, Bound: o.Diffusion.Err()}, nodes)
	if err != nil {
		return nil, err
	}
	o.nodes, o.matrix = slices.Clone(nodes), op
	return op, nil
}

// cached reports whether the matrix that is held is that of these sensors.
func (o *Operator) cached(nodes []int) bool { return o.matrix != nil && slices.Equal(o.nodes, nodes) }

// CheckMemory refuses sensors whose matrix, a scaled copy of it and workspace do not fit
// into memory, with the error of Guard.
func (o *Operator) CheckMemory(nodes []int) error {
	if o.Guard == nil || o.Graph.Order() > DenseLimit || o.cached(nodes) {
		return nil
	}
	return o.Guard("recovery", o.workspace(nodes)+8*int64(len(nodes))*int64(o.Graph.Order()))
}

// workspace is the bytes that a recovery takes beside the rows themselves: a scaled copy, and as much again.
func (o *Operator) workspace(nodes []int) int64 {
	return 2 * 8 * int64(len(nodes)) * int64(o.Graph.Order())
}

// products returns the rows through products.
func (o *Operator) products(nodes []int) (linop.Operator, error) {
	op := linop.Rows(o.M(), nodes)
	if o.Given != nil {
		return op, nil
	}
	if o.Diffusion.Method() != expm.Chebyshev { // rounding between components
		return op, nil
	}
	return o.byComponent(op, nodes)
}

// byComponent declares that op, some rows of e^{-τL}, is block diagonal by components.
func (o *Operator) byComponent(op linop.Operator, nodes []int) (linop.Operator, error) {
	component, _ := o.Graph.Components()
	of := make([]int32, len(nodes))
	for k, s := range nodes {
		of[k] = component[s]
	}
	return recovery.Separate(op, of, component)
}
