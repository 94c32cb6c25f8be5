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
	"github.com/graphcloak/graphcloak/report"
)

// Target is the accuracy that a plan is to reach by simulation.
type Target struct {
	Accuracy float64 // leastBudget probability that the right community is named; 0: any
	EMD      float64 // greatest mean distance of the posterior from the source, in units of the metric; 0: any
}

// ErrTarget says that no ε gives what was asked for, or that any does.
var ErrTarget = errors.New("study: no privacy loss fits the target")

// Range of ε that is searched for a target, and the ratio at which bisection stops: finer
// than what 200 trials resolve.
const (
	minTargetEpsilon, maxTargetEpsilon = 0.01, 1000.0
	targetTolerance                    = 1.01
	startEpsilon                       = 4.0 // that weights and τ are chosen for at first
)

// reached reports whether a simulation reached the target.
func (t Target) reached(a *report.Accuracy) bool {
	return a.Probability >= t.Accuracy && (t.EMD == 0 || a.MeanEMD <= t.EMD)
}

// PlanFor returns a plan with the least ε, to 1 %, at which simulation reaches the
// target: by bisection, on common random numbers. opts.Epsilon is ignored. The plan
// says what it reached in Accuracy. It returns [ErrTarget] where ε = 1000 does not
// reach it, ε = 0.01 does, or the graph has more than 6,000 nodes, [graph.ErrBadWeight] and
// the errors of [graph.Graph.Changed], [plan.Model.Plan], [plan.Model.WithBudget] and [Expect].
func PlanFor(ctx context.Context, m *plan.Model, opts plan.Options, rec analyst.Options, t Target,
	sample Sample,
) (*plan.Plan, error) {
	if err := checkSize(m); err != nil {
		return nil, err
	}
	var best *plan.Plan
	var bestModel plan.Model // with the τ of best
	opts.Epsilon = startEpsilon
	for round := 0; ; round++ {
		p, err := m.Plan(ctx, opts)
		if err != nil {
			return nil, err
		}
		s, err := newExpectation(ctx, m, rec, sample) // of the τ that the plan may have chosen
		if err != nil {
			return nil, err
		}
		p, err = s.leastBudget(ctx, p, t)
		if best != nil && errors.Is(err, ErrTarget) {
			*m = bestModel
			return best, nil
		}
		if err != nil {
			return nil, err
		}
		gained := best == nil || p.Epsilon*targetTolerance < best.Epsilon
		if best == nil || p.Epsilon < best.Epsilon {
			best, bestModel = p, *m
		}
		if !gained || round+1 == rounds(p) {
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

// leastBudget returns the plan with the least ε that reaches the target under its weights.
func (s *evaluator) leastBudget(ctx context.Context, p *plan.Plan, t Target) (*plan.Plan, error) {
	try := func(eps float64) (*plan.Plan, bool, error) {
		q, err := s.model.WithBudget(p, privacy.Budget{Epsilon: eps, Delta: p.Delta})
		if errors.Is(err, privacy.ErrNotPrivate) {
			return nil, false, nil // beyond the calibration's range
		}
		if err != nil {
			return nil, false, err
		}
		q.AddPublicProperties(s.model.PublicProperties()...)
		q.Accuracy, err = s.accuracy(ctx, q.Plan)
		return q, err == nil && t.reached(q.Accuracy), err
	}
	lo := minTargetEpsilon
	low, done, err := try(lo)
	if err != nil {
		return nil, err
	}
	if done {
		return nil, fmt.Errorf("%w: ε = %v reaches it already, with accuracy %.2f, and chance gives %.2f", ErrTarget, lo,
			low.Accuracy.Probability, low.Accuracy.Chance)
	}
	var best *plan.Plan
	hi := lo
	for best == nil {
		if hi >= maxTargetEpsilon {
			return nil, fmt.Errorf("%w: at ε = %v it is missed still", ErrTarget, hi)
		}
		lo, hi = hi, min(maxTargetEpsilon, 4*hi)
		q, done, err := try(hi)
		if err != nil {
			return nil, err
		}
		if done {
			best = q
		}
	}
	for hi/lo > targetTolerance {
		mid := threeDigits(math.Sqrt(lo * hi))
		if mid <= lo || mid >= hi {
			break
		}
		q, done, err := try(mid)
		if err != nil {
			return nil, err
		}
		if done {
			hi, best = mid, q
		} else {
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

// Point is one point of the privacy–accuracy curve.
type Point struct {
	Epsilon  float64
	Accuracy report.Accuracy  // of the plan's allocation
	Uniform  *report.Accuracy // of uniform noise; nil where the plan is uniform
}

// Curve simulates a plan at other values of ε, with the weights that it has, on
// common random numbers. It returns [ErrTarget] for graphs of more than 6,000 nodes, and
// [limit.ErrInvalid], [graph.ErrBadWeight] and the errors of [graph.Graph.Changed], [Expect] and [plan.Model.WithBudget]. Beside
// the error of a ctx that ended stand the points that were had until then.
func Curve(ctx context.Context, m *plan.Model, p *plan.Plan, rec analyst.Options, epsilons []float64,
	sample Sample,
) ([]Point, error) {
	if err := checkSize(m); err != nil {
		return nil, err
	}
	if err := m.Matches(p.Plan); err != nil {
		return nil, err
	}
	s, err := newExpectation(ctx, m, rec, sample)
	if err != nil {
		return nil, err
	}
	points := make([]Point, 0, len(epsilons))
	for _, eps := range epsilons {
		q, err := m.WithBudget(p, privacy.Budget{Epsilon: eps, Delta: p.Delta})
		if errors.Is(err, privacy.ErrNotPrivate) {
			continue
		}
		if err != nil {
			return points, err
		}
		a, err := s.accuracy(ctx, q.Plan)
		if err != nil {
			return points, err
		}
		if a.Limit, err = s.limit(ctx, q.Plan); err != nil {
			return points, err
		}
		a.Communities = nil // of the plan alone
		point := Point{Epsilon: eps, Accuracy: *a}
		uniform, err := m.UniformPlan(q)
		if err != nil {
			return points, err
		}
		if uniform != nil {
			if point.Uniform, err = s.accuracy(ctx, uniform); err != nil {
				return points, err
			}
		}
		points = append(points, point)
	}
	return points, nil
}
