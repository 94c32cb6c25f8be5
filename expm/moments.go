// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Moments give the entries of e^{-τL} between some nodes for one τ after the other. The Chebyshev
// vectors T_k(2L/λ − I)e_i are the same for all τ, which differ in their coefficients alone:
// so the entries of these vectors at the nodes are kept, and a larger τ goes on where the last one
// ended. A τ takes no product that another took before.
type Moments struct {
	l      Generator
	rows   []int       // of the nodes, in Recur
	blocks []recurring // of blockColumns nodes
	kept   [][]float64 // of T_k: the entry of nodes i and j at i·len(rows)+j
}

// recurring are the last two vectors of a recurrence.
type recurring struct{ prev, cur []float64 }

// NewMoments begins for some nodes of a symmetric L; it is nil for another. It takes 16n bytes a node.
func NewMoments(l Generator, nodes []int) *Moments {
	if l.Similarity() != nil || len(nodes) == 0 {
		return nil
	}
	m := &Moments{l: l, rows: make([]int, len(nodes))}
	for k, i := range nodes {
		m.rows[k] = rowOf(l.Permutation(), i)
	}
	for at := 0; at < len(nodes); at += blockColumns {
		part := m.rows[at:min(at+blockColumns, len(nodes))]
		b := recurring{prev: make([]float64, l.Order()*len(part)), cur: make([]float64, l.Order()*len(part))}
		for j, i := range part {
			b.cur[i*len(part)+j] = 1
		}
		m.blocks = append(m.blocks, b)
	}
	m.keep()
	return m
}

// Entries returns the entries of e^{-τL}, row by row in the order of the nodes, within 1e-13 and the
// rounding of [New]. It returns [ErrAccuracy] as [New] does, and where more than so many bytes
// would have to be kept.
func (m *Moments) Entries(ctx context.Context, tau float64, bytes int64) (*mat.Dense, error) {
	weights, tail, rounding, err := chebyshev(m.l, tau, 1e-13)
	if err != nil {
		return nil, err
	}
	if tail+rounding > maxErr {
		return nil, fmt.Errorf("%w: entries at tau = %v are off by up to %.2g", ErrAccuracy, tau, tail+rounding)
	}
	h := len(m.rows)
	if need := 8 * int64(h) * int64(h) * int64(len(weights)); need > bytes {
		return nil, fmt.Errorf("%w: tau = %v takes %d bytes for %d entries, more than %d", ErrAccuracy, tau, need, h*h, bytes)
	}
	for len(m.kept) < len(weights) {
		if err := m.step(ctx); err != nil {
			return nil, err
		}
	}
	sum := mat.NewDense(h, h, nil)
	for k, w := range weights {
		floats.AddScaled(sum.RawMatrix().Data, w, m.kept[k])
	}
	return sum, nil
}

// step computes the next T_k of all blocks.
func (m *Moments) step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h := 2 / m.l.Bound()
	for i := range m.blocks {
		b := &m.blocks[i]
		k := len(b.cur) / m.l.Order()
		if len(m.kept) == 1 {
			m.l.Recur(b.prev, nil, b.cur, k, h, -1, 0, 0)
		} else {
			m.l.Recur(b.prev, nil, b.cur, k, 2*h, -2, -1, 0)
		}
		b.prev, b.cur = b.cur, b.prev
	}
	m.keep()
	return nil
}

// keep reads the entries at the nodes of the vectors that there are.
func (m *Moments) keep() {
	h := len(m.rows)
	at := make([]float64, h*h)
	parallel.Each(len(m.blocks), func(b int) {
		first, cur := b*blockColumns, m.blocks[b].cur
		k := len(cur) / m.l.Order()
		for j, row := range m.rows {
			for c, v := range cur[row*k : (row+1)*k] {
				at[(first+c)*h+j] = v
			}
		}
	})
	m.kept = append(m.kept, at)
}
