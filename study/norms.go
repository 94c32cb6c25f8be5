// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
	"github.com/graphcloak/graphcloak/posterior"
)

// exactNormsLimit is the order up to which column norms are exact: they take a product
// for each node. Beyond it they come from the balls that heat reaches, where these take no more
// than normProbes products do. Else they are estimated from as many random products, with a
// relative standard error of about √(2/normProbes).
const (
	exactNormsLimit = 10_000
	normTolerance   = 5e-3 // of a column by balls, in units of the noise
	normProbes      = 1024
)

// columnNorms returns the squared norms of the columns of the sensors' whitened rows, and whether
// they are estimates. Bounds on them are left out: no trial asks how far off its posterior is, and
// to know takes longer than the posterior.
func columnNorms(ctx context.Context, d measurement.Data, sigmas []float64, seed uint64) (norms posterior.Norms, estimated bool, err error) {
	_, n := d.A.Dims()
	if n <= exactNormsLimit {
		norms, err = posterior.ColumnNorms(ctx, d, posterior.Options{})
		return norms, false, err
	}
	js := make([]int, n)
	for i := range js {
		js[i] = i
	}
	low, high := make([]float64, n), make([]float64, n)
	ok, err := linop.ColumnSquares(ctx, d.A, js, nil, normTolerance*slices.Min(sigmas), normProbes, low, high)
	if err != nil {
		return norms, false, err
	}
	if ok {
		for i := range low {
			root := (math.Sqrt(low[i]) + math.Sqrt(high[i])) / 2
			low[i] = root * root
		}
		return posterior.Norms{N: low}, false, nil
	}
	norms, err = posterior.ProbedNorms(ctx, d, normProbes, 1e-6, seed)
	return posterior.Norms{N: norms.N}, true, err
}
