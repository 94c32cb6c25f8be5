// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/report"
)

// overProcesses replaces a posterior under the operator, and that of a known mass, by those that are summed
// over all processes that are possible, and reports what was learnt of them.
func (a *analysis) overProcesses(ctx context.Context, p, known *posterior.Posterior,
	opts posterior.Options,
) (_, _ *posterior.Posterior, err error) {
	if !a.opts.StoredGraph {
		a.graphs = a.opts.Graphs
	}
	count, all := a.op.Processes(a.graphs, a.opts.Tau, len(a.in.Nodes))
	if !all {
		a.graphs = nil
		a.report.Notes = append(a.report.Notes, fmt.Sprintf("the process may be that of any of %d listed %ss too, which are too "+
			"many or too large to sum a posterior over: it supposes the %s", len(a.opts.Graphs), a.op.kind(), a.op.own()))
	}
	if count == 1 {
		return p, known, nil
	}
	if err := a.op.CheckProcesses(a.graphs, a.opts.Tau, a.in.Nodes); err != nil {
		return nil, nil, err
	}
	opts.Norms = nil // those of one process
	var list, knownList []*posterior.Posterior
	for x, err := range a.op.EachProcess(ctx, a.graphs, a.opts.Tau) {
		if err != nil {
			return nil, nil, err
		}
		w, err := a.under(ctx, x.Operator)
		if err != nil {
			return nil, nil, err
		}
		add := func(to *[]*posterior.Posterior, amplitude posterior.Amplitude) error {
			opts.Amplitude = amplitude
			one, err := posterior.New(ctx, w.Data, opts)
			*to = append(*to, one)
			return err
		}
		if err := add(&list, a.opts.Amplitude); err != nil {
			return nil, nil, err
		}
		if err := add(&knownList, posterior.UnitAmplitude); err != nil {
			return nil, nil, err
		}
		a.processes = append(a.processes, x)
	}
	if known, _, err = posterior.Mix(knownList); err != nil {
		return nil, nil, err
	}
	if p, a.shares, err = posterior.Mix(list); err == nil {
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

// underEach returns measurements under every process that the posterior is summed over, or under the
// operator.
func (a *analysis) underEach(ctx context.Context, w *Whitened) ([]measurement.Data, error) {
	if !a.severalProcesses() {
		return []measurement.Data{w.Data}, nil
	}
	var list []measurement.Data
	for _, x := range a.processes {
		at, err := w.under(ctx, x.Operator)
		if err != nil {
			return nil, err
		}
		list = append(list, at.Data)
	}
	return list, nil
}

// addLearnt reports what was learnt of τ and of the graph.
func (a *analysis) addLearnt() {
	rep := a.report
	twoSources := func(of string) {
		if a.opts.Sources == 2 {
			rep.Notes = append(rep.Notes, "two sources are weighed under the "+of+" alone, though it may be another")
		}
	}
	if a.opts.Tau.IsWide() {
		names, share := make([]string, tauPoints), make([]float64, tauPoints)
		for k := range a.processes {
			share[k%tauPoints] += a.shares[k]
		}
		for k, tau := range TauGrid(a.opts.Tau) {
			names[k] = fmt.Sprintf("τ near %.3g", tau)
			rep.TauPosterior = append(rep.TauPosterior, report.TauProbability{Tau: tau, Probability: min(1, share[k])})
		}
		rep.Notes = append(rep.Notes, fmt.Sprintf("τ may be anything from %.4g to %.4g, and the posterior of one source is "+
			"summed over it: %s", a.opts.Tau.From, a.opts.Tau.To, learnt(names, share)))
		twoSources("plan's τ")
	}
	if len(a.graphs) == 0 {
		return
	}
	names, share := make([]string, 1+len(a.graphs)), make([]float64, 1+len(a.graphs))
	for k, x := range a.processes {
		share[x.Graph] += a.shares[k]
	}
	for g, v := range share {
		x := report.GraphProbability{Probability: min(1, v)}
		switch {
		case g > 0:
			x.Name = a.graphs[g-1].Name
		case a.op.Given != nil:
			x.Name = a.op.Given.Name
		}
		names[g] = x.Label()
		rep.GraphPosterior = append(rep.GraphPosterior, x)
	}
	rep.Notes = append(rep.Notes, fmt.Sprintf("the process may be that of the %s or of any of %d listed ones, each as likely "+
		"beforehand, and the posterior of one source is summed over all %d: %s; "+
		"Basis Pursuit Denoising supposes the %s", a.op.own(), len(a.graphs), len(share), learnt(names, share), a.op.own()))
	twoSources(a.op.own())
}
