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
// of which only the rows of some edges are held: it is a relaxation, and violated edges
// are added as cutting planes until none is left or the gap is closed. x ≤ 1 is
// redundant, since the worst edge of s implies it.
type programme struct {
	p     *problem
	lp    *simplex
	h     []float64
	gap   float64      // relative distance from the optimum at which it ends
	row   map[int]bool // edges that are in
	edges []edge

	equal, equalValue []float64 // x of equal weights, and its constraints

	best        []float64 // best feasible convex combination so far
	bestValue   float64   // its objective
	peak        float64   // largest constraint at the last vertex, at least 1
	vertexValue float64   // objective of the last vertex, scaled until feasible
	bound       float64   // proven upper bound
}

func (p *problem) newProgramme(h []float64) *programme {
	return &programme{p: p, h: h, gap: p.gap, edges: p.rows.edges, row: make(map[int]bool)}
}

// maximise solves for the weights w of u, and returns the feasible u found. Rows of earlier
// calls stay.
func (g *programme) maximise(w []float64) ([]float64, error) {
	c := g.costs(w)
	if c == nil {
		return nil, ErrNothing
	}
	if g.lp == nil {
		g.lp = newSimplex(perturbed(c))
	} else {
		g.lp.setCost(perturbed(c))
		g.lp.primal(g.stop)
	}
	g.resetBest()
	x := make([]float64, len(c))
	for {
		done := g.lp.dualSimplex(g.stop)
		if err := g.p.ctx.Err(); err != nil {
			return nil, err
		}
		g.lp.x(x)
		g.bound = min(g.bound, g.dualBound(c))
		cuts := g.separate(x)
		g.p.opts.Progress("allocate: edges", int64(len(g.row)), 0)
		if g.vertexValue >= g.bound*(1-g.gap) || g.p.expired() {
			break
		}
		if !done || cuts == 0 {
			break // limited by rounding
		}
	}
	// A vertex has few sensors; the convex combination serves where the search was cut short.
	if g.vertexValue >= g.bestValue*(1-g.gap) {
		floats.ScaleTo(g.best, 1/g.peak, x[:len(g.best)])
	}
	floats.Mul(g.best, g.h)
	return g.best, nil
}

// stop counts an exchange of the tableau, and reports whether the search must stop.
func (g *programme) stop() bool {
	g.p.charge(len(g.lp.rows) * len(g.lp.c))
	return g.p.expired()
}

// resetBest makes equal weights the best point.
func (g *programme) resetBest() {
	if g.equal == nil {
		g.equal, g.equalValue = g.p.equalWeights(g.h), make([]float64, len(g.edges))
		g.p.rows.constraints(g.equalValue, g.equal)
		for s, h := range g.h {
			if h > 0 {
				g.equal[s] /= h
			}
		}
	}
	g.best = slices.Clone(g.equal)
	copy(g.p.value, g.equalValue)
	g.bestValue, g.bound = g.objective(g.best), math.Inf(1)
}

// costs returns c, scaled to a largest value of 1; nil where all are 0.
func (g *programme) costs(w []float64) []float64 {
	c := make([]float64, len(g.h))
	floats.MulTo(c, w, g.h)
	scale := floats.Max(c)
	if !(scale > 0) {
		return nil
	}
	for s := range c {
		c[s] /= scale
	}
	return c
}

// perturbed breaks ties among the costs, which symmetric graphs have many of. Both
// the value and the bound are computed from the true costs.
func perturbed(c []float64) []float64 {
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

// dualBound returns the value of the dual point y: Σ y_k b_k + Σ_s max(0, c_s − y·a_s),
// which no feasible point exceeds.
func (g *programme) dualBound(c []float64) float64 {
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

// rhs returns the right side of row k without its perturbation.
func (g *programme) rhs(k int) float64 { return math.Round(g.lp.b[k]) }

// separate scales x, and its convex combinations with the best point, until feasible,
// keeps the best, and adds the rows that x violates. It returns their number.
func (g *programme) separate(x []float64) int {
	k := len(g.h)
	u := make([]float64, k)
	for s := range u {
		u[s] = x[s] * g.h[s]
	}
	now := make([]float64, len(g.edges))
	g.p.rows.constraints(now, u)
	g.p.charge(len(g.edges) * k)
	g.searchSegment(x, now)
	return g.cutEdges(now)
}

// searchSegment searches the segment from the best point to x, along which the constraints are
// linear.
func (g *programme) searchSegment(x, now []float64) {
	k := len(g.h)
	gain, old := g.objective(x), g.objective(g.best)
	g.peak = max(1, slices.Max(now))
	g.vertexValue = gain / g.peak
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
		if peak > 0 && worth/peak > g.bestValue {
			g.bestValue, bestShare, bestPeak = worth/peak, f, peak
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

// objective is linear in x.
func (g *programme) objective(x []float64) (sum float64) {
	for s, c := range g.lp.c {
		sum += c * x[s]
	}
	return sum
}

// cutEdges adds the most violated edges, at most one a node: constraints of edges that
// share a node are nearly parallel.
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
		if added++; added == most || g.p.expired() {
			break
		}
	}
	return added
}

// equalWeights returns the largest feasible equal weights, each at most h_s.
func (p *problem) equalWeights(h []float64) []float64 {
	u := ones(len(h))
	peak := p.rows.constraints(p.value, u)
	for s := range u {
		u[s] = min(h[s], 1/peak)
	}
	return u
}

// normalise scales u so that the largest constraint is 1.
func (p *problem) normalise(u []float64) {
	if peak := p.rows.constraints(p.value, u); peak > 0 {
		floats.Scale(1/peak, u)
	}
}
