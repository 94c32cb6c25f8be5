// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// padded returns the number of columns, at least c, at which c columns are diffused fastest: products have
// kernels for four columns or fewer, for 8 and for 16.
func (d *Diffusion) padded(c int) int {
	switch {
	case d.method != Chebyshev || c <= 4:
		return c
	case c <= 8:
		return 8
	}
	return blockColumns
}

// MulVecTo sets dst to M̃x, or to M̃ᵀx. It allocates nothing once its memory,
// four n-vectors, exists.
func (d *Diffusion) MulVecTo(dst []float64, trans bool, x []float64) {
	d.MulBlockTo(dst, trans, x, 1)
}

// MulBlockTo sets dst to M̃X, or to M̃ᵀX, for k row-major columns.
func (d *Diffusion) MulBlockTo(dst []float64, trans bool, x []float64, k int) {
	_ = d.Apply(context.Background(), dst, trans, x, k)
}

// Apply is MulBlockTo that stops with ctx.Err() within one product with L.
func (d *Diffusion) Apply(ctx context.Context, dst []float64, trans bool, x []float64, k int) error {
	n := d.gen.Order()
	if len(dst) != n*k || len(x) != n*k {
		panic("expm: length of a vector does not fit the operator")
	}
	if k <= blockColumns && k == d.padded(k) && d.gen.Similarity() == nil && d.gen.Permutation() == nil {
		w := newWorkspace(n*k, false)
		defer w.release()
		return d.applySymmetric(ctx, dst, x, w, k)
	}
	for first := 0; first < k; first += blockColumns {
		c := min(blockColumns, k-first)
		width := d.padded(c)
		w := newWorkspace(n*width, true)
		d.toSymmetric(w, x, trans, k, first, c)
		err := d.applySymmetric(ctx, w.y, w.x, w, width)
		d.fromSymmetric(dst, w, trans, k, first, c)
		w.release()
		if err != nil {
			return err
		}
	}
	return nil
}

// symmetric sets y to e^{-τS}x for k columns.
func (d *Diffusion) applySymmetric(ctx context.Context, y, x []float64, w *workspace, k int) error {
	if d.method == Eigen {
		d.spec.apply(y, x, w.t0, k, d.tau, 0)
		return ctx.Err()
	}
	return recurrence(ctx, d.gen, d.weights, y, x, w, k, 0)
}

// toSymmetric copies c columns of x into the rows of the symmetric form, in w.x, and zeros in the
// columns that pad them: M = diag(1/s) e^{-τS} diag(s).
func (d *Diffusion) toSymmetric(w *workspace, x []float64, trans bool, k, first, c int) {
	w.loop = rowLoop{gen: d.gen, dst: w.x, src: x, divide: trans, k: k, first: first, c: c, width: d.padded(c)}
	parallel.Rows(d.gen.Order(), 2*c, w.gather)
}

// fromSymmetric copies them back from w.y.
func (d *Diffusion) fromSymmetric(dst []float64, w *workspace, trans bool, k, first, c int) {
	w.loop = rowLoop{gen: d.gen, dst: dst, src: w.y, divide: !trans, k: k, first: first, c: c, width: d.padded(c)}
	parallel.Rows(d.gen.Order(), 2*c, w.scatter)
}

// Rows returns the given rows of M̃ as a len(pick) × n matrix, the measurement
// operator of the sensors in pick. A row that M̃ does not have is an error.
func (d *Diffusion) Rows(ctx context.Context, sensors []int) (*mat.Dense, error) {
	return d.unitVectorImages(ctx, sensors, true)
}

// Columns returns the given columns of M̃ as the rows of a len(pick) × n matrix:
// row k is M̃ e_{pick[k]}, a source at node pick[k] as every node sees it. A column that
// M̃ does not have is an error.
func (d *Diffusion) Columns(ctx context.Context, nodes []int) (*mat.Dense, error) {
	return d.unitVectorImages(ctx, nodes, false)
}

func (d *Diffusion) unitVectorImages(ctx context.Context, pick []int, trans bool) (*mat.Dense, error) {
	n := d.gen.Order()
	if len(pick) == 0 {
		return &mat.Dense{}, nil
	}
	for _, p := range pick {
		if p < 0 || p >= n {
			return nil, fmt.Errorf("expm: there is no row or column %d, want 0 to %d", p, n-1)
		}
	}
	m := mat.NewDense(len(pick), n, nil)
	errs := make([]error, (len(pick)+blockColumns-1)/blockColumns)
	blocks := func(u *unitVectors, lo, hi int) {
		for k := lo; k < hi; k++ {
			first := k * blockColumns
			errs[k] = u.imagesTo(ctx, m, first, pick[first:min(first+blockColumns, len(pick))], trans)
		}
	}
	if n*blockColumns <= aloneValues {
		parallel.RowsWith(len(errs), aloneValues, d.newUnitVectors, blocks)
	} else {
		blocks(d.newUnitVectors(), 0, len(errs))
	}
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	return m, nil
}

// aloneValues bounds the values of a block of columns that one worker diffuses by itself, while others diffuse
// other blocks: they fit into its cache, and a step of a recurrence on so few is hardly worth sharing. Larger
// blocks are shared, one after the other.
const aloneValues = 1 << 18

// unitVectors is the memory of a block of unit vectors and their images.
type unitVectors struct {
	d    *Diffusion
	x, y []float64
}

func (d *Diffusion) newUnitVectors() *unitVectors {
	size := d.gen.Order() * blockColumns
	return &unitVectors{d: d, x: make([]float64, size), y: make([]float64, size)}
}

// imagesTo sets the rows of m from the first on to the images of the unit vectors that are picked.
func (u *unitVectors) imagesTo(ctx context.Context, m *mat.Dense, first int, pick []int, trans bool) error {
	n, c := u.d.gen.Order(), len(pick)
	x, y := u.x[:n*c], u.y[:n*c]
	clear(x)
	for j, p := range pick {
		x[p*c+j] = 1
	}
	if err := u.d.Apply(ctx, y, trans, x, c); err != nil {
		return err
	}
	parallel.Rows(n, 2*c, func(lo, hi int) {
		for j := range c {
			row := m.RawRowView(first + j)
			for i := lo; i < hi; i++ {
				row[i] = y[i*c+j]
			}
		}
	})
	return nil
}

// Dense returns M̃ as a matrix where the method is Eigen, and nil otherwise.
// The caller must not change it.
func (d *Diffusion) Dense() *mat.Dense {
	if d.spec == nil {
		return nil
	}
	d.denseOnce.Do(func() { d.dense = d.spec.kernel(d.gen.Similarity(), d.tau, 0) })
	return d.dense
}
