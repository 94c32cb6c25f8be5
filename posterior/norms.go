// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
)

// Norms are the squared column norms N_i = ‖A e_i‖² of whitened data, between Low_i
// and High_i.
type Norms struct {
	N         []float64
	Low, High []float64 // nil: N is exact
}

// check refuses norms that are not those of n nodes, or not between their bounds.
func (a Norms) check(n int) error {
	if len(a.N) != n || a.Low != nil && (len(a.Low) != n || len(a.High) != n) {
		return fmt.Errorf("%w: %d column norms for %d nodes", ErrInvalid, len(a.N), n)
	}
	for i, v := range a.N {
		if !(v >= 0) || math.IsInf(v, 1) || a.Low != nil && !(a.Low[i] <= v && v <= a.High[i]) {
			return fmt.Errorf("%w: squared column norm of node %d is %v, or not between its bounds", ErrInvalid, i, v)
		}
	}
	return nil
}

// Beyond exactOrder nodes and exactSensors sensors a product for each takes too long.
// Then probes bound every norm, except with probability normFailure, and norms are computed
// exactly until ProbabilityError and the error of the log odds of the first two nodes are
// at most posteriorTol.
const (
	exactOrder   = 10_000
	exactSensors = 256
	normFailure  = 1e-9
	posteriorTol = 0.01
)

// effort limits the work of boundedNorms.
type effort struct {
	rounds int // of directions and probes, each with four times as many as the last
	probes int // of the first round
	peaks  int // exact norms at a time
	most   int // exact norms in all, shared among the rounds
}

func defaultEffort() effort { return effort{rounds: 2, probes: 64, peaks: 64, most: 512} }

// ColumnNorms returns the column norms: exact, from the entries where A holds a matrix, or
// by products where one side of A is short (10,000 nodes, 256 sensors); beyond that
// bounded, as by [ProbedNorms], and exact at up to 512 nodes that contribute most to the
// error of the posterior under opts. opts.Norms is ignored.
func ColumnNorms(ctx context.Context, d measurement.Data, opts Options) (Norms, error) {
	_, n := d.A.Dims()
	logPrior, err := logWeights(opts.Prior, n)
	if err != nil {
		return Norms{}, err
	}
	return (&products{Data: d, progress: opts.Progress}).norms(ctx, newEvidence(opts.Amplitude), logPrior)
}

func (p *products) norms(ctx context.Context, e evidence, logPrior []float64) (Norms, error) {
	m, n := p.A.Dims()
	out := Norms{N: make([]float64, n)}
	switch {
	case rowNorms(p.Data, out.N):
		return out, ctx.Err()
	case n <= exactOrder:
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return out, p.columnNorms(ctx, out.N, all)
	case m <= exactSensors:
		return out, p.addSquares(ctx, out.N, m, identity)
	}
	return p.boundedNorms(ctx, e, logPrior, defaultEffort())
}

// bounding narrows bounds on the norms of all nodes until they no longer matter to the
// posterior.
type bounding struct {
	*products
	e           evidence
	logPrior, c []float64 // c = Aᵀy
	cError      float64   // of an entry of c
	out         Norms
	low, high   []float64 // bounds on the log weight of each node
	uncertainty
	done int // exact norms
}

func (p *products) newBounding(e evidence, logPrior []float64) *bounding {
	n := len(logPrior)
	s := &bounding{products: p, e: e, logPrior: logPrior, c: make([]float64, n), cError: productError(p.Data)}
	s.out = Norms{N: make([]float64, n), Low: make([]float64, n), High: make([]float64, n)}
	floats.AddConst(math.Inf(1), s.out.High)
	p.A.MulVecTo(s.c, true, p.Y)
	s.exact = make([]bool, n)
	return s
}

// assess updates the uncertainty that the bounds leave, and lists k candidates.
func (s *bounding) assess(k int) {
	weight := s.e.logs(s.c, s.out.N)
	floats.Add(weight, s.logPrior)
	s.low, s.high = s.e.weightBounds(s.c, s.out, s.cError, s.logPrior)
	s.rank(weight, s.low, s.high, k)
}

