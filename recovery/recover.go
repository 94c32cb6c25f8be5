// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"

	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// Recover sets up the problem by the rule and solves it. Auto and NormalEquations, at first with β = ½, are tried again with
// β = DefaultBeta where the first radius is proved infeasible, and the Ball says so.
func Recover(ctx context.Context, d measurement.Data, s ColumnGeneration, rule Rule, spectrum *Spectrum) (*Result, Ball, error) {
	p, b, err := NewProblem(ctx, d, rule, spectrum)
	if err != nil {
		return nil, b, err
	}
	res, err := s.Solve(ctx, p)
	if err == nil && res.Status == Infeasible && (rule == Auto || rule == NormalEquations) {
		b.resize(DefaultBeta)
		b.Retried, p.Radius = true, b.Radius
		res, err = s.Solve(ctx, p)
	}
	return res, b, err
}
