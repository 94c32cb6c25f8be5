// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
)

// Bounds of the work of a dual bound.
const (
	localProducts   = 4096   // that rows by balls may take the time of: about what the search takes
	patientProducts = 24_000 // the same where no time is set
	localShare      = .55    // of the time of a row is for reading it: the rest for its forms
	localPart       = 8192   // sensors between two looks at the time
	localTolerance  = 1e-3   // of the rows of M, relative to the worst edge at equal weights
	rankedBy        = 2      // blocks by which sensors are ranked where rows are sampled
	sampledRows     = 256
	topRows         = 96 // of them, of the sensors that rank first
)

// stretches are the factors of the energies at which tangents are taken: an optimum has more
// energy than the weights that were found.
var stretches = [...]float64{1, 1.25, 1.6, 2.2, 3.5}

// dual bounds F from below. φ is convex, so that for any energies e, with slopes
// c_i = −p_i φ'(e_i), every feasible v has
//
//	F(v) ≥ Σ_i (p_i φ(e_i) + c_i e_i) − wᵀv,   w_s = Σ_i c_i (M_si − mean_b M_s·)²/r²,
//
// the mean over the rivals b of i's community. Let y ≥ 0 sum to 1 over the edges, with prices
// q_s = Σ_e y_e D_es²; then qᵀv ≤ 1, and v_s ≤ h_s = 1/max_e D_es², for s meets the constraints
// of its own edges alone. The largest wᵀv under these two is a fractional knapsack. w, q
// and h are functions of a row of M each; see docs/proofs/allocation.md.
type dual struct {
	*search
	price   []float64   // y_e·scale_e of each edge
	ends    []int32     // edges at node i are edge[ends[i]:ends[i+1]]
	edge    []int32     // numbers of edges
	slopes  [][]float64 // c/r² of each stretch
	tangent []float64   // Σ_i (p_i φ(e_i) + c_i e_i) of each stretch
	against [][]float64 // Σ_a ρ_ab Σ_{i∈a} c_i/r² of each stretch and rival b
	spreads []float64   // bounds the norm of the form w of each stretch
	lift    float64     // bounds that of q
	pool    sync.Pool   // *form
	w       [][]float64 // of each stretch and sensor, at most so much
	q, h    []float64   // of each sensor, q at least and h at most so much
	rho     []rivals    // shares of rivals, not cumulative; community count is that of all nodes
	square  []float64   // Σ p_i²/share² of each community, and of all nodes
	weight  []float64   // sensors that each sampled one stands for
	chosen  []int       // sensors that may report, by their numbers
	least   *least      // of the weights; nil where not all rows are read
}

// form is memory to evaluate the forms of a row of M.
type form struct {
	x       []float64
	inside  []bool
	nodes   []int32
	mean    []float64 // of communities, and of all nodes
	rival   []float64 // of communities, the mean of the means of the rivals
	first   [][]float64
	touched []int
	seen    []bool // communities in touched
}

// boundBelow sets Value, Limit, Gap and Proven at the last weights.
func (s *search) boundBelow(r *Result) error {
	floats.Add(s.dual, s.tight(sharpest)) // any dual point bounds, and the mean has less of the estimates' errors
	floats.Scale(1/floats.Sum(s.dual), s.dual)
	d := s.newDual()
	proven, err := d.local()
	if err != nil {
		return err
	}
	if !proven {
		proven = d.sample()
	}
	if r.losses = s.estimated(); proven {
		r.losses = d.least.losses(d)
	}
	r.Value, r.Proven = r.losses.at(1), proven
	for k, t := range d.tangent {
		r.Limit = max(r.Limit, t-knapsack(d.w[k], d.q, d.h, d.weight))
	}
	r.Limit = min(r.Limit, r.Value)
	r.Gap, _ = r.GapAt(1)
	return s.p.ctx.Err()
}

// estimated returns F of the energies that were estimated.
func (s *search) estimated() *losses {
	f := &losses{prior: s.p.prior, odds: s.odds, energies: slices.Clone(s.energies)}
	f.blank = f.at(0)
	return f
}

