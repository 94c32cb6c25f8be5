// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
)

const (
	// localError is the error, in nats, that is allowed to the log evidence of a node by what its
	// column misses.
	localError = 1e-3
	// localFaint is the largest |x·y| + x² of a sensor that is expanded where columns are local.
	localFaint = .01
	// localSuspects is the number of nodes, the likeliest, that suspects are asked of where columns are local.
	localSuspects = 4096
)

// local is the posterior where heat stays near: every column is read at the sensors that it reaches. It reports false where
// it does not. With e what a column x misses, the log likelihood is off by at most
//
//	‖e‖·(‖y‖ + ‖x‖ + ‖e‖),
//
// since the derivative of log f(y|x) is at most |y| + |x|. What is expanded is the cumulant function K of a weight
// in [0, 1], whose third derivative is at most a tenth: with t = a·x·y − a²x²/2
// and T = |x·y| + x², K(t) is within T³/60 of its second order, of which K″·T²/6 bounds the part that is left
// out, beyond a²: K″/2·(|x³y| + x⁴/4), largest where |y| is half of |x|.
func (f *faulty) local(ctx context.Context) (*Posterior, bool, error) {
	n := len(f.logPrior)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	norm := floats.Norm(f.d.Y, 2)
	read, ok := linop.ReadColumns(f.d.A, all, localError/(1+norm), exactOrder)
	if !ok {
		return nil, false, ctx.Err()
	}
	f.faultyEvidence.faint = localFaint
	p := &Posterior{LogEvidence: make([]float64, n), Probability: make([]float64, n)}
	low, high, squares := make([]float64, n), make([]float64, n), make([]float64, n)
	err := f.readColumns(ctx, read, all, func(i int, c *column, off float64) {
		p.LogEvidence[i], squares[i] = c.log(math.Inf(-1)), c.norm
		p.Probability[i] = p.LogEvidence[i] + f.logPrior[i]
		off = off*(norm+math.Sqrt(c.norm)+off) + c.expanded
		low[i], high[i] = p.Probability[i]-off, p.Probability[i]+off
	})
	if err != nil {
		return nil, false, err
	}
	if err := checkResolvable(Norms{N: squares}); err != nil {
		return nil, false, err
	}
	p.normalize(low, high, f.level)
	nodes := likeliest(p.Probability, 1-unseenMass)
	p.Faulty, err = f.suspectsAt(ctx, p, nodes[:min(localSuspects, len(nodes))], func(ctx context.Context, nodes []int, do func(int, *column)) error {
		return f.readColumns(ctx, read, nodes, func(i int, c *column, _ float64) { do(i, c) })
	})
	return p, err == nil, err
}

// readColumns calls do for some columns with a bound on what each misses, on every processor.
func (f *faulty) readColumns(ctx context.Context, read linop.ColumnReader, nodes []int, do func(i int, c *column, off float64)) error {
	return inBlocks(ctx, len(nodes), func(from, to int) {
		var c column
		for _, i := range nodes[from:to] {
			read(i, func(rows []int32, x []float64, off float64) {
				c.reset(f.faultyEvidence)
				for k, row := range rows {
					c.add(int(row), x[k])
				}
				do(i, &c, off)
			})
		}
	})
}
