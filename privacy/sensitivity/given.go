// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// boundGiven is [Bound] for operators that are given by their entries, whose rows are the readings: the largest
//
//	α · ‖diag(√u) M (e_i − e_j)‖₂ / length(e)
//
// over the edges of the graph and over the list. A norm is convex, so that it bounds every mixture of the list too. Upper is above
// it by rounding alone.
func (m *Model) boundGiven(ctx context.Context, u []float64) (Bracket, error) {
	edges, err := m.givenEdges(u)
	if err != nil {
		return Bracket{}, err
	}
	best := Bracket{Edge: [2]int{-1, -1}, Exact: true}
	for _, op := range m.Given {
		width := 2 * (1 + len(op.Row)/max(1, m.Graph.Order()))
		for _, part := range parallel.Parts(len(edges), width, func(lo, hi int) Bracket {
			b := Bracket{Edge: [2]int{-1, -1}}
			for _, e := range edges[lo:hi] {
				if ctx.Err() != nil {
					break
				}
				low, high := differenceNorm(op, e.U, e.V, u)
				b.raise(m.Scale(e)*low, m.Scale(e)*high, e)
			}
			return b
		}) {
			best.Upper = max(best.Upper, part.Upper)
			if part.Lower > best.Lower {
				best.Lower, best.Edge = part.Lower, part.Edge
			}
		}
	}
	if len(edges) > 0 {
		best.Upper = max(best.Upper, floor)
	}
	return best, ctx.Err()
}

// raise takes the value of an edge in, between low and high.
func (b *Bracket) raise(low, high float64, e graph.Edge) {
	b.Upper = max(b.Upper, high*(1+8*unit))
	if low *= 1 - 8*unit; low > b.Lower {
		b.Lower, b.Edge = low, [2]int{e.U, e.V}
	}
}

// underflow bounds what underflow takes from a square.
const underflow = 0x1p-1000

// differenceNorm brackets ‖diag(√u) M (e_i − e_j)‖₂: k terms, each off by 4 units, are summed with k more.
func differenceNorm(m *linop.Sparse, i, j int, u []float64) (low, high float64) {
	sum, terms := 0.0, 8.0
	m.EachDifference(i, j, func(row int, d float64) {
		if terms++; u != nil {
			sum += u[row] * d * d
		} else {
			sum += d * d
		}
	})
	off := 2 * terms * unit
	return math.Sqrt(sum) * (1 - off), math.Sqrt(sum*(1+off)+terms*underflow) * (1 + off)
}

// givenEdges checks the input and lists the edges.
func (m *Model) givenEdges(u []float64) ([]graph.Edge, error) {
	if m.Graph == nil || !(m.Alpha >= 0) || math.IsInf(m.Alpha, 1) {
		return nil, fmt.Errorf("sensitivity: there is no graph, or alpha is %v, want a finite number > 0", m.Alpha)
	}
	m.Alpha = cmp.Or(m.Alpha, 1)
	for _, op := range m.Given {
		if r, c := op.Dims(); c != m.Graph.Order() || u != nil && len(u) != r {
			return nil, fmt.Errorf("sensitivity: an operator of %d × %d with %d weights, on a graph of %d nodes", r, c, len(u),
				m.Graph.Order())
		}
	}
	for s, w := range u {
		if !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("sensitivity: weight of reading %d is %v, want a finite number >= 0", s, w)
		}
	}
	edges := make([]graph.Edge, 0, m.Graph.Size())
	for e := range m.Graph.Edges() {
		if math.IsInf(m.Scale(e), 1) {
			return nil, fmt.Errorf("sensitivity: alpha %v over a length at edge (%d, %d) overflows", m.Alpha, e.U, e.V)
		}
		edges = append(edges, e)
	}
	return edges, nil
}

// perReading is [PerSensor] for given operators: of each row, α · max |M_si − M_sj| / length(e).
func (m *Model) perReading(ctx context.Context) ([]Bracket, error) {
	edges, err := m.givenEdges(nil)
	if err != nil {
		return nil, err
	}
	rows, _ := m.Given[0].Dims()
	out := make([]Bracket, rows)
	for s := range out {
		out[s] = Bracket{Edge: [2]int{-1, -1}, Exact: true}
	}
	for _, op := range m.Given {
		for _, e := range edges {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			op.EachDifference(e.U, e.V, func(s int, d float64) {
				v := m.Scale(e) * math.Abs(d)
				out[s].raise(v*(1-4*unit), v*(1+4*unit), e)
			})
		}
	}
	return out, nil
}