func (s *search) newDual() *dual {
	n, count := s.p.model.Graph.Order(), s.p.count
	d := &dual{search: s, price: make([]float64, len(s.edges)), square: make([]float64, count+1), chosen: s.p.opts.Candidates}
	for j, e := range s.edges {
		d.price[j] = e.scale * s.dual[j]
	}
	for i, a := range s.p.labels {
		d.square[count] += s.p.prior[i] * s.p.prior[i]
		if s.share[a] > 0 {
			d.square[a] += s.p.prior[i] / s.share[a] * s.p.prior[i] / s.share[a]
		}
	}
	if d.chosen == nil {
		d.chosen = make([]int, len(s.sensors))
		for k := range d.chosen {
			d.chosen[k] = k
		}
	}
	d.setEnds(n)
	d.setRho()
	for _, f := range stretches {
		d.addTangent(f)
	}
	d.pool.New = func() any {
		f := &form{x: make([]float64, n), inside: make([]bool, n), mean: make([]float64, count+1), rival: make([]float64, count), seen: make([]bool, count)}
		for range stretches {
			f.first = append(f.first, make([]float64, count))
		}
		return f
	}
	return d
}

// setEnds lists the edges at every node, and bounds the norm of q: Σ_e y_e D_es² is a form in the
// row of s whose matrix is a Laplacian, at most twice its largest diagonal entry.
func (d *dual) setEnds(n int) {
	d.ends = make([]int32, n+1)
	degree := make([]float64, n)
	for j, e := range d.edges {
		for _, i := range [2]int32{e.u, e.v} {
			d.ends[i+1]++
			degree[i] += d.price[j]
		}
	}
	for i := range n {
		d.ends[i+1] += d.ends[i]
	}
	d.edge = make([]int32, 2*len(d.edges))
	next := slices.Clone(d.ends)
	for j, e := range d.edges {
		for _, i := range [2]int32{e.u, e.v} {
			d.edge[next[i]] = int32(j)
			next[i]++
		}
	}
	d.lift = 2 * slices.Max(degree)
}

func (d *dual) setRho() {
	d.rho = make([]rivals, len(d.rivals))
	for a, r := range d.rivals {
		d.rho[a] = rivals{[]int{d.p.count}, cumulative{1}}
		if len(r.communities) == 0 {
			continue
		}
		shares, before := slices.Clone(r.shares), 0.0
		for k, v := range r.shares {
			shares[k], before = (v-before)/r.shares[len(shares)-1], v
		}
		d.rho[a] = rivals{r.communities, shares}
	}
}

// addTangent prepares w at f times the energies. A slope that is too large by ε is one of a line that is lower by no
// more than εe at the energies that count against it, those below e.
func (d *dual) addTangent(f float64) {
	n, noise := len(d.energies), d.p.opts.Noise*d.p.opts.Noise
	slope, value := make([]float64, n), make([]float64, n)
	each(n, 256*width, func(i int) {
		e := f * d.energies[i]
		v, s := quadrature(e, d.odds[i], fineStep)
		slope[i], value[i] = d.p.prior[i]*(s+slopeError)/noise, d.p.prior[i]*(v-lossError+(s-slopeError)*e)
	})
	against, spread := d.spreadOf(slope)
	d.slopes, d.tangent, d.against = append(d.slopes, slope), append(d.tangent, floats.Sum(value)), append(d.against, against)
	d.spreads = append(d.spreads, spread)
	d.w = append(d.w, nil)
}

// spreadOf returns Σ_a ρ_ab Σ_{i∈a} c_i of each rival b, and a bound on the norm of the form Σ_i c_i Σ_b ρ_ab (x_i − m_b)².
func (d *dual) spreadOf(c []float64) (against []float64, norm float64) {
	sums, against := make([]float64, d.p.count), make([]float64, d.p.count+1)
	for i, a := range d.p.labels {
		sums[a] += c[i]
	}
	for a, r := range d.rho {
		for k, b := range r.communities {
			against[b] += r.shares[k] * sums[a]
		}
	}
	for b, v := range against {
		norm = max(norm, v*d.square[b])
	}
	return against, 2*slices.Max(c) + 2*norm + 2*against[d.p.count]*d.square[d.p.count]
}

// reserve makes room for so many rows.
func (d *dual) reserve(rows int) {
	for k := range d.w {
		d.w[k] = make([]float64, rows)
	}
	d.q, d.h, d.weight = make([]float64, rows), make([]float64, rows), ones(rows)
}

