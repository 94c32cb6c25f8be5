// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// entries is a Generator whose rows can be read: S = diag(diag) − B, row i of B being
// adj[ptr[i]:ptr[i+1]] with val beside it, or with ones where val is nil.
type entries interface {
	CSR() (ptr []int64, adj []int32, val, diag []float64)
}

const (
	// ballEntries bounds the entries of L that the ball of a column may hold, and rowEntries that of a row, of which there are fewer.
	ballEntries = 1 << 15
	rowEntries  = 1 << 18
	// ballSample is the number of columns that show what the others cost.
	ballSample = 64
	// collectCost and stepCost are the times of an entry that is taken into a ball, and of one that a step in it reads,
	// relative to one of a block product.
	collectCost = 60
	stepCost    = 16
)

// nearby returns the places of js in the order of their rows: columns that follow each other then have most of
// their balls in common, and these in the cache.
func (d *Diffusion) nearby(js []int) []int32 {
	order := make([]int32, len(js))
	for k := range order {
		order[k] = int32(k)
	}
	row := d.gen.Permutation()
	if row == nil {
		return order
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(row[js[a]], row[js[b]]), cmp.Compare(a, b)) })
	return order
}

// ReadColumns reads columns of e^{-τL} itself, the similarity included, one at a time where its caller wants them: their
// entries in the ball around j that heat reaches, and a bound on the 2-norm of how far these are from the column, entries
// elsewhere included. tol and most are those of [Diffusion.ColumnSquares], and so is what is reported.
func (d *Diffusion) ReadColumns(js []int, tol float64, most int) (linop.ColumnReader, bool) {
	b := d.affordable(js, slices.Repeat([]float64{1}, d.gen.Order()), tol, most, ballEntries)
	if b == nil {
		return nil, false
	}
	return func(j int, do func(rows []int32, x []float64, off float64)) {
		p := b.pool.Get().(*ball)
		off := b.read(p, j)
		do(p.nodes[:len(p.sum)], p.sum, off)
		b.pool.Put(p)
	}, true
}

// affordable returns what the columns js share, or nil where they are not to be had by balls, take longer than as many
// products as given by most, or a quarter of the balls, of so many entries at most, would be cut.
func (d *Diffusion) affordable(js []int, weights []float64, tol float64, most, size int) *balls {
	rows, ok := d.gen.(entries)
	if !ok || d.method != Chebyshev || len(js) == 0 {
		return nil
	}
	b := d.newBalls(rows, weights, tol, size)
	column := func(p *ball, j int) { b.column(p, j) }
	if products, cut := d.products(b, js, ballSample, len(b.chebyshev), column); cut > .25 || products > float64(most) {
		return nil
	}
	return b
}

// products returns in how many products as much time is spent as on the balls of the columns js, as a sample of them shows,
// and the share of the sample that would be cut: whose balls end before so many distances.
func (d *Diffusion) products(b *balls, js []int, sample, distances int, column func(p *ball, j int)) (products, cut float64) {
	step := max(1, len(js)/sample)
	var work, count float64
	p := b.pool.Get().(*ball)
	for k := 0; k < len(js); k += step {
		column(p, js[k])
		work, count = work+float64(p.work), count+1
		if len(p.reach) < distances {
			cut++
		}
	}
	b.pool.Put(p)
	return work / count * float64(len(js)) / (float64(d.Degree()) * float64(d.gen.Work())), cut / count
}

// balls is what the columns of one call share.
type balls struct {
	ptr        []int64
	adj        []int32
	val, diag  []float64
	similarity []float64 // nil: all 1
	weights    []float64 // of the rows of e^{-τS}
	peak       float64   // √ of the largest of them
	h          float64   // 2/λ
	size       int       // entries of a ball, at most
	chebyshev  []float64 // coefficients, up to the degree that is wanted
	dropped    []float64 // dropped[k] bounds what the coefficients beyond k add up to
	spread     float64   // Σ_k |coefficient|·k(k+1)/2
	pool       sync.Pool // *ball
}

