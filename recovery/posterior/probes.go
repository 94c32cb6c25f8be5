// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/graphcloak/graphcloak/internal/dense"
	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// minBeta is the smallest tail probability at which the quantiles of χ² are accurate.
const minBeta = 1e-100

// aligned is the relative norm of the component orthogonal to Q below which a column is
// taken to lie in the span of Q: components above it are well above rounding error. After
// the power iteration, which cubes singular values, a dropped direction is 500 times
// shorter than the longest.
const aligned = 1e-8

// probeWidth is the number of columns of a block of probes, and of directions
// added at a time: the width at which block products are fastest.
const probeWidth = 16

// ProbedNorms bounds the column norms by products of Aᵀ with random vectors, for
// graphs where n products cost too much. With Q up to 16 orthonormal dominant directions
// of the columns, ‖A e_i‖² = ‖QᵀA e_i‖² + R_i: the first part is exact, and
// Σ (Aᵀ(I − QQᵀ)ω)_i²/R_i over r probes ω is χ²_r. With probability at least 1 − beta
// all R_i are thus known within a factor of about 1 ∓ z√(2/r), z the normal quantile of
// beta/2n. The error that A declares is added. The same seed gives the same bits.
//
// Proof: docs/proofs/recovery.md.
func ProbedNorms(ctx context.Context, d measurement.Data, probes int, beta float64, seed uint64) (Norms, error) {
	if probes < 1 || !(beta >= minBeta && beta < 1) {
		return Norms{}, fmt.Errorf("%w: %d probes at beta %v, want at least 1 and between %v and 1", ErrInvalid, probes, beta, minBeta)
	}
	f := newDeflation(&products{Data: d}, seed)
	if err := f.extend(ctx, nil); err != nil {
		return Norms{}, err
	}
	if err := f.probe(ctx, probes); err != nil {
		return Norms{}, err
	}
	return f.bounds(beta), nil
}

// deflation separates from every column its projection on a few dominant directions.
type deflation struct {
	*products
	seed     uint64
	drawn    uint64      // pieces of random numbers so far
	q        dense.Basis // the directions
	captured []float64   // ‖QᵀA e_i‖²

	probes int       // of what Q leaves
	rest   []float64 // sums of their squares
}

func newDeflation(p *products, seed uint64) *deflation {
	m, n := p.A.Dims()
	return &deflation{
		products: p, seed: seed, q: dense.Basis{M: m, Tolerance: aligned}, captured: make([]float64, n),
	}
}

// extend fills Q up to 16 directions: with approximate leading left singular vectors of (I − QQᵀ)A·diag(√weight). Without weights
// all are 1. Probes before it no longer count.
func (f *deflation) extend(ctx context.Context, weight []float64) error {
	m, n := f.A.Dims()
	k := min(probeWidth, m) - f.q.K
	f.probes = 0
	x, y := make([]float64, n*k), make([]float64, m*k)
	f.normal(x)
	roots := make([]float64, len(weight))
	for i, w := range weight {
		roots[i] = math.Sqrt(w)
	}
	parallel.ScaleRows(x, roots, k)
	linop.MulBlockTo(f.A, y, false, x, k)
	f.count(k)
	if err := ctx.Err(); err != nil {
		return err
	}
	f.q.Remove(y, k)
	linop.MulBlockTo(f.A, x, true, y, k)
	parallel.ScaleRows(x, weight, k)
	if err := ctx.Err(); err != nil {
		return err
	}
	linop.MulBlockTo(f.A, y, false, x, k)
	f.count(2 * k)
	old := f.q.K
	f.q.Extend(dense.Transpose(y, m, k), k)
	return f.addSquares(ctx, f.captured, f.q.K-old, func(in []float64, at, width int) {
		copy(in, dense.Transpose(f.q.Q[(old+at)*m:(old+at+width)*m], width, m))
	})
}

// randomPiece is how many values come from one random stream.
const randomPiece = 1 << 13

// normal fills x with numbers from N(0, 1): each piece has a stream of its own.
func (f *deflation) normal(x []float64) {
	pieces := (len(x) + randomPiece - 1) / randomPiece
	parallel.Each(pieces, func(p int) {
		random := rand.New(rand.NewPCG(f.seed, f.drawn+uint64(p)))
		part := x[p*randomPiece : min((p+1)*randomPiece, len(x))]
		for i := range part {
			part[i] = random.NormFloat64()
		}
	})
	f.drawn += uint64(pieces)
}

// probe adds so many probes of what Q leaves.
func (f *deflation) probe(ctx context.Context, count int) error {
	if f.probes == 0 {
		f.rest = make([]float64, len(f.captured))
	}
	f.probes += count
	return f.addSquares(ctx, f.rest, count, func(in []float64, _, width int) {
		f.normal(in)
		f.q.Remove(in, width)
	})
}

// bounds returns norms that hold with probability at least 1 − beta.
func (f *deflation) bounds(beta float64) Norms {
	n, r := len(f.captured), float64(f.probes)
	chi, tail := distuv.ChiSquared{K: r}, beta/(2*float64(n))
	// A lower quantile of 0 would give 0/0 for a column of zeros.
	low, high := max(chi.Quantile(tail), math.SmallestNonzeroFloat64), measurement.Chi2Above(r, tail)
	norms := Norms{N: make([]float64, n), Low: make([]float64, n), High: make([]float64, n)}
	theta, e := f.orthogonalityError(), linop.Err(f.A)
	eachRow(n, 8, func(i int) {
		s := f.rest[i]
		norms.N[i] = f.captured[i] + s/r
		norms.Low[i], norms.High[i] = widen(max(0, 1-theta)*f.captured[i]+s/high, (1+theta)*f.captured[i]+s/low, e)
	})
	return norms
}

// orthogonalityError bounds ‖QᵀQ − I‖₂, including the rounding of its own sums.
func (f *deflation) orthogonalityError() float64 {
	gram := mat.NewSymDense(max(1, f.q.K), nil)
	if f.q.K > 0 {
		blas64.Syrk(blas.NoTrans, 1, f.q.Matrix(), 0, gram.RawSymmetric())
		for i := range f.q.K {
			gram.SetSym(i, i, gram.At(i, i)-1)
		}
	}
	return mat.Norm(gram, 2) + float64(f.q.K*f.q.M)/(1<<53)
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
	width := min(len(js), probeWidth)
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
		eachRow(n, width+1, func(i int) {
			for _, v := range out[i*width : (i+1)*width] {
				sum[i] += v * v
			}
		})
		p.count(width)
	}
	return ctx.Err()
}

// widen extends bounds on ‖A e_i‖² to all A' with ‖A' − A‖₂ ≤ d.
func widen(low, high, d float64) (l, h float64) {
	if d == 0 {
		return low, high
	}
	l, h = max(0, math.Sqrt(low)-d), math.Sqrt(high)+d
	return min(low, l*l), max(high, h*h)
}
