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
// sameResidual, little against the spread √(2m) of χ²_m, or as many steps, which leave 1e-5 of
// the interval. candidates is the number of nodes that this is done for.
const (
	sameResidual  = 0.1
	residualSteps = 24
	candidates    = 16
)

// leastResidual returns the least residual that so many sources leave under any process, and on the
// likeliest graph under any τ of the range.
func (a *analysis) leastResidual(ctx context.Context, w *Whitened, opts posterior.Options, sources int) (least float64, err error) {
	nodes := a.indices(sources)
	all, err := a.underEach(ctx, w)
	if err != nil {
		return 0, err
	}
	least = math.Inf(1)
	for _, data := range all {
		r, err := posterior.LeastResidual(ctx, data, nodes, opts)
		if err != nil {
			return 0, err
		}
		least = min(least, r)
	}
	if a.opts.TauFrom == a.opts.TauTo {
		return least, nil
	}
	if w, err = w.under(ctx, a.likeliest().Operator); err != nil {
		return 0, err
	}
	_, between, err := a.overTau(func(tau float64) (float64, error) {
		at, err := w.atTau(ctx, tau)
		if err != nil {
			return 0, err
		}
		return posterior.LeastResidual(ctx, at.Data, nodes, opts)
	})
	return min(least, between), err
}

// overTau returns the τ of the range at which a residual is least: of the grid, its ends, and between the neighbours of the best, by
// golden section in log τ.
func (a *analysis) overTau(residual func(tau float64) (float64, error)) (tau, least float64, err error) {
	f := func(logTau float64) float64 {
		r, e := residual(a.tauOf(logTau))
		err = cmp.Or(err, e)
		return r
	}
	logs := []float64{math.Log(a.opts.TauFrom)}
	for _, t := range a.report.TauPosterior {
		logs = append(logs, math.Log(t.Tau))
	}
	logs = append(logs, math.Log(a.opts.TauTo))
	values := make([]float64, len(logs))
	for k, x := range logs {
		values[k] = f(x)
	}
	at := floats.MinIdx(values)
	k := min(max(1, at), len(logs)-2)
	x, least := goldenSection(f, [2]float64{logs[k-1], logs[k+1]}, [2]float64{values[k-1], values[k+1]})
	if values[at] < least {
		x, least = logs[at], values[at]
	}
	return a.tauOf(x), least, err
}

// residualAt returns the residual of a source at one node under another τ.
func (w *Whitened) residualAt(ctx context.Context, opts posterior.Options, node int, tau float64) (float64, error) {
	d, err := w.op.Diffusion.WithTau(tau)
	if err != nil {
		return 0, err
	}
	column, err := d.Columns(ctx, []int{node})
	if err != nil {
		return 0, err
	}
	scale := w.Data.A.(linop.Scaled).Scale
	mean := mat.NewDense(len(scale), 1, nil)
	for s, v := range w.in.Nodes {
		mean.Set(s, 0, scale[s]*column.At(0, v))
	}
	opts.Prior, opts.Norms = nil, nil
	return posterior.LeastResidual(ctx, measurement.Data{A: linop.Dense{M: mean}, Y: w.Data.Y}, []int{0}, opts)
}

// tauOf is the τ of a logarithm, within the range.
func (a *analysis) tauOf(logTau float64) float64 {
	return min(max(math.Exp(logTau), a.opts.TauFrom), a.opts.TauTo)
}

// goldenSection returns where f is least between two places, of which it is given the
// values, and how much it is there (J. Kiefer, 1953).
func goldenSection(f func(float64) float64, ends, values [2]float64) (x, least float64) {
	const ratio = 1 / math.Phi
	inner := func(side int) float64 { return ends[1-side] + ratio*(ends[side]-ends[1-side]) }
	at := [2]float64{inner(0), inner(1)} // inner(0) is the one next to ends[0]
	of := [2]float64{f(at[0]), f(at[1])}
	for range residualSteps {
		if max(of[0], of[1], values[0], values[1])-min(of[0], of[1]) < sameResidual {
			break
		}
		side := 0 // that is kept
		if of[1] < of[0] {
			side = 1
		}
		other := 1 - side
		ends[other], values[other] = at[other], of[other]
		at[other], of[other] = at[side], of[side]
		at[side] = inner(side)
		of[side] = f(at[side])
	}
	if of[1] < of[0] {
		return at[1], of[1]
	}
	return at[0], of[0]
}

// betweenTaus raises the p-value of a single source to that under the τ of the least residual between those of
// the grid, where it is so small that the model is in doubt: with little noise the measurements tell the
// τ that made them from its neighbours on the grid. As a function of τ the residual of a node has one valley, as a rule, but not
// the least of all nodes: so the likeliest are followed one by one.
func (a *analysis) betweenTaus(ctx context.Context, w *Whitened, opts posterior.Options, c *posterior.Check) error {
	x, err := w.under(ctx, a.likeliest().Operator)
	if err != nil {
		return err
	}
	tau, least := 0.0, math.Inf(1)
	for _, node := range a.indices(min(candidates, len(a.probability))) {
		t, r, err := a.overTau(func(tau float64) (float64, error) { return x.residualAt(ctx, opts, node, tau) })
		if err != nil {
			return err
		}
		if r < least {
			tau, least = t, r
		}
	}
	if x, err = x.atTau(ctx, tau); err != nil {
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
