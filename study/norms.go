// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// exactNormsLimit is the order up to which column norms are exact: they take a product
// for each node. Beyond it they come from the balls that heat reaches, where these take no more
// than normProbes products do. Else they are estimated from as many random products, with a
// relative standard error of about √(2/normProbes).
const (
	exactNormsLimit = 10_000
	normTolerance   = 5e-3 // of a column by balls, in units of the noise
	normProbes      = 1024
	briefProducts   = 512 // worth of balls, for a brief simulation
)

// ErrLong says that a simulation would take longer than it may.
var ErrLong = errors.New("study: the simulation would take longer than it may")

// columnNorms returns the squared norms of the columns of the sensors' whitened rows, and whether
// they are estimates. Bounds on them are left out: no trial asks how far off its posterior is, and
// to know takes longer than the posterior.
func columnNorms(ctx context.Context, d measurement.Data, sigmas []float64,
	seed uint64,
) (norms posterior.Norms, estimated bool, err error) {
	if _, n := d.A.Dims(); n <= exactNormsLimit {
		norms, err = posterior.ColumnNorms(ctx, d, posterior.Options{})
		return norms, false, err
	}
	if low, err := ballNorms(ctx, d, sigmas, normProbes); low != nil || err != nil {
		return posterior.Norms{N: low}, false, err
	}
	norms, err = posterior.ProbedNorms(ctx, d, normProbes, 1e-6, seed)
	return posterior.Norms{N: norms.N}, true, err
}

// briefNorms are the norms by balls wherever these are had sooner than by briefProducts products; else, beyond [exactNormsLimit],
// the error is [ErrLong].
func briefNorms(ctx context.Context, d measurement.Data, sigmas []float64, _ uint64) (norms posterior.Norms, estimated bool, err error) {
	if low, err := ballNorms(ctx, d, sigmas, briefProducts); low != nil || err != nil {
		return posterior.Norms{N: low}, false, err
	}
	if _, n := d.A.Dims(); n > exactNormsLimit {
		return norms, false, ErrLong
	}
	norms, err = posterior.ColumnNorms(ctx, d, posterior.Options{})
	return norms, false, err
}

// ballNorms returns the squared norms by balls, nil where these take longer than so many products.
func ballNorms(ctx context.Context, d measurement.Data, sigmas []float64, most int) ([]float64, error) {
	_, n := d.A.Dims()
	js := make([]int, n)
	for i := range js {
		js[i] = i
	}
	low, high := make([]float64, n), make([]float64, n)
	ok, err := linop.ColumnSquares(ctx, d.A, js, nil, normTolerance*slices.Min(sigmas), most, low, high)
	if err != nil || !ok {
		return nil, err
	}
	for i := range low {
		root := (math.Sqrt(low[i]) + math.Sqrt(high[i])) / 2
		low[i] = root * root
	}
	return low, nil
}

// normProducts bounds the products that columnNorms or briefNorms take of so many sensors; up to [analyst.DenseLimit] nodes the matrix is
// formed.
func normProducts(n, sensors int, brief bool) int {
	switch {
	case n <= analyst.DenseLimit:
		return min(n, sensors)
	case n <= exactNormsLimit:
		return n
	case brief:
		return briefProducts
	}
	return normProbes
}
