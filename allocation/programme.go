// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// programme is the packing programme in x_s = u_s/h_s,
//
//	max cᵀx   subject to   Ax ≤ 1, 0 ≤ x ≤ 1,   A_es = (α/ℓ_e)²(M_si − M_sj)²·h_s ≤ 1,
//
// of which only the rows of some edges are held: it is a relaxation, and the edges
// that its solution violates are added until none is left or the gap is closed.
// x ≤ 1 costs nothing, since the worst edge of s implies it.
//
// For MaxMin there is one more variable t, to be maximised, and a row t ≤ vᵀx for
// each pair of communities.
type programme struct {
	p     *problem
	lp    *simplex
	h     []float64
	gap   float64      // to aim at
	row   map[int]bool // edges that are in
	edges []edge

	pairs [][]float64 // v of each pair; nil unless MaxMin
	in    []bool      // pairs that are in
	unit  float64     // t is in units of this

	even, evenValue []float64 // x of equal weights, and its edges

	best  []float64 // feasible x, the best mixture so far
	worth float64   // its objective
	peak  float64   // worst edge of the last vertex, at least 1
	pure  float64   // objective of the last vertex, scaled until feasible
	most  float64   // proven bound
}

func (p *problem) newProgramme(h []float64) *programme {
	return &programme{p: p, h: h, gap: p.opts.Gap, edges: p.rows.edges, row: make(map[int]bool)}
}

// maximise solves for the weights w of u, or for the least pair where w is nil, and
// reports the feasible u found, its objective and a bound. Rows of earlier calls
// stay.
func (g *programme) maximise(w []float64) (u []float64, value, limit float64, err error) {
	c, scale := g.costs(w)
	if scale == 0 {
		return nil, 0, 0, ErrNothing
	}
	if g.lp == nil {
		g.lp = newSimplex(disturbed(c))
	} else {
		g.lp.setCost(disturbed(c))
		g.lp.primal(g.p.late)
	}
	g.begin()
	x := make([]float64, len(c))
	fresh := false
	for {
		done := g.lp.restore(g.p.late)
		g.p.rounds++
		if err := g.p.ctx.Err(); err != nil {
			return nil, 0, 0, err
		}
		g.lp.x(x)
		g.most = min(g.most, g.ceiling(c))
		cuts := g.improve(x, c)
		g.p.opts.Progress("allocate: edges", int64(len(g.row)), 0)
		if g.pure >= g.most*(1-g.gap) || g.p.late() {
			break
		}
		if done && cuts > 0 {
			fresh = false
			continue
		}
		if fresh {
			break // as good as the arithmetic gets
		}
		if !g.lp.refactor(g.p.late) {
			break
		}
		g.lp.primal(g.p.late)
		fresh = true
	}
	// A vertex has few sensors; the mixture serves where the search was cut short.
	share := g.worth
	if g.pure >= g.worth*(1-g.gap) {
		floats.ScaleTo(g.best, 1/g.peak, x[:len(g.best)])
		share = g.pure
	}
	u = make([]float64, len(g.h))
	for s := range u {
		u[s] = g.best[s] * g.h[s]
	}
	return u, share * scale, g.most * scale, nil
}

// begin makes equal weights the best point.
func (g *programme) begin() {
	if g.even == nil {
		g.even, g.evenValue = g.p.even(g.h), make([]float64, len(g.edges))
		g.p.rows.price(g.evenValue, g.even)
		for s, h := range g.h {
			if h > 0 {
				g.even[s] /= h
			}
		}
	}
	g.best = slices.Clone(g.even)
	copy(g.p.value, g.evenValue)
	g.worth, g.most = g.objective(g.best), math.Inf(1)
}

// costs returns c, scaled to a largest value of 1.
func (g *programme) costs(w []float64) (c []float64, scale float64) {
	k := len(g.h)
	if w != nil {
		c = make([]float64, k)
		for s := range c {
			c[s] = w[s] * g.h[s]
			scale = max(scale, c[s])
		}
		if scale > 0 {
			for s := range c {
				c[s] /= scale
			}
		}
		return c, scale
	}
	c = make([]float64, k+1)
	c[k] = 1
	return c, g.unit
}

// disturbed breaks ties among the costs, which symmetric graphs have many of. Both
// the value and the bound are computed from the true costs.
func disturbed(c []float64) []float64 {
	d := slices.Clone(c)
	for s := range d {
		d[s] *= 1 + jitter(s)
	}
	return d
}

