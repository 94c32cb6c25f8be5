// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math/rand/v2"
	"slices"
)

// Sizes of a pool: nodes, and entries of their columns.
const (
	poolNodes   = 4096
	poolEntries = 1 << 20
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
func newPool(law []float64, columns *walkColumns) *pool {
	p := &pool{columns: map[int]*sparseColumn{}, nodes: map[int32][]int{}, sums: map[int32][]float64{}}
	entries := 0
	order := firstOf(law, poolNodes)
	slices.SortStableFunc(order, func(i, j int) int { return compareDown(law[i], law[j]) })
	for _, i := range order {
		if law[i] == 0 {
			break
		}
		c := columns.at(i)
		if entries += len(c.rows); entries > poolEntries {
			break
		}
		p.add(i, c)
	}
	return p
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