// boundedNorms bounds the norms by the balls that heat reaches where that is cheap, else in
// rounds of probes. Each round computes exactly the norms that contribute most to the
// uncertainty that the rounds before left.
func (p *products) boundedNorms(ctx context.Context, e evidence, logPrior []float64, b effort) (Norms, error) {
	s := p.newBounding(e, logPrior)
	if local, err := s.local(ctx); local || err != nil {
		if err == nil && !s.settled() {
			err = s.peaks(ctx, b.peaks, b.most)
		}
		return s.out, err
	}
	f := newDeflation(p, 1)
	for round := range b.rounds {
		if err := f.grow(ctx, probeWidth<<(2*round), s.weights(), s.out.N); err != nil {
			return Norms{}, err
		}
		bounds, err := f.bounds(ctx, b.probes<<(2*round), normFailure/float64(b.rounds))
		if err != nil {
			return Norms{}, err
		}
		s.out.intersect(bounds)
		if err := s.peaks(ctx, b.peaks, b.most*(round+1)/b.rounds); err != nil {
			return Norms{}, err
		}
		if s.settled() {
			break
		}
	}
	return s.out, nil
}

// peaks computes up to so many norms in all exactly, some at a time, as long as that is
// worthwhile.
func (s *bounding) peaks(ctx context.Context, atATime, budget int) error {
	s.assess(budget)
	for odds := math.Inf(1); s.done < min(budget, len(s.c)) && s.worthwhile(budget-s.done, odds); {
		picks := s.candidates[:min(max(1, atATime), budget-s.done, len(s.candidates))]
		if err := s.columnNorms(ctx, s.out.N, picks); err != nil {
			return err
		}
		for _, i := range picks {
			s.exact[i] = true
			s.out.Low[i], s.out.High[i] = widen(s.out.N[i], s.out.N[i], linop.Err(s.A))
		}
		s.done += len(picks)
		odds = s.odds
		s.assess(budget)
	}
	return nil
}

// grow extends Q by blocks of 16, up to k vectors for nodes of these weights, as long as
// a block captures a quarter of the remaining weighted norms.
func (f *deflation) grow(ctx context.Context, k int, weight, norms []float64) error {
	for f.q.K < k {
		left := math.Inf(-1) // not known yet
		if weight != nil {
			left = max(0, floats.Dot(weight, norms)-f.sum(weight))
		}
		gain, err := f.extend(ctx, weight)
		if err != nil || gain <= left/4 || gain == 0 {
			return err
		}
	}
	return ctx.Err()
}

// uncertainty is the error of the posterior that bounds on the norms permit.
type uncertainty struct {
	exact      []bool    // nodes of exact norms
	logShare   []float64 // error of each posterior probability, at the other nodes
	candidates []int     // nodes of the largest shares, largest first
	logTotal   float64   // of all shares, those of exact norms too
	odds       float64   // error of the log odds of the first two
}

// rank updates the uncertainty from the weights and their bounds, and lists k candidates.
func (u *uncertainty) rank(weight, low, high []float64, k int) {
	u.logShare = logShareErrors(low, high, logSum(weight))
	u.logTotal, u.odds = logSum(u.logShare), logOddsError(weight, low, high)
	for i, exact := range u.exact {
		if exact {
			u.logShare[i] = math.Inf(-1)
		}
	}
	u.candidates = largest(u.logShare, u.exact, k)
}

// largest returns the k largest values but those of exact norms, largest first; of equal
// ones those of lower nodes come first.
func largest(x []float64, exact []bool, k int) []int {
	if k == 0 {
		return nil
	}
	open := make([]float64, 0, len(x))
	for i, v := range x {
		if !exact[i] {
			open = append(open, v)
		}
	}
	if k = min(k, len(open)); k == 0 {
		return nil
	}
	slices.Sort(open)
	least := open[len(open)-k]
	above, _ := slices.BinarySearch(open, math.Nextafter(least, math.Inf(1)))
	equal := k - (len(open) - above)
	out := make([]int, 0, k)
	for i, v := range x {
		switch {
		case exact[i] || v < least:
			continue
		case v == least && equal == 0:
			continue
		case v == least:
			equal--
		}
		out = append(out, i)
	}
	slices.SortStableFunc(out, func(i, j int) int { return cmp.Compare(x[j], x[i]) })
	return out
}

func (u *uncertainty) settled() bool {
	return u.logTotal <= math.Log(posteriorTol) && u.odds <= posteriorTol
}

