// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// localError is the error, in nats, that what a column misses may make of the log evidence of a node.
const localError = posteriorTol / 4

// local is the posterior where every column can be read at the sensors that it reaches: where heat stays near, and of a sparse
// matrix. It reports false where none can.
//
// What a column x misses, e with ‖e‖ ≤ off, changes the log likelihood by at most off·(‖y‖ + ‖x‖ + off): that of a sensor has a
// gradient of at most ‖y − x‖ in its means.
func (f *faulty) local(ctx context.Context) (*Posterior, bool, error) {
	all, length := everyNode(len(f.logPrior)), floats.Norm(f.d.Y, 2)
	read, ok := linop.ReadColumns(f.d.A, all, localError/(1+length+f.longest), exactOrder)
	if !ok {
		return nil, false, ctx.Err()
	}
	off := make([]float64, len(all))
	f.columns = func(ctx context.Context, nodes []int, do func(i int, c *column)) error {
		return inBlocks(ctx, len(nodes), func(from, to int) {
			var c column
			for _, i := range nodes[from:to] {
				read(i, func(rows []int32, x []float64, missed float64) {
					f.column(rows, x, &c)
					off[i] = missed * (length + math.Sqrt(c.norm) + missed)
					do(i, &c)
				})
			}
		})
	}
	p, err := f.exact(ctx, off)
	return p, true, err
}
