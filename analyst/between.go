// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// How far the residual is minimised between two τ of the grid: until it changes by less than
// sameResidual, little against the spread √(2m) of χ²_m, or as many rounds, each of which leaves a fifth of
// the interval. candidates is the number of nodes that it is looked for at.
const (
	sameResidual   = 0.1
	residualRounds = 7
	candidates     = 16
)

// leastResidual returns the least residual that so many sources leave under any process, and on the
// likeliest graph under any τ of the range.
func (a *analysis) leastResidual(ctx context.Context, w *Whitened, opts posterior.Options, sources int) (least float64, err error) {
	all, err := a.underEach(ctx, w)
	if err != nil {
		return 0, err
	}
	least = math.Inf(1)
	for _, data := range all {
		r, err := posterior.LeastResidual(ctx, data, a.indices(sources), opts)
		if err != nil {
			return 0, err
		}
		least = min(least, r)
	}
	if a.opts.Tau.IsWide() {
		_, between, err := a.overTau(ctx, w, opts, sources)
		return min(least, between), err
	}
	return least, nil
}

// overTau returns the τ of the range at which so many sources, among the likeliest nodes, leave the least residual, on the likeliest
// graph: of the grid, its ends, and between the neighbours of the best, by ever finer grids in log τ.
func (a *analysis) overTau(ctx context.Context, w *Whitened, opts posterior.Options, sources int) (best, least float64, err error) {
	if w, err = w.under(ctx, a.likeliest().Operator); err != nil {
		return 0, 0, err
	}
	least = math.Inf(1)
	opts.Prior, opts.Norms = nil, nil
	nodes, start := a.indices(min(candidates, len(a.probability))), []int{0, 1}[:sources]
	f := func(logTau float64) float64 {
		tau, r := min(max(math.Exp(logTau), a.opts.Tau.From), a.opts.Tau.To), math.Inf(1)
		data, e := w.columnsAt(ctx, nodes, tau)
		if e == nil {
			r, e = posterior.LeastResidual(ctx, data, start, opts)
		}
		if err = cmp.Or(err, e); r < least {
			best, least = tau, r
		}
		return r
	}
	logs := []float64{math.Log(a.opts.Tau.From)}
	for _, t := range a.report.TauPosterior {
		logs = append(logs, math.Log(t.Tau))
	}
	logs = append(logs, math.Log(a.opts.Tau.To))
	lo, hi, most := around(f, logs)
	for round := 0; round < residualRounds && most-least >= sameResidual && err == nil; round++ {
		for k := range logs { // again between: the least residual of all nodes may have several valleys
			logs[k] = lo + (hi-lo)*float64(k)/float64(len(logs)-1)
		}
		lo, hi, most = around(f, logs)
	}
	return best, least, err
}

// columnsAt returns the measurements of sources at some nodes alone, under another τ.
func (w *Whitened) columnsAt(ctx context.Context, nodes []int, tau float64) (measurement.Data, error) {
	d, err := w.op.Diffusion.WithTau(tau)
	if err != nil {
		return measurement.Data{}, err
	}
	columns, err := d.Columns(ctx, nodes)
	if err != nil {
		return measurement.Data{}, err
	}
	scale := w.Data.A.(linop.Scaled).Scale
	means := mat.NewDense(len(scale), len(nodes), nil)
	for s, v := range w.in.Nodes {
		for k := range nodes {
			means.Set(s, k, scale[s]*columns.At(k, v))
		}
	}
	return measurement.Data{A: linop.Dense{M: means}, Y: w.Data.Y}, nil
}

// around returns the neighbours of the place where f is least among some, and the larger value there.
func around(f func(float64) float64, at []float64) (lo, hi, most float64) {
	values := make([]float64, len(at))
	for k, x := range at {
		values[k] = f(x)
	}
	k := min(max(1, floats.MinIdx(values)), len(at)-2)
	return at[k-1], at[k+1], max(values[k-1], values[k+1])
}

// betweenTaus raises the p-value of a single source to that under the τ of the least residual between those of
// the grid, where it is so small that the model is in doubt: with little noise the measurements tell the
// τ that made them from its neighbours on the grid.
func (a *analysis) betweenTaus(ctx context.Context, w *Whitened, opts posterior.Options, c *posterior.Check) error {
	tau, _, err := a.overTau(ctx, w, opts, 1)
	if err != nil {
		return err
	}
	d, err := a.likeliest().Operator.Diffusion.WithTau(tau)
	if err != nil {
		return err
	}
	x, err := w.under(ctx, a.likeliest().Operator.With(d))
	if err != nil {
		return err
	}
	checker, err := posterior.NewChecker(ctx, []measurement.Data{x.Data}, w.checkOptions(opts, a.opts.falseAlarm()))
	if err != nil {
		return err
	}
	if one := checker.Check(x.Data.Y); one.Fit > c.Fit {
		one.Presence = c.Presence
		*c = *one
	}
	return nil
}

// indices are the nodes that are likeliest one by one.
func (a *analysis) indices(k int) []int {
	order := make([]int, len(a.probability))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(a.probability[j], a.probability[i]) })
	return order[:k]
}