// local evaluates the rows of all sensors by the balls that heat reaches, as columns of an M that
// is symmetric. It reports false where it is not, that would take too long, or the work is not allowed.
func (d *dual) local() (bool, error) {
	if d.p.model.Laplacian.Similarity() != nil {
		return false, nil
	}
	nodes := make([]int, len(d.chosen))
	for at, k := range d.chosen {
		nodes[at] = d.sensors[k]
	}
	tol, most := localTolerance*min(1, math.Sqrt(d.unit)), localProducts
	if d.p.limit == 0 {
		most = patientProducts
	}
	read, ok := linop.ReadColumns(d.m, nodes, tol, int(localShare*float64(most)))
	if !ok {
		return false, nil
	}
	d.reserve(len(nodes))
	d.least = d.newLeast(len(nodes))
	for first := 0; first < len(nodes); first += localPart {
		d.p.opts.Progress("allocate: bound", int64(first), int64(len(nodes)))
		if d.p.expired() {
			return false, d.p.ctx.Err()
		}
		part := nodes[first:min(first+localPart, len(nodes))]
		each(len(part), 1<<8, func(k int) {
			if d.p.ctx.Err() == nil {
				read(part[k], func(rows []int32, x []float64, off float64) { d.readRow(first+k, rows, x, off) })
			}
		})
	}
	return true, d.p.ctx.Err()
}

// readRow evaluates the row at place at, whose entries at some nodes are x, and which these miss by off.
func (d *dual) readRow(at int, nodes []int32, x []float64, off float64) {
	f := d.pool.Get().(*form)
	for z, i := range nodes {
		f.x[i], f.inside[i] = x[z], true
	}
	f.nodes = append(f.nodes[:0], nodes...)
	d.use(f, at, d.chosen[at], off)
}

// use evaluates the row in f of a sensor, which is off by at most off in the 2-norm, at place at, and makes f
// serve for another row.
func (d *dual) use(f *form, at, sensor int, off float64) {
	d.addMeans(f)
	d.evaluate(f, at, sensor, off)
	if d.least != nil {
		d.least.add(d, f, at, sensor, off)
	}
	for _, i := range f.nodes {
		f.x[i], f.inside[i] = 0, false
	}
	for _, a := range f.touched {
		f.mean[a], f.rival[a], f.seen[a] = 0, 0, false
	}
	f.mean[d.p.count] = 0
	d.pool.Put(f)
}

// evaluate sets w, q and h at place at for a sensor, by its row in f with its means.
func (d *dual) evaluate(f *form, at, sensor int, off float64) {
	w := d.told(f)
	for k, v := range w {
		root := math.Sqrt(max(0, v)) + math.Sqrt(d.spreads[k])*off
		d.w[k][at] = root * root * (1 + 1e-9)
	}
	price, peak := d.given(f, off)
	root := max(0, math.Sqrt(price)-math.Sqrt(d.lift)*off)
	d.q[at], d.h[at] = root*root*(1-1e-9), d.most[sensor]
	if peak > 0 {
		d.h[at] = min(d.h[at], (1+1e-9)/peak)
	}
}

// addMeans adds the means of the row in f.
func (d *dual) addMeans(f *form) {
	f.touched = f.touched[:0]
	for _, i := range f.nodes {
		x, a, p := f.x[i], d.p.labels[i], d.p.prior[i]
		if x == 0 {
			continue
		}
		if !f.seen[a] {
			f.touched, f.seen[a] = append(f.touched, a), true
		}
		if d.share[a] > 0 {
			f.mean[a] += p * x / d.share[a]
		}
		f.mean[d.p.count] += p * x
	}
	for _, a := range f.touched {
		r := d.rho[a]
		for z, b := range r.communities {
			f.rival[a] += r.shares[z] * f.mean[b]
		}
	}
}

