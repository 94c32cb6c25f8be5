// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// blockColumns is the number of columns that are diffused at a time.
const blockColumns = 16

// space is the memory of one application: two vectors for the recurrence, and two
// for input and output where they are copied.
type workspace struct{ x, y, t0, t1 []float64 }

func (d *Diffusion) workspace(size int, copies bool) *workspace {
	w, ok := d.work.Get().(*workspace)
	if !ok {
		w = &workspace{}
	}
	w.t0, w.t1 = resize(w.t0, size), resize(w.t1, size)
	if copies {
		w.x, w.y = resize(w.x, size), resize(w.y, size)
	}
	return w
}

func resize(v []float64, size int) []float64 {
	if cap(v) < size {
		return make([]float64, size)
	}
	return v[:size]
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
	if k <= blockColumns && d.gen.Similarity() == nil && d.gen.Permutation() == nil {
		w := d.workspace(n*k, false)
		defer d.work.Put(w)
		return d.applySymmetric(ctx, dst, x, w, k)
	}
	for first := 0; first < k; first += blockColumns {
		c := min(blockColumns, k-first)
		w := d.workspace(n*c, true)
		d.toSymmetric(w.x, x, trans, k, first, c)
		err := d.applySymmetric(ctx, w.y, w.x, w, c)
		d.fromSymmetric(dst, w.y, trans, k, first, c)
		d.work.Put(w)
		if err != nil {
			return err
		}
	}
	return nil
}

// symmetric sets y to e^{-τS}x for k columns.
func (d *Diffusion) applySymmetric(ctx context.Context, y, x []float64, w *workspace, k int) error {
	switch d.method {
	case Eigen:
		d.spec.apply(y, x, w.t0, k, d.tau, 0)
		return ctx.Err()
	case Chebyshev:
		return recurrence(ctx, d.gen, d.weights, y, x, w, k, 0)
	default:
		return d.krylov(ctx, y, x, k)
	}
}

// gather copies c columns of x into the rows of the symmetric form:
// M = diag(1/s) e^{-τS} diag(s).
func (d *Diffusion) toSymmetric(to, x []float64, trans bool, k, first, c int) {
	s, place := d.gen.Similarity(), d.gen.Permutation()
	for i := range d.gen.Order() {
		p := i
		if place != nil {
			p = int(place[i])
		}
		row := to[p*c : (p+1)*c]
		copy(row, x[i*k+first:])
		if s != nil {
			scale(row, s[i], trans)
		}
	}
}

func (d *Diffusion) fromSymmetric(dst, y []float64, trans bool, k, first, c int) {
	s, place := d.gen.Similarity(), d.gen.Permutation()
	for i := range d.gen.Order() {
		p := i
		if place != nil {
			p = int(place[i])
		}
		row := dst[i*k+first : i*k+first+c]
		copy(row, y[p*c:])
		if s != nil {
			scale(row, s[i], !trans)
		}
	}
}

// scale multiplies a row by s, or divides it.
func scale(row []float64, s float64, divide bool) {
	for j := range row {
		if divide {
			row[j] /= s
		} else {
			row[j] *= s
		}
	}
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
	x, y := make([]float64, n*blockColumns), make([]float64, n*blockColumns)
	for first := 0; first < len(pick); first += blockColumns {
		c := min(blockColumns, len(pick)-first)
		clear(x[:n*c])
		for j, p := range pick[first : first+c] {
			x[p*c+j] = 1
		}
		if err := d.Apply(ctx, y[:n*c], trans, x[:n*c], c); err != nil {
			return nil, err
		}
		for j := range c {
			row := m.RawRowView(first + j)
			for i := range row {
				row[i] = y[i*c+j]
			}
		}
	}
	return m, nil
}

// Dense returns M̃ as a matrix where the method is Eigen, and nil otherwise. The
// caller must not change it.
func (d *Diffusion) Dense() *mat.Dense {
	if d.spec == nil {
		return nil
	}
	d.denseOnce.Do(func() { d.dense = d.spec.kernel(d.gen.Similarity(), d.tau, 0) })
	return d.dense
}
