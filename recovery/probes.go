// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/graphcloak/graphcloak/linop"
)

// probeWidth is the number of columns of a block of probes, and of directions that
// come at a time: what products are best at.
const probeWidth = 16

// ProbedNorms bounds the column norms by products of Aᵀ with random vectors, for
// graphs where n products cost too much. With Q 16 orthonormal directions that the
// columns share most, ‖A e_i‖² = ‖QᵀA e_i‖² + R_i: the first part is exact, and
// Σ (Aᵀ(I − QQᵀ)ω)_i²/R_i over r probes ω is χ²_r. With probability at least 1 − beta
// all R_i are thus known within about (1 ∓ z√(2/r)), z the normal quantile of beta/2n.
// The error that A declares is added. The same seed gives the same bits.
//
// Proof: docs/proofs/recovery.md.
func (d Data) ProbedNorms(ctx context.Context, probes int, beta float64, seed uint64) (Norms, error) {
	if probes < 1 || !(beta > 0 && beta < 1) {
		return Norms{}, fmt.Errorf("%w: %d probes at beta %v, want at least 1 and between 0 and 1", ErrInvalid, probes, beta)
	}
	f := newDeflation(&products{Data: d}, seed)
	if err := f.extend(ctx, probeWidth, nil); err != nil {
		return Norms{}, err
	}
	return f.bounds(ctx, probes, beta)
}

// deflation splits off the part of every column that lies along a few directions.
type deflation struct {
	*products
	rnd  *rand.Rand
	q    basis     // the directions
	seen []float64 // ‖QᵀA e_i‖²
}

func newDeflation(p *products, seed uint64) *deflation {
	m, n := p.A.Dims()
	return &deflation{products: p, rnd: rand.New(rand.NewPCG(seed, 0)), q: basis{m: m}, seen: make([]float64, n)}
}

// extend grows Q to k vectors, 16 at a time, by the directions in which the columns,
// each times the root of its weight, are longest beside those at hand: by approximate
// leading left singular vectors of (I − QQᵀ)A·diag(√weight). Without weights all are 1.
func (f *deflation) extend(ctx context.Context, k int, weight []float64) error {
	m, n := f.A.Dims()
	k = min(k, m)
	f.q.q = slices.Grow(f.q.q, (k-f.q.k)*m)
	for old := f.q.k; old < k; old = f.q.k {
		p := min(probeWidth, k-old)
		x, y := make([]float64, n*p), make([]float64, m*p)
		f.normal(x)
		for i, w := range weight {
			floats.Scale(math.Sqrt(w), x[i*p:(i+1)*p])
		}
		for power := range 2 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if power > 0 {
				linop.MulBlockTo(f.A, x, true, y, p)
				for i, w := range weight {
					floats.Scale(w, x[i*p:(i+1)*p])
				}
			}
			linop.MulBlockTo(f.A, y, false, x, p)
			f.remove(y, p)
			f.count((1 + power) * p)
		}
		f.q.extend(transposed(y, m, p), p)
		err := f.addSquares(ctx, f.seen, f.q.k-old, func(in []float64, at, width int) {
			copy(in, transposed(f.q.q[(old+at)*m:(old+at+width)*m], width, m))
		})
		if err != nil || f.q.k == old {
			return err
		}
	}
	return ctx.Err()
}

func (f *deflation) normal(x []float64) {
	for i := range x {
		x[i] = f.rnd.NormFloat64()
	}
}

// remove replaces each of the k columns of x, in row-major order, by (I − QQᵀ)x.
func (f *deflation) remove(x []float64, k int) {
	if f.q.k == 0 {
		return
	}
	all := blas64.General{Rows: f.q.m, Cols: k, Stride: k, Data: x}
	along := blas64.General{Rows: f.q.k, Cols: k, Stride: k, Data: make([]float64, f.q.k*k)}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, f.q.matrix(), all, 0, along)
	blas64.Gemm(blas.Trans, blas.NoTrans, -1, f.q.matrix(), along, 1, all)
}

// bounds returns norms that hold with probability at least 1 − beta, by new probes.
func (f *deflation) bounds(ctx context.Context, probes int, beta float64) (Norms, error) {
	_, n := f.A.Dims()
	rest := make([]float64, n)
	err := f.addSquares(ctx, rest, probes, func(in []float64, _, width int) {
		f.normal(in)
		f.remove(in, width)
	})
	if err != nil {
		return Norms{}, err
	}
	chi := distuv.ChiSquared{K: float64(probes)}
	tail := beta / (2 * float64(n))
	// The upper tail by its own quantile: 1 − tail would lose the digits of tail. The
	// lower may come out as 0, and 0/0 for a column of zeros.
	low, high := max(chi.Quantile(tail), math.SmallestNonzeroFloat64), 2*mathext.GammaIncRegCompInv(float64(probes)/2, tail)
	norms := Norms{N: make([]float64, n), Low: make([]float64, n), High: make([]float64, n)}
	e, theta := linop.Err(f.A), f.skew()
	for i, s := range rest {
		norms.N[i] = f.seen[i] + s/float64(probes)
		norms.Low[i], norms.High[i] = widen((1-theta)*f.seen[i]+s/high, (1+theta)*f.seen[i]+s/low, e)
	}
	return norms, nil
}

// skew bounds ‖QᵀQ − I‖₂, with the rounding of its own sums.
func (f *deflation) skew() float64 {
	gram := mat.NewSymDense(max(1, f.q.k), nil)
	if f.q.k > 0 {
		blas64.Syrk(blas.NoTrans, 1, f.q.matrix(), 0, gram.RawSymmetric())
		for i := range f.q.k {
			gram.SetSym(i, i, gram.At(i, i)-1)
		}
	}
	return mat.Norm(gram, 2) + float64(f.q.k*f.q.m)/(1<<53)
}
