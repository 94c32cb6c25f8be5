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

// misfitNodes is the largest graph that Misfits works on, and misfitWork the most of n³ times the
// graphs of a row, and times misfitSteps where τ has a range: a row of more is left out.
const (
	misfitNodes     = 2000
	misfitWork      = 1e10
	misfitSteps     = 8
	misfitTolerance = .01 // relative, of a row where τ has a range
)

// Misfits says what the ε of a plan for measured readings becomes under τ and weights
// that its uncertainty does not cover: each row is of all that is declared and of
// one thing more. It is nil for other plans, and beyond 2,000 nodes; rows that would take long
// are left out. The errors are those of [sensitivity.WorstCase].
func (m *Model) Misfits(ctx context.Context, p *Plan) ([]Misfit, error) {
	if !p.Measured() || p.Guarantee != privacy.Joint || m.Graph.Order() > misfitNodes {
		return nil, nil
	}
	u := m.weights(p.Plan)
	var out []Misfit
	for _, x := range m.undeclared(p.Uncertainty) {
		set := m.uncertain(x.set)
		if m.misfitWork(set) > misfitWork {
			continue
		}
		options := sensitivity.Options{Progress: m.opts.Progress}
		if set.TauFrom < set.TauTo {
			options.Tolerance = misfitTolerance
		}
		e, err := sensitivity.WorstCase(ctx, m.sensitivityModel(p.Alpha), u, set, options)
		if err != nil {
			return nil, fmt.Errorf("certify sensitivity: %w", err)
		}
		row := Misfit{Process: x.process, Bound: x.set.WeightError > 0}
		if row.Epsilon, err = privacy.GDPEpsilon(p.JointMu*e.Upper/p.Sensitivity.Upper, p.Delta); err != nil {
			row.Epsilon = math.Inf(1)
		}
		out = append(out, row)
	}
	return out, nil
}

type misfit struct {
	process string
	set     privacy.Uncertainty
}

// undeclared lists what the process may be beside what is declared.
func (m *Model) undeclared(u privacy.Uncertainty) []misfit {
	taus := []float64{1.25 * m.Tau, .9 * m.Tau, .8 * m.Tau, .5 * m.Tau}
	if u.TauFrom < u.TauTo {
		taus = []float64{1.25 * u.TauTo, .8 * u.TauFrom, .5 * u.TauFrom}
	}
	var list []misfit
	for _, tau := range taus {
		x := misfit{fmt.Sprintf("τ is %.4g", tau), u}
		x.set.TauFrom, x.set.TauTo = tau, tau
		list = append(list, x)
	}
	if u.WeightError == 0 && m.Settings.Laplacian == laplacian.Combinatorial {
		x := misfit{"every weight, each by itself, is up to 20 % off", u}
		x.set.WeightError = .2
		list = append(list, x)
	}
	return list
}

// misfitWork is n³ for each graph of a set, and each of the steps of its τ.
func (m *Model) misfitWork(set sensitivity.Uncertainty) float64 {
	work := math.Pow(float64(m.Graph.Order()), 3) * float64(1+len(set.Alternatives))
	if set.TauFrom < set.TauTo {
		work *= misfitSteps
	}
	return work
}