// told returns w of each stretch, at least: with x the row, m_b its mean over b, and sums over the
// nodes i of community a,
//
//	w = Σ_a (Σ c_i x_i² − 2 Σ c_i x_i Σ_b ρ_ab m_b) + Σ_b m_b² Σ_a ρ_ab Σ c_i.
//
// The middle term is at most the others, which bound the rounding of all.
func (d *dual) told(f *form) (w [len(stretches)]float64) {
	var cross [len(stretches)]float64
	for _, i := range f.nodes {
		x, a := f.x[i], d.p.labels[i]
		if x == 0 {
			continue
		}
		for k, c := range d.slopes {
			w[k] += c[i] * x * x
			f.first[k][a] += c[i] * x
		}
	}
	for _, a := range append(f.touched, d.p.count) {
		for k := range w {
			w[k] += d.against[k][a] * f.mean[a] * f.mean[a]
			if a < d.p.count {
				cross[k] += 2 * f.first[k][a] * f.rival[a]
				f.first[k][a] = 0
			}
		}
	}
	for k, v := range cross {
		w[k] = w[k]*(1+1e-9) - v
	}
	return w
}

// given returns q of the row in f, and at most the largest D_es².
func (d *dual) given(f *form, off float64) (price, peak float64) {
	for _, i := range f.nodes {
		for _, j := range d.edge[d.ends[i]:d.ends[i+1]] {
			e := d.edges[j]
			other := e.u + e.v - i
			if f.inside[other] && other < i {
				continue
			}
			x := math.Abs(f.x[i] - f.x[other])
			price += d.price[j] * x * x
			x = max(0, x-math.Sqrt2*off)
			peak = max(peak, e.scale*x*x)
		}
	}
	return price, peak
}

// sample evaluates the rows of some sensors by products: those that rank first by an estimate
// of w/q, and others that stand for the rest. It reports whether these are all.
func (d *dual) sample() bool {
	d.least = nil
	if len(d.chosen) <= sampledRows {
		d.reserve(len(d.chosen))
		d.least = d.newLeast(len(d.chosen))
		d.take(d.chosen)
		return true
	}
	order := d.ranked()
	top := min(topRows, len(order))
	rest := min(sampledRows-topRows, len(order)-top)
	var pick []int
	for k := range top + rest {
		if k < top {
			pick = append(pick, order[k])
		} else {
			pick = append(pick, order[top+(2*(k-top)+1)*(len(order)-top)/(2*rest)])
		}
	}
	d.reserve(len(pick))
	for k := top; k < len(pick); k++ {
		d.weight[k] = float64(len(order)-top) / float64(rest)
	}
	d.take(pick)
	return false
}

// take evaluates the rows of sensors by products.
func (d *dual) take(pick []int) {
	n := len(d.energies)
	for at := 0; at < len(pick); at += width {
		part := pick[at:min(at+width, len(pick))]
		clear(d.in)
		for c, k := range part {
			d.in[d.sensors[k]*width+c] = 1
		}
		linop.MulBlockTo(d.m, d.out, true, d.in, width)
		parallel(len(part), func(c int) {
			f := d.pool.Get().(*form)
			f.nodes = f.nodes[:0]
			for i := range n {
				f.x[i], f.inside[i] = d.out[i*width+c], true
				f.nodes = append(f.nodes, int32(i))
			}
			d.use(f, at+c, part[c], d.m.Err())
		})
	}
}

// ranked returns the sensors that may report, by falling estimates of w/q.
func (d *dual) ranked() []int {
	w, q := make([]float64, len(d.u)), make([]float64, len(d.u))
	for range rankedBy {
		told, given := d.energy.slopes(d.energies, d.drawRivals(), d.dual)
		floats.Add(w, told)
		floats.Add(q, given)
	}
	order := slices.Clone(d.chosen)
	slices.SortStableFunc(order, func(a, b int) int { return compareRatios(w[a], q[a], w[b], q[b]) })
	return order
}

// compareRatios is negative where w/q > v/p: x/0 is above all.
func compareRatios(w, q, v, p float64) int {
	switch x := w*p - v*q; {
	case x > 0:
		return -1
	case x < 0:
		return 1
	}
	return 0
}

// knapsack returns the largest Σ weight_s w_s v_s for 0 ≤ v ≤ h and Σ weight_s q_s v_s ≤ 1.
func knapsack(w, q, h, weight []float64) (value float64) {
	var order []int
	for k, v := range w {
		if v > 0 {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareRatios(w[a], q[a], w[b], q[b]) })
	room := 1.0
	for _, k := range order {
		need := weight[k] * q[k] * h[k]
		if need > room {
			return value + w[k]/q[k]*room
		}
		value += weight[k] * w[k] * h[k]
		room -= need
	}
	return value
}
