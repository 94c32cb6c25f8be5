// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// Sizes of a screen: the measurements whose rows of A are read, because they are the farthest
// from 0, and the nodes whose columns are.
const (
	screenRows  = 64
	screenNodes = 64
)

// curvatures are the κ of a screen.
var curvatures = [...]float64{1, .5, 0}

// screen bounds the evidence of every node where A is known by products and each sensor reads once. The likelihood of the
// measurements farthest from 0, of which a broken sensor is one wherever it matters, is kept
// as it is. With t = xy − x²/2, the others are bounded by normal ones:
//
//	g·t ≤ log(broken + sound·e^t + shifted·e^{t/v}) ≤ α·x − κ·x²/2,
//
// g = sound + shifted/v, of the probabilities under no source, the left side since the logarithm is
// concave, and α the least found that holds for 0 ≤ x ≤ √max N. Of a few κ the best
// counts: 1 where entries are small, less where a broken sensor may explain a large one.
type screen struct {
	*faulty
	rows []int     // kept as they are
	a    []float64 // these rows of A: entry (i, k) at i·len(rows) + k
	// Of the others: Aᵀ of g∘y and, for each κ, of α; and the sums of squares with bounds.
	gain     []float64
	most     [len(curvatures)][]float64
	norms    Norms
	meanGain float64
	err      float64 // bounds what the error of A makes of any of the exponents
}

// screened returns the posterior with bounds. The evidence of the nodes of the largest upper
// bounds is exact, apart from the error of A.
func (f *faulty) screened(ctx context.Context) (*Posterior, error) {
	s, err := f.newScreen(ctx, f.norms)
	if err != nil {
		return nil, err
	}
	n := len(f.logPrior)
	p := &Posterior{LogEvidence: make([]float64, n), Probability: make([]float64, n), Raised: f.raised}
	low, high := make([]float64, n), make([]float64, n)
	err = inBlocks(ctx, n, func(from, to int) {
		var c column
		for i := from; i < to; i++ {
			low[i], p.LogEvidence[i], high[i] = s.bounds(i, &c)
		}
	})
	if err != nil {
		return nil, err
	}
	floats.Add(low, f.logPrior)
	floats.Add(high, f.logPrior)
	order := descending(everyNode(n), high)[:min(screenNodes, n)]
	exact := make(map[int]bool, len(order))
	err = f.columns(ctx, order, func(i int, c *column) { p.LogEvidence[i] = c.log(math.Inf(-1)) })
	if err != nil {
		return nil, err
	}
	floats.AddTo(p.Probability, p.LogEvidence, f.logPrior)
	for _, i := range order {
		low[i], high[i], exact[i] = p.Probability[i], p.Probability[i], true
	}
	p.normalize(low, high)
	p.Faulty, err = f.suspects(ctx, p, func(ctx context.Context, nodes []int, do func(int, *column)) error {
		return s.columns(ctx, nodes, exact, do)
	})
	return p, err
}

func (f *faulty) newScreen(ctx context.Context, norms Norms) (*screen, error) {
	m, n := len(f.d.Y), len(f.logPrior)
	s := &screen{faulty: f, rows: everyNode(m)}
	slices.SortStableFunc(s.rows, func(i, j int) int { return cmp.Compare(math.Abs(f.d.Y[j]), math.Abs(f.d.Y[i])) })
	s.rows = s.rows[:min(m, screenRows, linop.BlockColumns(n))]
	width := len(s.rows)
	unit := make([]float64, m*width)
	for k, r := range s.rows {
		unit[r*width+k] = 1
	}
	s.a = make([]float64, n*width)
	linop.MulBlockTo(f.d.A, s.a, true, unit, width)
	largest := f.longest
	if norms.High != nil {
		largest = math.Sqrt(floats.Max(norms.High))
	}
	kept := make([]bool, m)
	for _, r := range s.rows {
		kept[r] = true
		s.err += math.Abs(f.d.Y[r]) + largest
	}
	s.err = linop.Err(f.d.A) * (s.err + s.setSlopes(kept, largest))
	s.norms = s.without(norms)
	return s, ctx.Err()
}

