// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/measurement"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/report"
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

// overProcesses replaces a posterior under the operator, and that of a known mass, by those that are summed
// over all processes that are possible, and reports what was learnt of them.
func (a *analysis) overProcesses(ctx context.Context, p, known *posterior.Posterior, opts posterior.Options) (_, _ *posterior.Posterior, err error) {
	if !a.opts.StoredGraph {
		a.graphs = a.opts.Graphs
	}
	count, told := a.op.Processes(a.graphs, a.opts.TauFrom, a.opts.TauTo, len(a.in.Nodes))
	if !told {
		a.graphs = nil
		a.report.Notes = append(a.report.Notes, fmt.Sprintf("the process may have run on any of %d listed graphs too, which are too many or too large to sum a posterior over: it supposes the stored graph", len(a.opts.Graphs)))
	}
	if count == 1 {
		return p, known, nil
	}
	opts.Norms = nil // those of one process
	var list, knownList []*posterior.Posterior
	for x, err := range a.op.EachProcess(ctx, a.graphs, a.opts.TauFrom, a.opts.TauTo) {
		if err != nil {
			return nil, nil, err
		}
		w, err := a.under(ctx, x.Operator)
		if err != nil {
			return nil, nil, err
		}
		for _, amplitude := range []posterior.Amplitude{a.opts.Amplitude, posterior.UnitAmplitude} {
			opts.Amplitude = amplitude
			one, err := posterior.New(ctx, w.Data, opts)
			if err != nil {
				return nil, nil, err
			}
			if len(list) == len(knownList) {
				list = append(list, one)
			} else {
				knownList = append(knownList, one)
			}
		}
		a.processes = append(a.processes, x)
	}
	if known, _, err = posterior.Mix(knownList, nil, opts.Level); err != nil {
		return nil, nil, err
	}
	if p, a.shares, err = posterior.Mix(list, nil, opts.Level); err == nil {
		a.addLearnt()
	}
	return p, known, err
}

// under returns the measurements under another operator.
func (w *Whitened) under(ctx context.Context, o *Operator) (*Whitened, error) {
	if o == w.op {
		return w, nil
	}
	return o.Whiten(ctx, w.in)
}

// severalProcesses reports whether the posterior is summed over several.
func (a *analysis) severalProcesses() bool { return len(a.processes) > 1 }

// likeliest returns the process of the largest posterior probability.
func (a *analysis) likeliest() Process { return a.processes[floats.MaxIdx(a.shares)] }

// underEach yields measurements under every process that the posterior is summed over, or under the
// operator.
func (a *analysis) underEach(ctx context.Context, w *Whitened) iter.Seq2[measurement.Data, error] {
	return func(yield func(measurement.Data, error) bool) {
		if !a.severalProcesses() {
			yield(w.Data, nil)
			return
		}
		for _, x := range a.processes {
			at, err := w.under(ctx, x.Operator)
			if err != nil {
				yield(measurement.Data{}, err)
				return
			}
			if !yield(at.Data, nil) {
				return
			}
		}
	}
}

// addLearnt reports what was learnt of τ and of the graph.
func (a *analysis) addLearnt() {
	rep := a.report
	if a.opts.TauFrom < a.opts.TauTo {
		grid, share := TauGrid(a.opts.TauFrom, a.opts.TauTo), make([]float64, tauPoints)
		for k := range a.processes {
			share[k%tauPoints] += a.shares[k]
		}
		for k, tau := range grid {
			rep.TauPosterior = append(rep.TauPosterior, report.TauProbability{Tau: tau, Probability: min(1, share[k])})
		}
		rep.Notes = append(rep.Notes, fmt.Sprintf("τ may be anything from %.4g to %.4g, and the posterior of one source is summed over it: %s", a.opts.TauFrom, a.opts.TauTo, learntOfTau(grid, share)))
		if a.asksForSources() {
			rep.Notes = append(rep.Notes, "the number of sources, and more than one of them, are weighed at the plan's τ alone, though it may be another")
		}
	}
	if len(a.graphs) == 0 {
		return
	}
	share := make([]float64, 1+len(a.graphs))
	for k, x := range a.processes {
		share[x.Graph] += a.shares[k]
	}
	for g, v := range share {
		x := report.GraphProbability{Probability: min(1, v)}
		if g > 0 {
			x.Name = a.graphs[g-1].Name
		}
		rep.GraphPosterior = append(rep.GraphPosterior, x)
	}
	rep.Notes = append(rep.Notes, fmt.Sprintf("the process may have run on the stored graph or on any of %d listed ones, each as likely beforehand, and the posterior of one source is summed over all %d: %s; "+
		"Basis Pursuit Denoising supposes the stored graph", len(a.graphs), len(share), learntOfGraphs(rep.GraphPosterior)))
	if a.asksForSources() {
		rep.Notes = append(rep.Notes, "the number of sources, and more than one of them, are weighed on the stored graph alone, though the process may have run on another")
	}
}

// asksForSources reports whether another number of sources than one was asked for by name.
func (a *analysis) asksForSources() bool {
	s := a.opts.Sources
	return s != 0 && s != 1 && s != OneOrTwo
}

// toldGraphs is how many graphs a note names.
const toldGraphs = 8

// learntOfGraphs names the likeliest graphs with their probabilities.
func learntOfGraphs(list []report.GraphProbability) string {
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(x, y report.GraphProbability) int {
		switch {
		case x.Probability > y.Probability:
			return -1
		case x.Probability < y.Probability:
			return 1
		}
		return 0
	})
	var names []string
	for _, x := range order[:min(len(order), toldGraphs)] {
		names = append(names, fmt.Sprintf("%s %s", x.Label(), report.Percent(x.Probability)))
	}
	text, chance, p := strings.Join(names, ", "), 1/float64(len(list)), order[0].Probability
	if more := len(order) - len(names); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	if p*(1-chance) < report.MinBayesFactor*chance*(1-p) {
		return "the measurements hardly tell which (" + text + ")"
	}
	return text
}