func (d *Diffusion) newBalls(rows entries, weights []float64, tol float64, size int) *balls {
	b := &balls{similarity: d.gen.Similarity(), weights: weights, h: 2 / d.gen.Bound(), size: size}
	b.ptr, b.adj, b.val, b.diag = rows.CSR()
	if b.similarity != nil {
		b.weights = make([]float64, len(weights))
		for i, s := range b.similarity {
			b.weights[i] = weights[i] / (s * s) * (1 + 8*unit)
		}
	}
	b.peak = math.Sqrt(slices.Max(b.weights)) * (1 + 4*unit)
	b.dropped = make([]float64, len(d.weights))
	tail := d.tol / d.condition * (1 + 1e-9)
	for k := len(d.weights) - 1; k >= 0; k-- {
		b.dropped[k] = tail * (1 + 1e-9)
		tail += math.Abs(d.weights[k])
		b.spread += math.Abs(d.weights[k]) * float64(k) * float64(k+1) / 2
	}
	degree := 0
	for degree < len(d.weights)-1 && b.dropped[degree] > tol {
		degree++
	}
	b.chebyshev = d.weights[:degree+1]
	b.pool.New = func() any { return &ball{position: make([]int32, len(b.diag))} }
	return b
}

// ball is the neighbourhood of a node: node nodes[i] has the entries adj[ptr[i]:ptr[i+1]],
// which are places in nodes, and val beside them. Nodes are in the order of their distance.
type ball struct {
	position []int32 // 1 + place of a node of the graph; 0: not in the ball
	nodes    []int32
	reach    []int // reach[r] nodes are within distance r
	ptr      []int32
	adj      []int32
	val      []float64
	diag     []float64 // of the nodes

	sum, cur, prev []float64
	widest         int // most entries of a row of a node in it: what a sum of step can have
	work           int // time, in entries of a block product
}

// collect makes the ball around j of so many steps, or of as many as the entries that a
// ball may hold allow.
func (p *ball) collect(b *balls, j, steps int) {
	p.nodes, p.position[j] = append(p.nodes[:0], int32(j)), 1
	p.reach, p.ptr, p.adj, p.val = append(p.reach[:0], 1), append(p.ptr[:0], 0), p.adj[:0], p.val[:0]
	p.widest = int(b.ptr[j+1] - b.ptr[j])
	for first := 0; len(p.reach) <= steps; {
		layer := p.nodes[first:]
		more := len(p.adj)
		for _, t := range layer {
			more += int(b.ptr[t+1] - b.ptr[t])
		}
		if more > b.size {
			break
		}
		first = len(p.nodes)
		for _, t := range layer {
			p.addRow(b, t)
		}
		p.reach = append(p.reach, len(p.nodes))
	}
	p.diag = resize(p.diag, len(p.nodes))
	for i, t := range p.nodes {
		p.position[t], p.diag[i] = 0, b.diag[t]
	}
}

// addRow adds the entries of node t, and the nodes among them that are new.
func (p *ball) addRow(b *balls, t int32) {
	from, to := b.ptr[t], b.ptr[t+1]
	for _, other := range b.adj[from:to] {
		at := p.position[other]
		if at == 0 {
			p.nodes = append(p.nodes, other)
			at = int32(len(p.nodes))
			p.position[other] = at
			p.widest = max(p.widest, int(b.ptr[other+1]-b.ptr[other]))
		}
		p.adj = append(p.adj, at-1)
	}
	if b.val != nil {
		p.val = append(p.val, b.val[from:to]...)
	}
	p.ptr = append(p.ptr, int32(len(p.adj)))
}

// gamma bounds the rounding error of [ball.step], relative to |S||x| and the other terms, as
// a Generator's Rounding does: a plain sum of as many terms as the widest row that the ball
// reaches, of which twelve roundings are for its other operations and for the stored S.
func (p *ball) gamma() float64 {
	g := float64(p.widest+12) * unit
	return g / (1 - g)
}

// column sets sum to column j of e^{-τS}, and returns its error in the 2-norm, at most.
func (b *balls) column(p *ball, j int) (off float64) {
	p.collect(b, j, len(b.chebyshev)-1)
	degree := min(len(b.chebyshev), len(p.reach)) - 1
	p.heat(b, degree)
	return b.off(p, degree)
}

