// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// exactNormsLimit is the order up to which column norms are exact: they take a product
// for each node. Beyond it they come from the balls that heat reaches, where these take no more
// than NormProbes products do. Else they are estimated from as many random products, with a
// relative standard error of about √(2/NormProbes).
const (
	exactNormsLimit = 10_000
	normTolerance   = 5e-3 // of a column by balls, in units of the noise
	NormProbes      = 1024
)

// columnNorms returns the squared norms of the columns of the sensors' whitened rows, and whether
// they are estimates. Bounds on them are left out: no trial asks how far off its posterior is, and
// to know takes longer than the posterior.
func columnNorms(ctx context.Context, d measurement.Data, sigmas []float64,
	seed uint64,
) (norms posterior.Norms, estimated bool, err error) {
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
	ok, err := linop.ColumnSquares(ctx, d.A, js, nil, normTolerance*slices.Min(sigmas), NormProbes, low, high)
	switch {
	case err != nil:
		return norms, false, err
	case ok:
		for i := range low {
			root := (math.Sqrt(low[i]) + math.Sqrt(high[i])) / 2
			low[i] = root * root
		}
		return posterior.Norms{N: low}, false, nil
	}
	norms, err = posterior.ProbedNorms(ctx, d, NormProbes, 1e-6, seed)
	return posterior.Norms{N: norms.N}, true, err
}

// entrySeconds is what a product takes for an entry of a given operator.
const entrySeconds = 1e-9

// PosteriorSeconds is what posterior and distances of a trial take for a node.
const PosteriorSeconds = 0.6e-6

// NormProducts bounds the products that the column norms of so many sensors take; up to [analyst.DenseLimit] nodes the
// matrix is formed.
func NormProducts(nodes, sensors int) int {
	switch {
	case nodes <= analyst.DenseLimit:
		return min(nodes, sensors)
	case nodes <= exactNormsLimit:
		return nodes
	}
	return NormProbes
}

// Affordable is the number of trials, of so many, that are estimated to take one processor of the 2020s no longer than limit, with
// the column norms before them: from sizes alone, so that it is the same on every machine.
func Affordable(m *plan.Model, p *privacy.Plan, trials int, limit time.Duration) (int, error) {
	var cost expm.Cost
	var err error
	if o := m.Operator; o.Given != nil {
		cost.Column = entrySeconds * float64(len(o.Given.Row))
	} else if cost, err = expm.Estimate(o.Laplacian, m.Tau.Value(), expm.Options{Method: m.Method}); err != nil {
		return 0, err
	}
	order := m.Graph.Order()
	processes, _ := m.Operator.Processes(m.ListedGraphs(), p.Uncertainty.Tau(), len(p.Sensors))
	product := float64(processes) * cost.Column
	left := limit.Seconds() - product*float64(NormProducts(order, len(p.Sensors)))
	return int(min(float64(trials), max(0, left/(2*product+PosteriorSeconds*float64(order))))), nil
}
