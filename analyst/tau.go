// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/report"
)

// tauPoints is the number of values of τ that an interval is summed over.
const tauPoints = 9

// TauGrid returns the τ that a posterior over [from, to] sums: the middles of equal parts on
// a logarithmic scale, the grid of a prior that is flat in log τ.
func TauGrid(from, to float64) []float64 {
	out := make([]float64, tauPoints)
	for k := range out {
		out[k] = from * math.Pow(to/from, (float64(k)+.5)/tauPoints)
	}
	return out
}

// overTau replaces a posterior at the operator's τ by the one that is summed over the τ
// that are possible, where some are and the rows of M are held; tell adds to the report
// what was learnt of τ.
func (a *analysis) overTau(ctx context.Context, p *posterior.Posterior, opts posterior.Options, tell bool) (*posterior.Posterior, error) {
	if !(a.opts.TauFrom < a.opts.TauTo) || a.op.Graph.Order() > DenseLimit {
		return p, nil
	}
	opts.Norms = nil // those of one τ
	grid := TauGrid(a.opts.TauFrom, a.opts.TauTo)
	list := make([]*posterior.Posterior, len(grid))
	for k, tau := range grid {
		d, err := a.op.Diffusion.WithTau(tau)
		if err != nil {
			return nil, fmt.Errorf("tau %v: %w", tau, err)
		}
		w, err := a.op.With(d).Whiten(ctx, a.in)
		if err != nil {
			return nil, err
		}
		if list[k], err = posterior.New(ctx, w.Data, opts); err != nil {
			return nil, err
		}
	}
	mixed, share, err := posterior.Mix(list, nil, opts.Level)
	if err != nil || !tell {
		return mixed, err
	}
	for k, tau := range grid {
		a.report.TauPosterior = append(a.report.TauPosterior, report.TauProbability{Tau: tau, Probability: min(1, share[k])})
	}
	a.report.Notes = append(a.report.Notes, fmt.Sprintf("τ may be anything from %.4g to %.4g, and the posterior of one source is summed over it: %s", a.opts.TauFrom, a.opts.TauTo, learntOfTau(grid, share)))
	if s := a.opts.Sources; s != 0 && s != 1 && s != OneOrTwo {
		a.report.Notes = append(a.report.Notes, "the number of sources, and more than one of them, are weighed at the plan's τ alone, though it may be another")
	}
	return mixed, nil
}

// learntOfTau says which τ of a grid is the likeliest, where one stands out as a community does.
func learntOfTau(grid, share []float64) string {
	best, chance := floats.MaxIdx(share), 1/float64(len(share))
	p := min(1, share[best])
	if p*(1-chance) < report.MinBayesFactor*chance*(1-p) {
		return "the measurements hardly tell which"
	}
	return fmt.Sprintf("τ near %.3g is the likeliest, with probability %s where chance gives %s", grid[best], report.Percent(p), report.Percent(chance))
}

// atTau returns the measurements under another τ.
func (w *Whitened) atTau(ctx context.Context, tau float64) (*Whitened, error) {
	d, err := w.op.Diffusion.WithTau(tau)
	if err != nil {
		return nil, err
	}
	return w.op.With(d).Whiten(ctx, w.in)
}
