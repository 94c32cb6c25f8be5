// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// normalSample is the number of columns that show what others of a normal matrix cost.
const normalSample = 16

// ReadNormalColumns reads columns of M diag(weights) M, M = e^{-τL}, from balls of twice the radius that
// heat reaches: what it returns and reports is as [Diffusion.ColumnSquares] says. L has to be symmetric.
func (d *Diffusion) ReadNormalColumns(weights []float64, js []int, tol float64, most int) (linop.ColumnReader, bool) {
	rows, ok := d.gen.(entries)
	largest := slices.Max(weights)
	if !ok || d.method != Chebyshev || d.gen.Similarity() != nil || len(js) == 0 || largest == 0 {
		return nil, false
	}
	b := d.newBalls(rows, weights, tol/(2*largest), ballEntries)
	column := func(p *ball, j int) { b.normal(p, j) }
	products, cut := d.products(b, js, normalSample, 2*len(b.chebyshev)-1, column)
	if cut > .25 || products > float64(most) {
		return nil, false
	}
	return func(j int, do func(rows []int32, x []float64, off float64)) {
		p := b.pool.Get().(*ball)
		off := b.normal(p, j)
		do(p.nodes[:len(p.sum)], p.sum, off)
		b.pool.Put(p)
	}, true
}

// normal sets sum to column j of M diag(weights) M, and returns its error in the 2-norm, at most. With the
// error off of a product with M, ‖M‖ ≤ 1, it is off·max weight for the first product, and off·‖w∘Me_j‖ for
// the second.
func (b *balls) normal(p *ball, j int) (off float64) {
	degree := len(b.chebyshev) - 1
	p.collect(b, j, 2*degree)
	first := min(degree, len(p.reach)-1)
	p.heat(b, first)
	between, square := slices.Clone(p.sum), 0.0
	for i := range between {
		between[i] *= b.weights[p.nodes[i]]
		square += between[i] * between[i]
	}
	second := min(degree, len(p.reach)-1-first)
	p.heatFrom(b, between, first, second)
	length := math.Sqrt(square) * (1 + float64(len(between)+8)*unit)
	return (b.off(p, first)*b.peak*b.peak + (b.off(p, second)+4*unit)*length) * (1 + 1e-9)
}