// jitter is a fixed number in [0, 1e-9), different for neighbouring k.
func jitter(k int) float64 {
	_, f := math.Modf(float64(k+1) * math.Phi)
	return 1e-9 * f
}

// ceiling returns the value of the dual point y: Σ y_k b_k + Σ_s max(0, c_s − y·a_s),
// which no feasible point exceeds.
func (g *programme) ceiling(c []float64) float64 {
	y := make([]float64, len(g.lp.rows))
	g.lp.dual(y)
	rest := slices.Clone(c)
	var sum float64
	for k, v := range y {
		if v > 0 {
			axpy(-v, g.lp.rows[k], rest)
			sum += v * g.rhs(k)
		}
	}
	for _, v := range rest {
		sum += max(0, v)
	}
	return sum * (1 + float64(len(y)+len(c)+8)*0x1p-52)
}

// rhs returns the right side of row k without its disturbance.
func (g *programme) rhs(k int) float64 { return math.Round(g.lp.b[k]) }

// improve scales x until it is feasible, on its own and mixed with the best point
// known, and adds the rows that it violates. It returns their number.
func (g *programme) improve(x, c []float64) int {
	k := len(g.h)
	u := make([]float64, k)
	for s := range u {
		u[s] = x[s] * g.h[s]
	}
	now := make([]float64, len(g.edges))
	g.p.rows.price(now, u)
	g.mix(x, now)
	return g.cutPairs(x) + g.cutEdges(now)
}

// mix looks along the segment from the best point to x: the edges' values are
// linear there.
func (g *programme) mix(x, now []float64) {
	k := len(g.h)
	gain, old := g.objective(x), g.objective(g.best)
	g.peak = max(1, slices.Max(now))
	g.pure = gain / g.peak
	bestShare, bestPeak := 0.0, 1.0
	for i := 1; i <= 16; i++ {
		f := float64(i) / 16
		peak := 0.0
		for e, v := range now {
			peak = max(peak, f*v+(1-f)*g.p.value[e])
		}
		for s := range k {
			peak = max(peak, f*x[s]+(1-f)*g.best[s])
		}
		worth := f*gain + (1-f)*old // ≤ the value of the mixture: objectives are concave
		if peak > 0 && worth/peak > g.worth {
			g.worth, bestShare, bestPeak = worth/peak, f, peak
		}
	}
	if bestShare == 0 {
		return
	}
	for e, v := range now {
		g.p.value[e] = (bestShare*v + (1-bestShare)*g.p.value[e]) / bestPeak
	}
	for s := range k {
		g.best[s] = (bestShare*x[s] + (1-bestShare)*g.best[s]) / bestPeak
	}
}

// objective is linear in x, or the least pair.
func (g *programme) objective(x []float64) float64 {
	var sum float64
	if g.pairs == nil {
		for s, c := range g.lp.c {
			sum += c * x[s]
		}
		return sum
	}
	sum = math.Inf(1)
	for _, v := range g.pairs {
		sum = min(sum, floats.Dot(v, x[:len(g.h)]))
	}
	return sum
}

// cutEdges adds the most violated edges, one a node: those that share a node say
// nearly the same.
func (g *programme) cutEdges(value []float64) int {
	var bad []int
	for e, v := range value {
		if v > 1+1e-7 && !g.row[e] {
			bad = append(bad, e)
		}
	}
	slices.SortFunc(bad, func(a, b int) int {
		switch {
		case value[a] > value[b]:
			return -1
		case value[a] < value[b]:
			return 1
		}
		return a - b
	})
	taken := make(map[int32]bool)
	most := 32 + len(g.row)/8
	added := 0
	for _, k := range bad {
		e := g.edges[k]
		if taken[e.u] || taken[e.v] {
			continue
		}
		taken[e.u], taken[e.v] = true, true
		a := make([]float64, len(g.lp.c))
		g.p.rows.squares(a[:len(g.h)], e, g.h)
		g.lp.addRow(a, 1+jitter(k))
		g.row[k] = true
		if added++; added == most || g.p.late() {
			break
		}
	}
	return added
}

// cutPairs adds the pairs that t exceeds.
func (g *programme) cutPairs(x []float64) int {
	added := 0
	for i, v := range g.pairs {
		k := len(g.h)
		if g.in[i] || x[k] <= floats.Dot(v, x[:k])+1e-9 {
			continue
		}
		a := make([]float64, k+1)
		for s := range v {
			a[s] = -v[s]
		}
		a[k] = 1
		g.lp.addRow(a, 0)
		g.in[i] = true
		added++
	}
	return added
}
