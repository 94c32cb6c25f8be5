// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// subspace splits ‖Wb‖² = ‖ZᵀWb‖² + ‖(I − ZZᵀ)Wb‖² for orthonormal Z, n × k, so that
// the screen inflates the second part only. Z approximates the leading singular subspace
// of W: one power step on the first random block (Halko, Martinsson & Tropp, SIAM Review
// 53, 2011). The bound is valid for any Z. Where a graph has k strong communities, edges
// between the same two of them have nearly equal Wb, which lie almost in this space.
//
// For a computed Z of singular values within θ of 1 the split holds as
// ‖Wb‖² ≤ ‖ZᵀWb‖²/(1 − θ)² + ‖(I − ZZᵀ)Wb‖².
type subspace struct {
	k            int
	z, g         []float64 // Z, and G = WᵀZ, row-major
	inflate      float64   // 1/(1 − θ)
	mean         []float64 // of the rows of G
	meanRounding float64   // its rounding
	rounding     float64   // ‖fl((I − ZZᵀ)x) − (I − ZZᵀ)x‖₂ ≤ rounding·‖x‖₂
	roundB       float64   // rounding of G in ‖G_i − G_j‖₂
}

// square returns ‖ZᵀWb‖₂².
func (z *subspace) square(e edge) float64 { return difference(z.g, z.k, e) }

// deflate makes the subspace from an earlier block, and restarts the projections.
func (c *screening) deflate(ctx context.Context) error {
	k := c.block
	zs := make([]float64, len(c.y))
	if err := c.d.Apply(ctx, zs, false, c.lastBlock, k); err != nil {
		return err
	}
	c.scaleRows(zs, k)
	// Sums of chunk terms, added up, k of them for a projection.
	sums := float64(min(c.n, chunk)+c.n/chunk+8) * unit
	z := &subspace{k: k, z: zs, g: make([]float64, len(c.y)), rounding: 4 * float64(k) * sums}
	theta := orthonormalize(z.z, k) + float64(k)*sums
	if !(theta < 1e-6) {
		return nil
	}
	z.inflate = (1 + 4*unit) / (1 - theta)
	z.roundB = math.Sqrt(float64(k)) * c.roundB * (1 + theta)
	parallel.Rows(len(c.x), 2, func(lo, hi int) { copy(c.x[lo:hi], z.z[lo:hi]) })
	c.scaleRows(c.x, k)
	if err := c.d.Apply(ctx, z.g, true, c.x, k); err != nil {
		return err
	}
	z.computeMean()
	c.sub, c.columns, c.lastBlock = z, 0, nil
	setZero(c.squares)
	c.nodes.reset()
	return nil
}

// computeMean prepares [subspace.node].
func (z *subspace) computeMean() {
	var size []float64
	z.mean, size = means(z.g, z.k)
	for _, a := range size {
		d := float64(chunk+len(z.g)/z.k/chunk+8) * unit * a
		z.meanRounding += d * d
	}
	z.meanRounding = math.Sqrt(z.meanRounding)
}

// node bounds ‖ZᵀW(e_i − 1/n)‖₂/(1 − θ).
func (z *subspace) node(i int32) float64 {
	var sum float64
	for j, v := range z.g[int(i)*z.k:][:z.k] {
		sum += (v - z.mean[j]) * (v - z.mean[j])
	}
	return (math.Sqrt(sum)*(1+64*unit) + z.meanRounding + 2*z.roundB) * z.inflate
}

// lowRank reports whether the differences of the remaining edges in one random block have
// an effective rank below half its width, as where about so many vectors span most of
// them: by the participation ratio (trace G)²/‖G‖_F² of their Gram matrix G.
func (c *screening) lowRank() bool {
	if len(c.lastBlock) == 0 {
		return false
	}
	k, y := c.block, c.lastBlock
	gram := make([]float64, k*k)
	d := make([]float64, k)
	step := 1 + len(c.rest)/4096
	for index := 0; index < len(c.rest); index += step {
		e := c.edges.at(c.rest[index])
		u, v := y[int(e.u)*k:][:k], y[int(e.v)*k:][:k]
		for j := range d {
			d[j] = u[j] - v[j]
		}
		for i, a := range d {
			for j, b := range d {
				gram[i*k+j] += a * b
			}
		}
	}
	var trace, square float64
	for i := range k {
		trace += gram[i*k+i]
	}
	for _, v := range gram {
		square += v * v
	}
	return trace*trace < float64(k)/2*square
}

// remove replaces each column x by (I − ZZᵀ)x.
func (z *subspace) remove(x []float64, k int) {
	coef := inner(z.z, z.k, x, k)
	parallel.Rows(len(x)/k, z.k*k/2, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			zt, xt := z.z[t*z.k:][:z.k], x[t*k:][:k]
			for a, v := range zt {
				for j := range xt {
					xt[j] -= v * coef[a*k+j]
				}
			}
		}
	})
}

// chunk is the number of terms of one running sum in inner.
const chunk = 256

// inner returns AᵀB for row-major A, n × p, and B, n × k. Rounding is that of sums of at most
// chunk terms, of which at most 8 + n/chunk are added up.
func inner(a []float64, p int, b []float64, k int) []float64 {
	total := make([]float64, p*k)
	parallel.Sum(len(b)/k, max(64, p*k/2), total, func(lo, hi int, total []float64) {
		part := make([]float64, p*k)
		for t := lo; t < hi; t++ {
			arow, brow := a[t*p:][:p], b[t*k:][:k]
			for i, v := range arow {
				row := part[i*k:][:k]
				for j, w := range brow {
					row[j] += v * w
				}
			}
			if (t-lo)%chunk == chunk-1 || t == hi-1 {
				for i, v := range part {
					total[i] += v
				}
				clear(part)
			}
		}
	})
	return total
}

// orthonormalize makes the k row-major columns of y orthonormal by Gram–Schmidt,
// three times over, and sets those that depend on the others to zero. It returns
// max |YᵀY − I| times k, a bound on the 2-norm, over the columns that remain.
func orthonormalize(y []float64, k int) (theta float64) {
	gram := inner(y, k, y, k)
	for j := range k {
		size := math.Sqrt(gram[j*k+j])
		for range 3 {
			subtractColumns(y, k, j, columnProducts(y, k, j)[:j])
		}
		left := math.Sqrt(columnProducts(y, k, j)[j])
		scale := 1 / left
		if !(left > 1e-10*size) || math.IsInf(scale, 1) {
			scale = 0
		}
		parallel.Rows(len(y)/k, 1, func(lo, hi int) {
			for t := lo; t < hi; t++ {
				y[t*k+j] *= scale
			}
		})
	}
	gram = inner(y, k, y, k)
	for i := range k {
		for j := range k {
			want := 0.0
			if i == j && gram[i*k+i] > 0 {
				want = 1
			}
			theta = max(theta, float64(k)*math.Abs(gram[i*k+j]-want))
		}
	}
	return theta
}

// columnProducts returns the inner products of columns 0 … j with column j.
func columnProducts(y []float64, k, j int) []float64 {
	d := make([]float64, j+1)
	parallel.Sum(len(y)/k, k, d, func(lo, hi int, d []float64) {
		for t := lo; t < hi; t++ {
			row := y[t*k:][:j+1]
			for i, v := range row {
				d[i] += v * row[j]
			}
		}
	})
	return d
}

// subtractColumns subtracts from column j the combination d of the first columns.
func subtractColumns(y []float64, k, j int, d []float64) {
	parallel.Rows(len(y)/k, k, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			row := y[t*k:][:j+1]
			for i, v := range d {
				row[j] -= v * row[i]
			}
		}
	})
}
