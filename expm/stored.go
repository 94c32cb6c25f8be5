// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// Stored is M as n² numbers, so that a row of it takes no product.
type Stored struct{ linop.Dense }

// Stored returns M without the eigenpairs whose factor e^{-τλ} is below least, which is added to
// the error bound. At large τ few are left, and it takes far less than a product for each row.
// It is nil where the method is not Eigen.
func (d *Diffusion) Stored(least float64) *Stored {
	if d.spec == nil {
		return nil
	}
	m := d.spec.truncated(d.tau, least)
	if s := d.gen.Similarity(); s != nil {
		n := d.spec.n
		for i := range n {
			for j, row := 0, m.RawRowView(i); j < n; j++ {
				row[j] *= s[j] / s[i]
			}
		}
	}
	return &Stored{linop.Dense{M: m, Bound: d.err + least*d.condition}}
}

// truncated returns Σ_k e^{-τλ_k} v_k v_kᵀ over the factors that are at least least.
func (s *Spectrum) truncated(tau, least float64) *mat.Dense {
	n, rank := s.n, 0
	half := make([]float64, 0, n) // row k is e^{-τλ_k/2} v_k
	for rank < n && (rank == 0 || math.Exp(-tau*s.lambda[rank]) >= least) {
		h := math.Exp(-tau * s.lambda[rank] / 2)
		for _, v := range s.Vector(rank) {
			half = append(half, h*v)
		}
		rank++
	}
	m := blas64.Symmetric{N: n, Stride: n, Uplo: blas.Upper, Data: make([]float64, n*n)}
	blas64.Syrk(blas.Trans, 1, blas64.General{Rows: rank, Cols: n, Stride: n, Data: half}, 0, m)
	for i := range n {
		for j := range i {
			m.Data[i*n+j] = m.Data[j*n+i]
		}
	}
	return mat.NewDense(n, n, m.Data)
}

// Rows returns the given rows as a len(pick) × n matrix. A row that M does not have is an error.
func (s *Stored) Rows(ctx context.Context, pick []int) (*mat.Dense, error) {
	n, _ := s.Dims()
	m := mat.NewDense(len(pick), n, nil)
	for k, i := range pick {
		if i < 0 || i >= n {
			return nil, fmt.Errorf("expm: there is no row %d, want 0 to %d", i, n-1)
		}
		m.SetRow(k, s.M.RawRowView(i))
	}
	return m, ctx.Err()
}
