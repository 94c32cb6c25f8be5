// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
)

// ErrTarget says that no ε gives what was asked for, or that any does.
var ErrTarget = errors.New("study: no privacy loss fits the target")

// Range of ε that is searched for a target, and the ratio at which bisection stops: finer
// than what 200 trials resolve.
const (
	minTargetEpsilon, maxTargetEpsilon = 0.01, 1000.0
	targetTolerance                    = 1.01
	startEpsilon                       = 4.0 // that weights and τ are chosen for at first
)

// PlanFor returns a plan with the least ε, to 1 %, at which the right community is named this often by simulation, and
// which says so in Accuracy: by bisection, on common random numbers. opts.Epsilon is ignored. It returns [ErrTarget] where
// ε = 1000 does not reach that, ε = 0.01 does, or the graph has more than 6,000 nodes, [graph.ErrBadWeight] and
// the errors of [graph.Graph.Changed], [plan.Model.Plan], [plan.Model.WithBudget] and [Expect].
func PlanFor(ctx context.Context, m *plan.Model, opts plan.Options, rec analyst.Options, often float64,
	sample Sample,
) (*plan.Plan, error) {
	if err := checkSize(m); err != nil {
		return nil, err
	}
	var best *plan.Plan
	var bestModel plan.Model // with the τ of best
	opts.Epsilon = startEpsilon
	for round := 1; ; round++ {
		p, err := m.Plan(ctx, opts)
		if err != nil {
			return nil, err
		}
		s, err := newExpectation(ctx, m, rec, sample) // of the τ that the plan may have chosen
		if err != nil {
			return nil, err
		}
		p, err = s.leastBudget(ctx, p, often)
		if err != nil && (best == nil || !errors.Is(err, ErrTarget)) {
			return nil, err
		}
		gained := err == nil && (best == nil || p.Epsilon*targetTolerance < best.Epsilon)
		if err == nil && (best == nil || p.Epsilon < best.Epsilon) {
			best, bestModel = p, *m
		}
		if !gained || round == rounds(p) {
			*m = bestModel
			return best, nil
		}
		opts.Epsilon = p.Epsilon
	}
}

// rounds is how often a plan is made: weights and τ are good for the ε that they were
// chosen for, so they are chosen again for the ε that was found.
func rounds(p *plan.Plan) int {
	switch {
	case p.TauChoice != nil:
		return 5
	case p.Allocated != nil:
		return 2
	}
	return 1
}

// checkSize refuses a graph that is too large to be simulated many times.
func checkSize(m *plan.Model) error {
	if m.Graph.Order() > analyst.DenseLimit {
		return fmt.Errorf("%w: only graphs of up to %d nodes are simulated", ErrTarget, analyst.DenseLimit)
	}
	return nil
}

// at is a plan at another ε, with the same weights; nil beyond the calibration's range.
func (s *expectation) at(p *plan.Plan, eps float64) (*plan.Plan, error) {
	q, err := s.model.WithBudget(p, privacy.Budget{Epsilon: eps, Delta: p.Delta})
	if errors.Is(err, privacy.ErrNotPrivate) {
		return nil, nil
	}
	return q, err
}

// leastBudget returns the plan with the least ε that reaches the target under its weights.
func (s *expectation) leastBudget(ctx context.Context, p *plan.Plan, often float64) (best *plan.Plan, err error) {
	try := func(eps float64) (reached bool, err error) {
		q, err := s.at(p, eps)
		if q == nil || err != nil {
			return false, err
		}
		q.AddPublicProperties(s.model.PublicProperties()...)
		q.Accuracy, err = s.accuracy(ctx, q.Plan)
		if reached = err == nil && q.Accuracy.Probability >= often; reached {
			best = q
		}
		return reached, err
	}
	lo, hi := minTargetEpsilon, minTargetEpsilon
	switch done, err := try(lo); {
	case err != nil:
		return nil, err
	case done:
		return nil, fmt.Errorf("%w: ε = %v reaches it already, with accuracy %.2f, and chance gives %.2f", ErrTarget, lo,
			best.Accuracy.Probability, best.Accuracy.Chance)
	}
	for best == nil {
		if hi >= maxTargetEpsilon {
			return nil, fmt.Errorf("%w: at ε = %v it is missed still", ErrTarget, hi)
		}
		lo, hi = hi, min(maxTargetEpsilon, 4*hi)
		if _, err := try(hi); err != nil {
			return nil, err
		}
	}
	for hi/lo > targetTolerance {
		mid := threeDigits(math.Sqrt(lo * hi))
		if mid <= lo || mid >= hi {
			break
		}
		switch done, err := try(mid); {
		case err != nil:
			return nil, err
		case done:
			hi = mid
		default:
			lo = mid
		}
	}
	return best, nil
}

// threeDigits rounds to three significant digits, so that a plan's ε is readable.
func threeDigits(x float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if err != nil {
		return x // unreachable: x is finite
	}
	return short
}
