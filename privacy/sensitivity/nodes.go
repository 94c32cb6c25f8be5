// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// nodes brackets all edges of one node at once. Let P = p(L), π = 1/n and
// v_i = e_i − π. As L1 = 0, P²v_j is orthogonal to 1, and
//
//	‖P(e_i − e_j)‖² = ‖Pv_i‖² + ‖Pv_j‖² − 2(P²v_j)_i,
//
// so that beside the two columns Pv_j and P²v_j only ‖Pv_i‖ is needed, which is small
// where i is a hub, and bounded by the screen. This holds for the combinatorial Laplacian
// and equal weights.
type nodes struct {
	c            *projection
	usable       bool
	diag         []float64
	squares      []float64 // of Y_i less the mean row, over the columns
	meanRounding float64   // of the mean row, from rounding
	exact        map[int32]float64
}

func newNodes(c *projection) *nodes {
	_, _, _, diag := c.lap.CSR()
	return &nodes{
		c: c, usable: c.uniform && c.resistive(), diag: diag, squares: make([]float64, c.n), exact: map[int32]float64{},
	}
}

// add accumulates a block of Y.
func (t *nodes) add(y []float64, k int) {
	if !t.usable {
		return
	}
	mean, size := means(y, k)
	for j := range k {
		d := 2 * (float64(min(t.c.n, chunk)+t.c.n/chunk) + 8) * unit * size[j]
		t.meanRounding += d * d
	}
	parallel.Rows(len(t.squares), k, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j, v := range y[i*k:][:k] {
				t.squares[i] += (v - mean[j]) * (v - mean[j])
			}
		}
	})
}

// chunk is the number of rows of one running sum in means, so that rounding is that of sums of
// so many terms, of which there are n/chunk.
const chunk = 256

// means returns the mean of each of k row-major columns, at most 64, and of its absolute
// values.
func means(y []float64, k int) (mean, size []float64) {
	n := len(y) / k
	sums := make([]float64, 2*k)
	parallel.Sum(n, k, sums, func(lo, hi int, sums []float64) {
		for first := lo; first < hi; first += chunk {
			var part, abs [64]float64
			for t := first; t < min(first+chunk, hi); t++ {
				for j, v := range y[t*k:][:k] {
					part[j] += v
					abs[j] += math.Abs(v)
				}
			}
			for j := range k {
				sums[j], sums[k+j] = sums[j]+part[j]/float64(n), sums[k+j]+abs[j]/float64(n)
			}
		}
	})
	return sums[:k], sums[k:]
}

// upper bounds √peak‖Pv_i‖.
func (t *nodes) upper(i int32) float64 {
	if v, ok := t.exact[i]; ok {
		return v
	}
	c := t.c
	whole := math.Sqrt(c.peak) * (1 + c.d.Err())
	if c.columns == 0 {
		return whole
	}
	root, rounding := c.projectionScale(c.columns)
	if !(root > 0) {
		return whole
	}
	up := (math.Sqrt(t.squares[i])*(1+float64(c.columns+32)*unit) + 2*rounding + math.Sqrt(t.meanRounding)) / root
	return min(whole, up)
}

// lowDegreeEnd returns the end of an edge of lower degree, from which most of its norm is
// likely to come.
func (t *nodes) lowDegreeEnd(e edge) int32 {
	if t.diag[e.v] < t.diag[e.u] {
		return e.v
	}
	return e.u
}

// groups returns the nodes not yet certified that are the low-degree end of at least
// three remaining edges, so that two columns for all cost less than one for each, by
// descending number of edges, and the number of columns that certify all edges.
func (t *nodes) groups() (pick []int32, columns int) {
	if !t.usable || len(t.c.rest) > 1<<17 {
		return nil, len(t.c.rest)
	}
	count := map[int32]int{}
	for _, i := range t.c.rest {
		count[t.lowDegreeEnd(t.c.edges.at(i))]++
	}
	for node, k := range count {
		if _, done := t.exact[node]; done || k < 3 {
			columns += k
			continue
		}
		columns += 2
		pick = append(pick, node)
	}
	slices.SortFunc(pick, func(a, b int32) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	return pick, columns
}

// certify brackets the edges at some nodes, at most a block of them.
func (t *nodes) certify(ctx context.Context, pick []int32) error {
	c, n := t.c, t.c.n
	k := len(pick)
	x, y := c.x[:n*k], c.y[:n*k]
	parallel.Rows(len(x), 1, func(lo, hi int) {
		for entry := lo; entry < hi; entry++ {
			x[entry] = -1 / float64(n)
		}
	})
	column := map[int32]int{}
	for j, i := range pick {
		x[int(i)*k+j]++
		column[i] = j
	}
	if err := c.d.Apply(ctx, y, false, x, k); err != nil {
		return err
	}
	if err := c.d.Apply(ctx, x, false, y, k); err != nil {
		return err
	}
	norms := c.norms(y, k)
	for j, i := range pick {
		t.exact[i] = norms[j]*(1+(float64(n)+16)*unit) + c.roundB
	}
	for _, i := range c.rest {
		e := c.edges.at(i)
		if j, ok := column[e.u]; ok {
			t.bracketEdge(i, e.v, norms[j], x[int(e.v)*k+j])
		}
		if j, ok := column[e.v]; ok {
			t.bracketEdge(i, e.u, norms[j], x[int(e.u)*k+j])
		}
	}
	return nil
}

// bracketEdge brackets edge i from the computed norm √peak‖Pv_j‖ of one end, the other
// end, and its computed entry of P²v_j. Each application of P has its rounding error; an
// entry has both, since ‖P‖ ≤ 1 + Err, and v_j is rounded by a unit.
func (t *nodes) bracketEdge(i, other int32, norm, entry float64) {
	c := t.c
	scale, rounding := c.edges.at(i).scale, c.d.Rounding()*(1+8*unit)
	norm1 := norm / math.Sqrt(c.peak)
	off := rounding*(norm1+1+c.d.Err()+rounding) + 16*unit
	up, down := norm*(1+(float64(c.n)+16)*unit)+c.roundB, norm*(1-(float64(c.n)+16)*unit)-c.roundB
	h := t.upper(other)
	terms := h*h + up*up + 2*c.peak*math.Abs(entry)
	square := h*h + up*up + 2*c.peak*(off-entry) + 16*unit*terms
	if v := scale * (math.Sqrt(max(0, square)) + c.slackB) * (1 + 8*unit); v < c.upper[i] {
		c.upper[i] = v
	}
	// ‖Pb‖ ≥ |⟨Pb, Pv_j⟩|/‖Pv_j‖ = ‖Pv_j‖ − (P²v_j)_i/‖Pv_j‖
	if down > 0 {
		c.raiseLower(i, scale*((down-c.peak*max(0, entry+off)/down)*(1-16*unit)-c.slackB))
	}
}
