// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/emd"
)

// Question is whose community is to be named: single sources of mass 1 on a graph.
type Question struct {
	labels []int
	prior  []float64
	count  int // of communities
	stars  []star
}

// star is a node, and how many steps others are from it.
type star struct {
	steps []int32 // −1: no number of steps
}

// Bounds on the work: the number of stars, and that of pairs of a star and a node.
const (
	maxStars = 96
	maxPairs = 1 << 19
)

// New prepares a question. labels are the communities 0 … of the nodes, prior the
// probabilities of the nodes to be the source, which sum to 1, and α > 0 the distance
// of neighbours in units of the lengths of g. It returns [ErrInvalid].
func New(ctx context.Context, g *graph.Graph, labels []int, prior []float64, alpha float64) (*Question, error) {
	n := g.Order()
	if n == 0 || len(labels) != n || len(prior) != n {
		return nil, fmt.Errorf("%w: %d labels and %d probabilities for %d nodes", ErrInvalid, len(labels), len(prior), n)
	}
	if !(alpha > 0 && alpha <= math.MaxFloat64) {
		return nil, fmt.Errorf("%w: α = %v, want > 0 and finite", ErrInvalid, alpha)
	}
	for i, p := range prior {
		if !(p >= 0) || labels[i] < 0 {
			return nil, fmt.Errorf("%w: node %d has probability %v and community %d", ErrInvalid, i, p, labels[i])
		}
	}
	if total := floats.Sum(prior); math.Abs(total-1) > 1e-9 {
		return nil, fmt.Errorf("%w: the prior adds up to %v, want 1", ErrInvalid, total)
	}
	q := &Question{labels: labels, prior: prior, count: slices.Max(labels) + 1}
	return q, q.place(ctx, g, alpha)
}

// place chooses the nodes of the stars: all, or those that border on another community,
// each the farthest from those before.
func (q *Question) place(ctx context.Context, g *graph.Graph, alpha float64) error {
	n := g.Order()
	most := min(n, maxStars, max(1, maxPairs/n))
	eligible := make([]bool, n)
	for i := range eligible {
		eligible[i] = most == n || slices.ContainsFunc(g.Neighbors(i), func(j int32) bool { return q.labels[j] != q.labels[i] })
	}
	nearest := make([]float64, n)
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	for len(q.stars) < most {
		if err := ctx.Err(); err != nil {
			return err
		}
		next := -1
		for i, ok := range eligible {
			if ok && (next < 0 || nearest[i] > nearest[next]) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		eligible[next] = false
		d := emd.Lengths(g, next)
		s := star{steps: make([]int32, n)}
		for i, x := range d {
			nearest[i] = min(nearest[i], x)
			s.steps[i] = steps(x, alpha, g.UnitLengths())
		}
		q.stars = append(q.stars, s)
	}
	return nil
}

// steps returns ⌈d/α⌉, rounded up, and −1 for more than an int32. Sums of lengths that
// are no whole numbers have lost bits.
func steps(d, alpha float64, exact bool) int32 {
	if !exact {
		d *= 1 + 0x1p-30
	}
	k := math.Ceil(d / alpha)
	if math.FMA(k, alpha, -d) < 0 {
		k++
	}
	if !(k <= math.MaxInt32) {
		return -1
	}
	return int32(k)
}

// shares adds up the prior by community.
func (q *Question) shares() []float64 {
	sums := make([]float64, q.count)
	for i, p := range q.prior {
		sums[q.labels[i]] += p
	}
	return sums
}
