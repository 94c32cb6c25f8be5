// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math/rand/v2"
	"slices"
)

// Sizes of a pool: nodes, or those whose columns are products; entries of the columns; and columns that are computed together.
const (
	poolNodes    = 4096
	poolProducts = 256
	poolEntries  = 1 << 20
	poolBlock    = 16
)

// pool is the nodes that are likeliest to be sources, by the sensors that they move: from node z a step goes to a sensor s
// with probability x_sz²/Σ_t x_tz², and from it to a node i of the pool with x_si²/Σ_j x_sj². What it does from z to i times Σx² of z is the same
// from i to z.
type pool struct {
	columns map[int]*sparseColumn
	nodes   map[int32][]int // of each sensor
	sums    map[int32][]float64
}

// newPool takes the likeliest nodes of a law, all of whose columns fit.
func newPool(ctx context.Context, law []float64, columns *walkColumns) (*pool, error) {
	p := &pool{columns: map[int]*sparseColumn{}, nodes: map[int32][]int{}, sums: map[int32][]float64{}}
	nodes, entries := poolNodes, 0
	if columns.read == nil {
		nodes = poolProducts
	}
	m, _ := columns.a.Dims()
	together := min(poolBlock, max(1, poolEntries/m))
	order := firstOf(law, nodes)
	slices.SortStableFunc(order, func(i, j int) int { return compareDown(law[i], law[j]) })
	for block := range slices.Chunk(order, together) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		columns.take(block)
		for _, i := range block {
			c := columns.at(i)
			if entries += len(c.rows); law[i] == 0 || entries > poolEntries {
				return p, nil
			}
			p.add(i, c)
		}
	}
	return p, nil
}

func (p *pool) add(i int, c *sparseColumn) {
	if c.square == 0 {
		return
	}
	p.columns[i] = c
	for k, s := range c.rows {
		if square := c.x[k] * c.x[k]; square > 0 {
			before := 0.0
			if sums := p.sums[s]; len(sums) > 0 {
				before = sums[len(sums)-1]
			}
			p.nodes[s], p.sums[s] = append(p.nodes[s], i), append(p.sums[s], before+square)
		}
	}
}

// step returns a node near z; z itself where that is not in the pool.
func (p *pool) step(z int, rnd *rand.Rand) int {
	c := p.columns[z]
	if c == nil {
		return z
	}
	u, at := rnd.Float64()*c.square, 0
	for k, x := range c.x {
		if u -= x * x; x != 0 {
			if at = k; u < 0 {
				break
			}
		}
	}
	s := c.rows[at]
	sums := p.sums[s]
	if len(sums) == 0 {
		return z
	}
	return p.nodes[s][drawn(sums, rnd)]
}
