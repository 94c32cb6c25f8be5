// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/sensitivity"
)

// Misfit is what the guarantee of a plan for measured readings really is, where the
// process differs from the model in one way.
type Misfit struct {
	Process string
	Epsilon float64 // at the plan's δ, for the worst neighbours; +Inf beyond what is computed
	Bound   bool    // Epsilon is an upper bound, not attained
}

// misfitNodes is the largest graph that Misfits works on, and misfitWork the largest
// n³·relationships for which each relationship in turn is left out.
const (
	misfitNodes = 2000
	misfitWork  = 1e10
)

// Misfits says what the ε of a plan for measured readings, which declares no
// uncertainty, becomes under other τ, weights and relationships. It is nil for other
// plans, and beyond 2,000 nodes. The errors are those of [sensitivity.WorstCase].
func (m *Model) Misfits(ctx context.Context, p *Plan) ([]Misfit, error) {
	n := m.Graph.Order()
	if !p.Measured() || p.Uncertainty.Any() || p.Guarantee != privacy.Joint || n > misfitNodes {
		return nil, nil
	}
	list := []misfit{}
	for _, f := range []float64{1.25, .9, .8, .5} {
		tau := f * m.Tau
		list = append(list, misfit{fmt.Sprintf("τ is %.4g", tau), privacy.Uncertainty{TauFrom: tau, TauTo: tau}})
	}
	if m.Settings.Laplacian == laplacian.Combinatorial {
		list = append(list, misfit{"every weight, each by itself, is up to 20 % off", privacy.Uncertainty{WeightError: .2}})
	}
	if size := m.Graph.Size(); size <= sensitivity.MaxAlternatives && float64(n)*float64(n)*float64(n)*float64(size) <= misfitWork {
		list = append(list, misfit{"one relationship, the worst, is absent", privacy.Uncertainty{RelationshipError: 1}})
	}
	u := m.weights(p.Plan)
	out := make([]Misfit, len(list))
	for i, x := range list {
		b, err := m.bound(ctx, p.Alpha, u, x.set, sensitivity.Options{Progress: m.opts.Progress})
		if err != nil {
			return nil, fmt.Errorf("certify sensitivity: %w", err)
		}
		out[i] = Misfit{Process: x.process, Bound: x.set.WeightError > 0}
		if out[i].Epsilon, err = privacy.GDPEpsilon(p.JointMu*b.Upper/p.Sensitivity.Upper, p.Delta); err != nil {
			out[i].Epsilon = math.Inf(1)
		}
	}
	return out, nil
}

type misfit struct {
	process string
	set     privacy.Uncertainty
}
