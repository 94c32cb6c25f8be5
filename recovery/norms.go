// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
)

// Norms are the squared column norms N_i = ‖A e_i‖² of whitened data, between Low_i
// and High_i.
type Norms struct {
	N         []float64
	Low, High []float64 // nil: N is exact
}

// Beyond exactOrder nodes a product for each takes too long. Then probes bound every
// norm, but with probability normFailure. After them come exact norms, until the rest
// leaves no more than leftOpen of the posterior and of the odds of the first two open.
const (
	exactOrder  = 10_000
	normFailure = 1e-9
	leftOpen    = 0.01
)

// effort is what bounded norms may cost: rounds of probes, each of four times as many
// and for the nodes that the one before left open, and so many exact norms, peaks at a
// time.
type effort struct{ rounds, probes, peaks, most int }

var fullEffort = effort{rounds: 2, probes: 64, peaks: 64, most: 512}

// Norms returns the column norms: exact, from the entries where A holds a matrix, or
// by products where one side of A is short (10,000 nodes, 64 sensors); beyond that
// bounded, as by [Data.ProbedNorms], and exact at the nodes, 512 at most, that decide
// the posterior of opts, whose own Norms are not read.
func (d Data) Norms(ctx context.Context, opts PosteriorOptions) (Norms, error) {
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
	case p.rowNorms(out.N):
		return out, ctx.Err()
	case n <= exactOrder:
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return out, p.columnNorms(ctx, out.N, all)
	case m <= fullEffort.probes:
		return out, p.addSquares(ctx, out.N, m, identity)
	}
	return p.boundedNorms(ctx, e, logPrior, fullEffort)
}

// boundedNorms probes, and then computes the norms that leave most of the posterior
// open: while that closes at least a tenth of what is open, or the odds of the first two
// are.
func (p *products) boundedNorms(ctx context.Context, e evidence, logPrior []float64, b effort) (Norms, error) {
	_, n := p.A.Dims()
	out := Norms{N: make([]float64, n), Low: make([]float64, n), High: make([]float64, n)}
	floats.AddConst(math.Inf(1), out.High)
	c := make([]float64, n)
	p.A.MulVecTo(c, true, p.Y)
	u := undecided{at: make([]int, n), exact: make([]bool, n)}
	look := func() {
		weight := e.logs(c, out.N)
		floats.Add(weight, logPrior)
		low, high := e.ends(c, out, p.blur(), logPrior)
		u.rank(weight, low, high)
	}
	f := newDeflation(p, 1)
	for round := range b.rounds {
		grown := 1 << (2 * round)
		if err := f.extend(ctx, grown*probeWidth, u.weights()); err != nil {
			return Norms{}, err
		}
		bounds, err := f.bounds(ctx, grown*b.probes, normFailure/float64(b.rounds))
		if err != nil {
			return Norms{}, err
		}
		out.meet(bounds)
		if floats.Norm(p.Y, math.Inf(1)) == 0 {
			return out, nil
		}
		if look(); u.beyond(b.most) <= leftOpen {
			break
		}
	}
	declared, before := linop.Err(p.A), math.Inf(1)
	for done := 0; done < min(b.most, n) && (u.total > math.Log(leftOpen) && u.total < before+math.Log(0.9) || u.odds > leftOpen); {
		picks := u.at[:min(b.peaks, b.most-done, n-done)]
		if err := p.columnNorms(ctx, out.N, picks); err != nil {
			return Norms{}, err
		}
		for _, i := range picks {
			u.exact[i] = true
			out.Low[i], out.High[i] = widen(out.N[i], out.N[i], declared)
		}
		done += len(picks)
		before = u.total
		look()
	}
	return out, nil
}

// undecided is what bounds on the norms leave open.
type undecided struct {
	exact []bool    // nodes of exact norms
	share []float64 // of the posterior, at the others: its logarithm
	at    []int     // the nodes, largest share first
	total float64   // of the posterior: its logarithm
	odds  float64   // of the log odds of the first two
}

func (u *undecided) rank(weight, low, high []float64) {
	u.share = open(low, high, logSum(weight))
	u.total, u.odds = logSum(u.share), contest(weight, low, high)
	for i := range u.at {
		u.at[i] = i
		if u.exact[i] {
			u.share[i] = math.Inf(-1)
		}
	}
	slices.SortStableFunc(u.at, func(i, j int) int { return cmp.Compare(u.share[j], u.share[i]) })
}

// weights returns the shares relative to the largest, nil before all.
func (u *undecided) weights() []float64 {
	if u.share == nil {
		return nil
	}
	w, largest := make([]float64, len(u.share)), u.share[u.at[0]]
	for i, v := range u.share {
		w[i] = math.Exp(v - largest)
	}
	return w
}

// beyond sums the shares after the first k nodes.
func (u *undecided) beyond(k int) float64 {
	sum := 0.0
	for _, i := range u.at[min(k, len(u.at)):] {
		sum += math.Exp(u.share[i])
	}
	return sum
}

// meet narrows the bounds to what b allows, and takes its N.
func (a *Norms) meet(b Norms) {
	for i, v := range b.N {
		a.Low[i], a.High[i] = max(a.Low[i], b.Low[i]), min(a.High[i], b.High[i])
		a.N[i] = min(max(v, a.Low[i]), a.High[i])
	}
}

// widen makes of bounds on ‖A e_i‖² those for all A' with ‖A' − A‖₂ ≤ d.
func widen(low, high, d float64) (l, h float64) {
	if d == 0 {
		return low, high
	}
	l, h = max(0, math.Sqrt(low)-d), math.Sqrt(high)+d
	return l * l, h * h
}

// products counts the products with an operator.
type products struct {
	Data
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
	width := min(len(js), blockColumns(m))
	cols := make([]float64, m*width)
	for at := 0; at < len(js); at += width {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := js[at:min(at+width, len(js))]
		columnsTo(p.A, cols[:m*len(part)], part)
		for k, j := range part {
			norms[j] = floats.Dot(cols[k*m:(k+1)*m], cols[k*m:(k+1)*m])
		}
		p.count(len(part))
	}
	return ctx.Err()
}

// addSquares adds to sum_i the squares (Aᵀv)_i² of count vectors v. fill sets those from
// at on, width of them, as the columns of in, in row-major order.
func (p *products) addSquares(ctx context.Context, sum []float64, count int, fill func(in []float64, at, width int)) error {
	m, n := p.A.Dims()
	width := min(probeWidth, count)
	in, out := make([]float64, m*width), make([]float64, n*width)
	for at := 0; at < count; at += width {
		if err := ctx.Err(); err != nil {
			return err
		}
		width = min(width, count-at)
		in, out = in[:m*width], out[:n*width]
		fill(in, at, width)
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
func identity(in []float64, at, width int) {
	clear(in)
	for j := range width {
		in[(at+j)*width+j] = 1
	}
}

// rowNorms adds up the squares row by row where A holds its entries.
func (d Data) rowNorms(sum []float64) bool {
	w, ok := d.A.(whitened)
	if !ok {
		w = whitened{a: d.A}
	}
	e := entries(w.a)
	if e == nil {
		return false
	}
	if !ok {
		m, _ := e.Dims()
		for s := range m {
			w.pick, w.root = append(w.pick, s), append(w.root, 1)
		}
	}
	for k, s := range w.pick {
		u := w.root[k] * w.root[k]
		for j, v := range e.RawRowView(s) {
			sum[j] += u * v * v
		}
	}
	return true
}
