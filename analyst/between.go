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

// logTaus returns the logarithms of the τ of the grid, between those of the ends of the range.
func (a *analysis) logTaus() []float64 {
	logs := []float64{math.Log(a.opts.TauFrom)}
	for _, t := range a.report.TauPosterior {
		logs = append(logs, math.Log(t.Tau))
	}
	return append(logs, math.Log(a.opts.TauTo))
}

// tauOf is the τ of a logarithm, within the range.
func (a *analysis) tauOf(logTau float64) float64 {
	return min(max(math.Exp(logTau), a.opts.TauFrom), a.opts.TauTo)
}

// leastTau returns the τ in the declared range under which a single source leaves the least residual.
// As a function of τ the residual of a node has one valley, as a rule, but not the least of all
// nodes. So the nodes whose valleys are deepest, by a parabola through three values of the
// grid, are followed one by one, by golden section in log τ.
func (a *analysis) leastTau(ctx context.Context, w *Whitened, opts posterior.Options) (float64, error) {
	w, err := w.under(ctx, a.likeliest().Operator)
	if err != nil {
		return 0, err
	}
	logs := a.logTaus()
	residuals := make([][]float64, len(logs))
	for k, x := range logs {
		at, err := w.atTau(ctx, a.tauOf(x))
		if err != nil {
			return 0, err
		}
		if residuals[k], err = posterior.Residuals(ctx, at.Data, opts); err != nil {
			return 0, err
		}
	}
	n := len(residuals[0])
	nodes, middle, depth := make([]int, n), make([]int, n), make([]float64, n)
	for i := range nodes {
		nodes[i] = i
		middle[i], depth[i] = valley(logs, residuals, i)
	}
	slices.SortStableFunc(nodes, func(i, j int) int { return cmp.Compare(depth[i], depth[j]) })
	best, least := 0.0, math.Inf(1)
	for _, i := range nodes[:min(n, candidates)] {
		if math.IsInf(depth[i], 1) {
			break // no source is there, nor at those that follow
		}
		k := middle[i]
		for at, x := range logs {
			if v := residuals[at][i]; v < least {
				best, least = x, v
			}
		}
		f := func(logTau float64) float64 {
			r, e := a.residualOf(ctx, w, opts, i, a.tauOf(logTau))
			err = cmp.Or(err, e)
			return r
		}
		x, v := goldenSection(f, [2]float64{logs[k-1], logs[k+1]}, [2]float64{residuals[k-1][i], residuals[k+1][i]})
		if err != nil {
			return 0, err
		}
		if v < least {
			best, least = x, v
		}
	}
	return a.tauOf(best), nil
}

// valley returns the place k, neither first nor last, next to which the residual of node i
// is least, and the least of the parabola through the values at k − 1, k and k + 1.
func valley(logs []float64, residuals [][]float64, i int) (k int, depth float64) {
	k = 1
	for j := range logs {
		if residuals[j][i] < residuals[k][i] {
			k = j
		}
	}
	k = min(max(1, k), len(logs)-2)
	low, mid, high := residuals[k-1][i], residuals[k][i], residuals[k+1][i]
	depth = min(low, mid, high)
	left, right := logs[k]-logs[k-1], logs[k+1]-logs[k]
	down, up := (mid-low)/left, (high-mid)/right
	bend := (up - down) / (left + right)
	if slope := (down*right + up*left) / (left + right); bend > 0 && !math.IsInf(bend, 1) {
		if x := -slope / (2 * bend); -left < x && x < right {
			depth = mid - slope*slope/(4*bend)
		}
	}
	return k, depth
}

// residualOf returns the residual of a source at one node under another τ.
func (a *analysis) residualOf(ctx context.Context, w *Whitened, opts posterior.Options, node int, tau float64) (float64, error) {
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
	r, err := posterior.Residuals(ctx, measurement.Data{A: linop.Dense{M: mean}, Y: w.Data.Y}, opts)
	if err != nil {
		return 0, err
	}
	return r[0], nil
}

// leastResidual returns the least residual that so many sources leave under any process, and on the
// likeliest graph under any τ of the range: of the grid, and between the neighbours of the best, by golden
// section in log τ.
func (a *analysis) leastResidual(ctx context.Context, w *Whitened, opts posterior.Options, sources int) (float64, error) {
	nodes, least := a.indices(sources), math.Inf(1)
	for data, err := range a.underEach(ctx, w) {
		if err != nil {
			return 0, err
		}
		r, err := posterior.LeastResidual(ctx, data, nodes, opts)
		if err != nil {
			return 0, err
		}
		least = min(least, r)
	}
	if a.opts.TauFrom == a.opts.TauTo {
		return least, nil
	}
	w, err := w.under(ctx, a.likeliest().Operator)
	if err != nil {
		return 0, err
	}
	f := func(logTau float64) float64 {
		at, e := w.atTau(ctx, a.tauOf(logTau))
		r := math.Inf(1)
		if e == nil {
			r, e = posterior.LeastResidual(ctx, at.Data, nodes, opts)
		}
		err = cmp.Or(err, e)
		return r
	}
	logs := a.logTaus()
	values := make([]float64, len(logs))
	for k, x := range logs {
		values[k] = f(x)
	}
	k := min(max(1, floats.MinIdx(values)), len(logs)-2)
	_, between := goldenSection(f, [2]float64{logs[k-1], logs[k+1]}, [2]float64{values[k-1], values[k+1]})
	return min(least, between, floats.Min(values)), err
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

// betweenTaus raises the p-value of a single source to that under the likeliest τ between those of
// the grid, where it is so small that the model is in doubt: with little noise the measurements tell the
// τ that made them from its neighbours on the grid.
func (a *analysis) betweenTaus(ctx context.Context, w *Whitened, opts posterior.Options, c *posterior.Check) error {
	tau, err := a.leastTau(ctx, w, opts)
	if err != nil {
		return err
	}
	x, err := w.atTau(ctx, tau)
	if err != nil {
		return err
	}
	one, err := posterior.NewCheck(ctx, x.Data, w.checkOptions(opts, a.opts.falseAlarm()))
	if err != nil {
		return err
	}
	if one.Fit > c.Fit {
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
