// SPDX-License-Identifier: Apache-2.0

// Package run makes a release of a plan and recovers from it: attempt, spend, draw, stage, write, settle. Everything private
// that is read is read here, and only noise leaves it.
package run

import (
	"context"

	"github.com/graphcloak/graphcloak/plan"
)

// Model is a [plan.Model] that releases and recovers. It is used by one run at a time, whose
// times it keeps.
type Model struct{ *plan.Model }

// Load is [plan.Load].
func Load(ctx context.Context, s plan.Source, set plan.Settings, opts plan.LoadOptions) (*Model, error) {
	m, err := plan.Load(ctx, s, set, opts)
	if err != nil {
		return nil, err
	}
	return &Model{m}, nil
}
