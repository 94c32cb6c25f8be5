// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// simulation draws releases under one plan and recovers from them.
type simulation struct {
	*evaluator
	plan     *privacy.Plan
	nodes    []int
	u        []float64
	norms    posterior.Norms
	whitened *analyst.Whitened
	moments  []moment
	// detection is the test of no source; nil: a source is supposed.
	detection *detection
}

// transposed is an operator A of which only Aᵀy is known, for the one y of a trial: the
// products of a block of trials are computed at once.
type transposed []float64

func (c transposed) Dims() (rows, columns int) { return 0, len(c) }

func (c transposed) MulVecTo(dst []float64, _ bool, _ []float64) { copy(dst, c) }

// moment is the model under one of the processes that the posterior supposes possible.
type moment struct {
	diffusion *expm.Diffusion
	whitened  *analyst.Whitened
	norms     posterior.Norms
}

// overTau reports whether a plan declares a range of τ.
func (r *simulation) overTau() bool {
	u := r.plan.Uncertainty
	return u.TauFrom < u.TauTo
}

// addMoments adds the processes that the recovery of a release sums over: the model's, or where a range of
// τ or graphs are declared those of [analyst.Operator.EachProcess].
func (r *simulation) addMoments(ctx context.Context, in analyst.Measurements) error {
	op, u, graphs := r.model.Operator, r.plan.Uncertainty, r.model.ListedGraphs()
	if r.opts.Recover.StoredGraph {
		graphs = nil
	}
	count, told := op.Processes(graphs, u.TauFrom, u.TauTo, len(r.nodes))
	if !told {
		graphs = nil
	}
	if count == 1 {
		r.moments = []moment{{op.Diffusion, r.whitened, r.norms}}
		return nil
	}
	if err := r.model.CheckMemory("evaluation over tau and graphs",
		8*int64(count)*int64(op.Graph.Order())*int64(len(r.nodes)+2*r.blockSize)); err != nil {
		return err
	}
	for p, err := range op.EachProcess(ctx, graphs, u.TauFrom, u.TauTo) {
		if err != nil {
			return err
		}
		x := moment{diffusion: p.Operator.Diffusion}
		if x.whitened, err = p.Operator.Whiten(ctx, in); err != nil {
			return err
		}
		if x.norms, err = posterior.ColumnNorms(ctx, x.whitened.Data, posterior.Options{}); err != nil {
			return err
		}
		r.moments = append(r.moments, x)
	}
	return nil
}

// tau is the diffusion time of a trial, before a scenario changes it: drawn evenly on a logarithmic scale
// from a range.
func (r *simulation) tau(trial int) float64 {
	u := r.plan.Uncertainty
	at := rand.New(rand.NewPCG(r.opts.Seed^0x7f4a7c159e3779b9, uint64(trial))).Float64()
	return u.TauFrom * math.Pow(u.TauTo/u.TauFrom, at)
}

// diffuse lets the sources of the trials first, first+1, … flow, a column each of k: y = Mx.
func (r *simulation) diffuse(ctx context.Context, y, x []float64, k, first int) error {
	truth := r.world.diffusion
	if !r.overTau() {
		return truth.Apply(ctx, y, false, x, k)
	}
	n := len(x) / k
	return parallel(ctx, k, func(j int) error {
		d, err := truth.WithTau(truth.Tau() / r.model.Tau * r.tau(first+j))
		if err != nil {
			return fmt.Errorf("scenario %s: %w", r.world.Name, err)
		}
		from, to := make([]float64, n), make([]float64, n)
		for i := range from {
			from[i] = x[i*k+j]
		}
		if err := d.Apply(ctx, to, false, from, 1); err != nil {
			return err
		}
		for i, v := range to {
			y[i*k+j] = v
		}
		return nil
	})
}

// products returns Mᵀx of each moment for k trials: a list for each of them.
func (r *simulation) products(ctx context.Context, x []float64, k int) ([][]transposed, error) {
	n := len(x) / k
	out, y := make([][]transposed, k), make([]float64, len(x))
	for _, m := range r.moments {
		if err := m.diffusion.Apply(ctx, y, true, x, k); err != nil {
			return nil, err
		}
		for j := range out {
			c := make(transposed, n)
			for i := range c {
				c[i] = y[i*k+j]
			}
			out[j] = append(out[j], c)
		}
	}
	return out, nil
}

// posterior is that of a trial, summed over the processes that are possible, with faults where a recovery
// would suppose them. c holds the product of each moment.
func (r *simulation) posterior(ctx context.Context, c []transposed, values []float64, a posterior.Amplitude) (*posterior.Posterior, error) {
	list := make([]*posterior.Posterior, len(r.moments))
	for k := range r.moments {
		var err error
		if list[k], err = r.posteriorAt(ctx, &r.moments[k], c[k], values, a); err != nil {
			return nil, err
		}
	}
	if len(list) == 1 {
		return list[0], nil
	}
	mixed, _, err := posterior.Mix(list, nil)
	return mixed, err
}

func (r *simulation) posteriorAt(ctx context.Context, m *moment, c transposed, values []float64,
	a posterior.Amplitude,
) (*posterior.Posterior, error) {
	if !r.faults(r.plan) {
		return posterior.New(ctx, measurement.Data{A: c}, posterior.Options{Amplitude: a, Prior: r.prior, Norms: &m.norms})
	}
	w := m.whitened.WithValues(values)
	o := r.opts.Recover
	if o.FaultRate == nil {
		rate := analyst.DefaultFaultRate
		o.FaultRate = &rate
	}
	return posterior.New(ctx, w.Data, posterior.Options{Amplitude: a, Prior: r.prior, Faults: w.Faults(o)})
}
