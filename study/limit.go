// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"fmt"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/limit"
	"github.com/graphcloak/graphcloak/report"
)

// limit bounds what any mechanism with the guarantee of the plan could reach with the
// simulated sources.
func (s *evaluator) limit(ctx context.Context, p *privacy.Plan) (*report.Limit, error) {
	if s.question == nil {
		var err error
		if s.question, err = limit.New(ctx, s.model.Graph, s.part.Labels, s.prior, p.Alpha); err != nil {
			return nil, fmt.Errorf("limit of accuracy: %w", err)
		}
	}
	gaussian, err := limit.Gaussian(p.JointMu)
	if err != nil {
		return nil, fmt.Errorf("limit of accuracy: %w", err)
	}
	l := new(report.Limit)
	if l.Gaussian, err = s.question.Accuracy(ctx, gaussian); err != nil || p.Guarantee != privacy.Joint {
		return l, err
	}
	approximate, err := limit.Approximate(p.Epsilon, p.Delta)
	if err != nil {
		return nil, fmt.Errorf("limit of accuracy: %w", err)
	}
	most, err := s.question.Accuracy(ctx, approximate)
	l.Gaussian, l.AnyMechanism = min(l.Gaussian, most), &most
	return l, err
}