// read sets sum to column j of e^{-τL} at the nodes of its ball, and bounds the 2-norm of what it misses.
func (b *balls) read(p *ball, j int) (off float64) {
	off = b.column(p, j) * (1 + 1e-9)
	if b.similarity == nil {
		return off
	}
	s, square := b.similarity[j], 0.0
	for i := range p.sum {
		p.sum[i] *= s / b.similarity[p.nodes[i]]
		square += p.sum[i] * p.sum[i]
	}
	return off*b.peak*s*(1+4*unit) + 8*unit*math.Sqrt(square)
}

// bounds returns bounds for column j.
func (b *balls) bounds(p *ball, j int) (low, high float64) {
	off := b.peak * b.column(p, j) * (1 + 1e-9)
	var square float64
	for i, v := range p.sum {
		square += b.weights[p.nodes[i]] * v * v
	}
	return b.within(j, square, len(p.sum), off)
}

// within returns bounds for column j, of which a sum of so many squares misses off in the 2-norm.
func (b *balls) within(j int, square float64, terms int, off float64) (low, high float64) {
	slack := float64(terms+8) * unit
	low = max(0, math.Sqrt(square)*(1-slack)-off)
	high = math.Sqrt(square)*(1+slack) + off
	if b.similarity != nil {
		s := b.similarity[j]
		low, high = low*s*(1-4*unit), high*s*(1+4*unit)
	}
	return low * low * (1 - 2*unit), high * high * (1 + 2*unit)
}

// heat sets sum to the polynomial of the given degree times e_j.
func (p *ball) heat(b *balls, degree int) {
	p.work = collectCost * len(p.adj)
	p.heatFrom(b, []float64{1}, 0, degree)
}

// heatFrom sets sum to the polynomial of the given degree times x, which has the nodes within distance from.
func (p *ball) heatFrom(b *balls, x []float64, from, degree int) {
	size := p.reach[from+degree]
	p.sum, p.cur, p.prev = resize(p.sum, size), resize(p.cur, size), resize(p.prev, size)
	clear(p.cur)
	clear(p.prev)
	copy(p.cur, x)
	for i, v := range p.cur {
		p.sum[i] = b.chebyshev[0] * v
	}
	for k := 1; k <= degree; k++ {
		factor := 2.0
		if k == 1 {
			factor = 1
		}
		p.step(b, p.reach[from+k-1], factor)
		p.prev, p.cur = p.cur, p.prev
		for i, v := range p.cur[:p.reach[from+k]] {
			p.sum[i] += b.chebyshev[k] * v
		}
	}
}

// step sets prev to factor·(hS − I)cur − prev where cur has so many entries.
func (p *ball) step(b *balls, size int, factor float64) {
	h := factor * b.h
	cur, prev, ptr := p.cur[:size], p.prev, p.ptr[:size+1]
	diag := p.diag[:size]
	for i, x := range cur {
		prev[i] = (h*diag[i]-factor)*x - prev[i]
	}
	if len(p.val) == 0 {
		subtractRows(prev, cur, h, ptr, p.adj)
	} else {
		subtractWeightedRows(prev, cur, h, ptr, p.adj, p.val)
	}
	p.work += stepCost * int(ptr[size])
}

// subtractRows subtracts h·x_i from the entries of y that row i lists.
func subtractRows(y, x []float64, h float64, ptr, adj []int32) {
	for i, v := range x {
		v *= h
		for _, t := range adj[ptr[i]:ptr[i+1]] {
			y[t] -= v
		}
	}
}

// subtractWeightedRows subtracts h·x_i times the weight from the entries of y that row i lists.
func subtractWeightedRows(y, x []float64, h float64, ptr, adj []int32, val []float64) {
	for i, v := range x {
		v *= h
		row := adj[ptr[i]:ptr[i+1]]
		weight := val[ptr[i]:][:len(row)]
		for e, t := range row {
			y[t] -= weight[e] * v
		}
	}
}

func resize(v []float64, size int) []float64 {
	if cap(v) < size {
		return make([]float64, size)
	}
	return v[:size]
}

// off bounds the error of the polynomial of a degree relative to the vector that it is applied to.
// The rounding error is that of [chebyshev], with the gamma of the ball.
func (b *balls) off(p *ball, degree int) float64 {
	return b.dropped[degree] + 7*p.gamma()*b.spread + float64(degree+66)*unit
}
