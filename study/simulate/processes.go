// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// recoverer recovers from the releases of one plan.
type recoverer struct {
	*Simulator
	plan      *privacy.Plan
	nodes     []int
	whitened  *analyst.Whitened
	processes []process
	threshold float64 // of the log odds of a source
}

// process is the model under one of the processes that the posterior supposes possible.
type process struct {
	operator operator
	whitened *analyst.Whitened
	norms    posterior.Norms
}

// addProcesses adds those that the recovery of a release sums over: the model's, or where a range of
// τ or graphs are declared those of [analyst.Operator.EachProcess].
func (r *recoverer) addProcesses(ctx context.Context, in analyst.Measurements, norms posterior.Norms) error {
	op, taus, graphs := r.model.Operator, r.plan.Uncertainty.Tau(), r.model.ListedGraphs()
	count, all := op.Processes(graphs, taus, len(r.nodes))
	if !all || r.opts.Recover.StoredGraph {
		graphs = nil
		count, _ = op.Processes(nil, taus, len(r.nodes))
	}
	if count == 1 {
		r.processes = []process{{operatorOf(op), r.whitened, norms}}
		return nil
	}
	if err := r.model.CheckMemory("evaluation over tau and graphs",
		8*int64(count)*int64(op.Graph.Order())*int64(len(r.nodes)+2*r.blockSize)); err != nil {
		return err
	}
	for p, err := range op.EachProcess(ctx, graphs, taus) {
		if err != nil {
			return err
		}
		x := process{operator: operatorOf(p.Operator)}
		if x.whitened, err = p.Operator.Whiten(ctx, in); err != nil {
			return err
		}
		if x.norms, err = posterior.ColumnNorms(ctx, x.whitened.Data, posterior.Options{}); err != nil {
			return err
		}
		r.processes = append(r.processes, x)
	}
	return nil
}

// transposed is an operator A of which only Aᵀy is known, for the one y of a trial: the
// products of a block of trials are computed at once.
type transposed []float64

func (c transposed) Dims() (rows, columns int) { return 0, len(c) }

func (c transposed) MulVecTo(dst []float64, _ bool, _ []float64) { copy(dst, c) }

// products returns Mᵀx of each process for k trials: a list for each of them.
func (r *recoverer) products(ctx context.Context, x []float64, k int) ([][]transposed, error) {
	n := r.model.Graph.Order()
	out, y := make([][]transposed, k), make([]float64, n*k)
	for _, p := range r.processes {
		if err := p.operator.Apply(ctx, y, true, x, k); err != nil {
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
