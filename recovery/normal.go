// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// traceProbes is the number of vectors of random signs that estimate the two traces for
// an operator of some size. They put the radius off by about √(1/traceProbes) of the
// standard deviation of what it bounds, or less.
func traceProbes(size int) int { return min(1024, max(32, 1<<20/size)) }

// normal is AᵀA, the matrix of the normal equations. The exact operator that it
// approximates is AᵀA', A' what A approximates: Aᵀ, as computed, is part of the question.
type normal struct {
	a    linop.Operator
	norm float64 // ‖A‖₂ ≤ norm
}

func (p normal) Dims() (r, c int) {
	_, n := p.a.Dims()
	return n, n
}

// Err counts the error of A twice: for A, and for what rounding adds to the product with Aᵀ.
func (p normal) Err() float64 { return 2 * p.norm * linop.Err(p.a) }

func (p normal) MulVecTo(dst []float64, trans bool, x []float64) { p.MulBlockTo(dst, trans, x, 1) }

func (p normal) MulBlockTo(dst []float64, _ bool, x []float64, k int) {
	m, _ := p.a.Dims()
	middle := linop.GetBlock(m * k)
	defer middle.Put()
	linop.MulBlockTo(p.a, middle.V, false, x, k)
	linop.MulBlockTo(p.a, dst, true, middle.V, k)
}

// errorAlong bounds the error along z: with the error E of A it is Eᵀ(Az), and
// ‖AᵀE_b‖ ≤ ‖A‖·‖E_b‖; both are doubled as in Err.
func (p normal) errorAlong(z []float64) operatorError {
	return p.errorOf(p.image(z))
}

// multiplyAlong sets dst to AᵀAz, and bounds the error along z.
func (p normal) multiplyAlong(dst, z []float64) operatorError {
	v := p.image(z)
	linop.MulBlockTo(p.a, dst, true, v, 1)
	return p.errorOf(v)
}

// image returns Az.
func (p normal) image(z []float64) []float64 {
	m, _ := p.a.Dims()
	v := make([]float64, m)
	linop.MulBlockTo(p.a, v, false, z, 1)
	return v
}

// errorOf is errorAlong for v = Az.
func (p normal) errorOf(v []float64) operatorError {
	b := errorAlong(p.a, v)
	floats.Scale(2, b.along)
	floats.Scale(2*p.norm, b.norm)
	return b
}

// localError is the error of a column that is read, relative to ‖A‖₂², and cutError that from which it is
// computed by products after all. What is solved with it is held against full products.
const (
	localError = 1e-13
	cutError   = 1e-10
)

// localSample is the number of columns that show whether reading them is cheaper than products.
const localSample = 16

// reader returns a reader of the columns of AᵀA; nil where there is none, or products are cheaper.
func (p normal) reader() linop.ColumnReader {
	_, n := p.a.Dims()
	var sample []int
	for k := range localSample {
		sample = append(sample, k*(n/localSample))
	}
	read, ok := linop.ReadNormalColumns(p.a, nil, sample, localError*p.norm*p.norm, len(sample))
	if !ok {
		return nil
	}
	return read
}

// normalMoments returns the mean and the variance of ‖Aᵀν‖² for ν ~ N(0, I), tr AᵀA and
// 2·tr (AᵀA)², from products with vectors of random signs, whose seed is fixed:
// tr B is the mean of xᵀBx.
func normalMoments(ctx context.Context, a linop.Operator) (mean, variance float64, err error) {
	m, n := a.Dims()
	rnd := rand.NewPCG(1, 3)
	width, probes := min(16, linop.BlockColumns(max(m, n))), traceProbes(max(m, n))
	block, image := linop.GetBlock(m*width), linop.GetBlock(n*width)
	defer block.Put()
	defer image.Put()
	for left := probes; left > 0; left -= width {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		k := min(width, left)
		x, v := block.V[:m*k], image.V[:n*k]
		for i := range x {
			x[i] = 1 - 2*float64(rnd.Uint64()&1)
		}
		linop.MulBlockTo(a, v, true, x, k)
		linop.MulBlockTo(a, x, false, v, k)
		mean += sumSquares(v)
		variance += 2 * sumSquares(x)
	}
	return mean / float64(probes), variance / float64(probes), nil
}

func sumSquares(x []float64) float64 {
	var sum [1]float64
	parallel.Sum(len(x), 1, sum[:], func(lo, hi int, sum []float64) { sum[0] = floats.Dot(x[lo:hi], x[lo:hi]) })
	return sum[0]
}
