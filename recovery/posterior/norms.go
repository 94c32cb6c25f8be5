// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
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
		return out, p.columnNorms(ctx, out.N, everyNode(n))
	case m <= exactSensors:
		return out, p.addSquares(ctx, p.A, out.N, m, identity)
	}
	return p.boundedNorms(ctx, e, logPrior, defaultEffort())
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

// addSquares adds to sum_i the squares (aᵀv)_i² of count vectors v. fill stores vectors
// first … first+width−1 as the columns of in, in row-major order.
func (p *products) addSquares(ctx context.Context, a linop.Operator, sum []float64, count int,
	fill func(in []float64, first, width int),
) error {
	m, n := a.Dims()
	width := min(probeWidth, count)
	in, out := make([]float64, m*width), make([]float64, n*width)
	for first := 0; first < count; first += width {
		if err := ctx.Err(); err != nil {
			return err
		}
		width = min(width, count-first)
		in, out = in[:m*width], out[:n*width]
		fill(in, first, width)
		linop.MulBlockTo(a, out, true, in, width)
		parallel.Rows(n, width+1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				for _, v := range out[i*width : (i+1)*width] {
					sum[i] += v * v
				}
			}
		})
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
	parallel.Rows(len(sum), len(w.Rows), func(lo, hi int) {
		for k, s := range w.Rows {
			u := w.Scale[k] * w.Scale[k]
			for j, v := range e.RawRowView(s)[lo:hi] {
				sum[lo+j] += u * v * v
			}
		}
	})
	return true
}