// worthwhile reports whether to compute k more norms exactly: they account for half of the
// error of the posterior, or the error of the log odds is above the tolerance and fell by a
// tenth from its value before the last step.
func (u *uncertainty) worthwhile(k int, before float64) bool {
	if len(u.candidates) == 0 {
		return false
	}
	mass := make([]float64, 0, k)
	for _, i := range u.candidates[:min(k, len(u.candidates))] {
		mass = append(mass, u.logShare[i])
	}
	return u.logTotal > math.Log(posteriorTol) && logSum(mass) >= u.logTotal-math.Ln2 ||
		u.odds > posteriorTol && u.odds < 0.9*before
}

// weights returns the shares relative to the largest, or nil where none is finite.
func (u *uncertainty) weights() []float64 {
	if u.logShare == nil {
		return nil
	}
	w, largest := make([]float64, len(u.logShare)), floats.Max(u.logShare)
	if math.IsInf(largest, 0) || math.IsNaN(largest) {
		return nil
	}
	for i, v := range u.logShare {
		w[i] = math.Exp(v - largest)
	}
	return w
}

// intersect narrows the bounds to what b allows, and takes the N of the narrower bounds.
// Where the bounds contradict each other, so that one is false, their convex hull is
// kept.
func (a *Norms) intersect(b Norms) {
	for i, v := range b.N {
		if a.High[i]-a.Low[i] <= b.High[i]-b.Low[i] {
			v = a.N[i]
		}
		low, high := max(a.Low[i], b.Low[i]), min(a.High[i], b.High[i])
		a.Low[i], a.High[i] = min(low, high), max(low, high)
		a.N[i] = min(max(v, a.Low[i]), a.High[i])
	}
}

// widen extends bounds on ‖A e_i‖² to all A' with ‖A' − A‖₂ ≤ d.
func widen(low, high, d float64) (l, h float64) {
	if d == 0 {
		return low, high
	}
	l, h = max(0, math.Sqrt(low)-d), math.Sqrt(high)+d
	return min(low, l*l), max(high, h*h)
}

// products counts the products with an operator.
type products struct {
	measurement.Data
	progress func(stage string, done, total int64)
	done     int64
}

// count reports k more products.
func (p *products) count(k int) {
	p.done += int64(k)
	if p.progress != nil {
		p.progress("recover: products for column norms", p.done, 0)
	}
}

// columnNorms sets the norms of the columns js.
func (p *products) columnNorms(ctx context.Context, norms []float64, js []int) error {
	m, _ := p.A.Dims()
	width := min(len(js), linop.BlockColumns(m))
	cols := make([]float64, m*width)
	for at := 0; at < len(js); at += width {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := js[at:min(at+width, len(js))]
		linop.ColumnsTo(p.A, cols[:m*len(part)], part)
		for k, j := range part {
			norms[j] = floats.Dot(cols[k*m:(k+1)*m], cols[k*m:(k+1)*m])
		}
		p.count(len(part))
	}
	return ctx.Err()
}

// addSquares adds to sum_i the squares (Aᵀv)_i² of count vectors v. fill stores vectors
// first … first+width−1 as the columns of in, in row-major order.
func (p *products) addSquares(ctx context.Context, sum []float64, count int, fill func(in []float64, first, width int)) error {
	m, n := p.A.Dims()
	width := min(probeWidth, count)
	in, out := make([]float64, m*width), make([]float64, n*width)
	for first := 0; first < count; first += width {
		if err := ctx.Err(); err != nil {
			return err
		}
		width = min(width, count-first)
		in, out = in[:m*width], out[:n*width]
		fill(in, first, width)
		linop.MulBlockTo(p.A, out, true, in, width)
		for i := range sum {
			for _, v := range out[i*width : (i+1)*width] {
				sum[i] += v * v
			}
		}
		p.count(width)
	}
	return ctx.Err()
}

// identity fills in unit vectors.
func identity(in []float64, first, width int) {
	clear(in)
	for j := range width {
		in[(first+j)*width+j] = 1
	}
}

// rowNorms adds up the squares row by row where A holds its entries.
func rowNorms(d measurement.Data, sum []float64) bool {
	w, ok := d.A.(linop.Scaled)
	if !ok {
		w = linop.Scaled{A: d.A}
	}
	e := linop.Entries(w.A)
	if e == nil {
		return false
	}
	if !ok {
		m, _ := e.Dims()
		for s := range m {
			w.Rows, w.Scale = append(w.Rows, s), append(w.Scale, 1)
		}
	}
	for k, s := range w.Rows {
		u := w.Scale[k] * w.Scale[k]
		for j, v := range e.RawRowView(s) {
			sum[j] += u * v * v
		}
	}
	return true
}