// setSlopes sets what is linear in an amplitude, of the measurements that are not kept, by one
// product, and returns the largest norm of what A is multiplied with.
func (s *screen) setSlopes(kept []bool, largest float64) (length float64) {
	m, n := s.d.A.Dims()
	const width = 1 + len(curvatures)
	slopes, squares := make([]float64, m*width), make([]float64, width)
	for r := range s.sensors {
		if kept[r] {
			continue
		}
		t := &s.sensors[r]
		row := slopes[r*width : (r+1)*width]
		gain, _ := t.gain()
		row[0] = gain * s.y[r]
		s.meanGain += gain / float64(max(1, m-len(s.rows)))
		for c, curvature := range curvatures {
			row[1+c] = t.slopeBound(s.y[r], largest, curvature)
		}
		for j, v := range row {
			squares[j] += v * v
		}
	}
	product := make([]float64, n*width)
	linop.MulBlockTo(s.d.A, product, true, slopes, width)
	s.gain = stride(product, 0, width, n)
	for c := range curvatures {
		s.most[c] = stride(product, 1+c, width, n)
	}
	return math.Sqrt(floats.Max(squares))
}

// without returns the sums of squares without the rows that are kept.
func (s *screen) without(norms Norms) Norms {
	out := Norms{N: slices.Clone(norms.N), Low: slices.Clone(norms.N), High: slices.Clone(norms.N)}
	if norms.Low != nil {
		out.Low, out.High = slices.Clone(norms.Low), slices.Clone(norms.High)
	}
	width := len(s.rows)
	for i := range out.N {
		row := s.a[i*width : (i+1)*width]
		squares := floats.Dot(row, row)
		out.N[i], out.Low[i], out.High[i] = max(0, out.N[i]-squares), max(0, out.Low[i]-squares), max(0, out.High[i]-squares)
	}
	return out
}

// slopeBound returns an α with log ratio(x) ≤ α·x − κ·x²/2 for 0 ≤ x ≤ largest, of one measurement y: from one
// point of a grid to the next the likelihood is largest where x is nearest to y, and
// κx²/2 at the upper end; below the grid log(1 + u) ≤ u and e^t − 1 ≤ t + t²e^{max(0, t)}/2,
// and the log ratio is at most max(0, t), which counts where y is far off.
func (t *sensor) slopeBound(y, largest, curvature float64) float64 {
	const finest, growth = 1e-3, 1.02
	gain, variance := t.gain()
	slope := gain*y + finest*math.Pow(math.Abs(y)+finest/2, 2)*math.Exp(math.Log(variance+gain*gain)+finest*max(0, y))/2
	slope = min(slope, max(0, y)) + finest*curvature/2
	for x := finest; x < largest; x *= growth {
		to := x * growth
		peak := min(max(y, x), to)
		log := t.logRatio(peak*(y-peak/2)) + curvature*to*to/2
		if log > 0 {
			slope = max(slope, log/x)
		} else {
			slope = max(slope, log/to)
		}
	}
	return slope
}

// bounds returns the evidence of node i: a lower bound, an estimate and an upper bound.
func (s *screen) bounds(i int, c *column) (low, estimate, high float64) {
	s.estimate(i, c)
	estimate = c.log(math.Inf(-1))
	faint := c.faint
	c.faint.linear -= s.err
	c.faint.quadratic += (s.norms.N[i]*s.meanGain - s.norms.High[i]) / 2
	low = c.log(math.Inf(-1))
	high = math.Inf(1)
	for j, curvature := range curvatures {
		c.faint.linear = faint.linear + s.most[j][i] - s.gain[i] + s.err
		c.faint.quadratic = faint.quadratic + (s.norms.N[i]*s.meanGain-curvature*s.norms.Low[i])/2
		high = min(high, c.log(math.Inf(-1)))
	}
	return min(low, estimate), estimate, max(high, estimate)
}

// estimate prepares the column of node i: the rows that are kept, and the normal likelihood of the
// others.
func (s *screen) estimate(i int, c *column) {
	width := len(s.rows)
	c.reset(s.faultyEvidence)
	for k, r := range s.rows {
		x := s.a[i*width+k]
		c.add(r, x*s.y[r], x*x)
	}
	c.faint.linear += s.gain[i]
	c.faint.quadratic -= s.norms.N[i] * s.meanGain / 2
	c.norm += s.norms.High[i]
}

// columns calls do for the whole columns of the nodes that are exact, and for the estimates of
// others.
func (s *screen) columns(ctx context.Context, nodes []int, exact map[int]bool, do func(int, *column)) error {
	m := len(s.d.Y)
	return inBlocks(ctx, len(nodes), func(from, to int) {
		var c column
		var whole []int
		for _, i := range nodes[from:to] {
			if exact[i] {
				whole = append(whole, i)
			}
		}
		x := make([]float64, m*len(whole))
		if len(whole) > 0 {
			linop.ColumnsTo(s.d.A, x, whole)
		}
		for _, i := range nodes[from:to] {
			if exact[i] {
				s.column(nil, x[:m], &c)
				x = x[m:]
			} else {
				s.estimate(i, &c)
			}
			do(i, &c)
		}
	})
}
