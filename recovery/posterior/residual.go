// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// LeastResidual returns a least ‖y − Σ a_k A z_k‖² over as many sources as there are nodes
// given, from which the search starts: each source is moved, in turn, to where it explains
// most beside the others, until none moves.
func LeastResidual(ctx context.Context, d measurement.Data, nodes []int, opts Options) (float64, error) {
	c, norms, logPrior, err := sufficient(ctx, d, opts)
	if err != nil {
		return 0, err
	}
	k := candidates{newEvidence(opts.Amplitude), norms.N, slices.Clone(logPrior)}
	rest, sources, columns := slices.Clone(d.Y), make([]bestSource, len(nodes)), make([][]float64, len(nodes))
	place := func(j int) {
		k.logPrior[sources[j].node] = math.Inf(-1)
		floats.AddScaled(rest, -sources[j].amplitude, columns[j])
	}
	for j, z := range nodes {
		columns[j] = columnOf(d, z)
		sources[j] = bestSource{node: z, amplitude: k.e.likeliest(floats.Dot(columns[j], rest), norms.N[z])}
		place(j)
	}
	least := floats.Dot(rest, rest)
	for range 50 {
		for j := range nodes {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			k.logPrior[sources[j].node] = logPrior[sources[j].node]
			floats.AddScaled(rest, sources[j].amplitude, columns[j])
			d.A.MulVecTo(c, true, rest)
			sources[j] = k.best(c, 1)[0]
			columns[j] = columnOf(d, sources[j].node)
			place(j)
		}
		now := floats.Dot(rest, rest)
		if now >= least-1e-9 {
			return min(now, least), nil
		}
		least = now
	}
	return least, nil
}

// ResidualTail returns the probability that noise alone is as large: P(χ²_m ≥ residual).
// No fit is worse than the truth's, so it bounds the p-value of a least residual.
func ResidualTail(residual float64, m int) float64 {
	return mathext.GammaIncRegComp(float64(m)/2, residual/2)
}
