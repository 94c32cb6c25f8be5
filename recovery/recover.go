// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"math"

	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// paperRetries bounds how often the radius of Paper is enlarged.
const paperRetries = 8

// Recover sets up the problem by the rule and solves it. Two rules are retried
// where the first radius is proved infeasible, and the Ball says so:
//
//   - Auto and NormalEquations, at first with β = ½, take β = DefaultBeta;
//   - Paper takes √(d² + k), d the proved distance of the data from every f and k
//     the support so far, until that is not proved infeasible.
func Recover(ctx context.Context, d measurement.Data, s ColumnGeneration, rule Rule, spectrum *Spectrum) (*Result, Ball, error) {
	p, b, err := NewProblem(ctx, d, rule, spectrum)
	if err != nil {
		return nil, b, err
	}
	res, err := s.Solve(ctx, p)
	if err != nil || res.Status != Infeasible {
		return res, b, err
	}
	tries := 0
	switch rule.Kind {
	case Auto, NormalEquations:
		tries = 1
	case Paper:
		tries = paperRetries
	}
	for range tries {
		if rule.Kind != Paper {
			b.resize(DefaultBeta)
		} else {
			b.Radius = math.Hypot(b.Radius+res.Margin, math.Sqrt(float64(max(1, res.Support))))
		}
		b.Retried, p.Radius = true, b.Radius
		if res, err = s.Solve(ctx, p); err != nil || res.Status != Infeasible {
			break
		}
	}
	return res, b, err
}
