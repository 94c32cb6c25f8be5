// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"

	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

// What is public before a release is made: package plan.
type (
	Source      = plan.Source
	Settings    = plan.Settings
	Public      = plan.Public
	LoadOptions = plan.LoadOptions
	Plan        = plan.Plan
	Whisper     = plan.Whisper
	PlanOptions = plan.Options
	Allocation  = plan.Allocation
	Signal      = plan.Signal
	Asking      = plan.Asking
)

// A run from its plan to what is written: package run.
type (
	Store           = run.Store
	Model           = run.Model
	Job             = run.Job
	WriteOptions    = run.WriteOptions
	Release         = run.Release
	UnfinishedError = run.UnfinishedError
)

// Load is [run.Load].
func Load(ctx context.Context, s Source, set Settings, opts LoadOptions) (*Model, error) {
	return run.Load(ctx, s, set, opts)
}

// Run is [run.Run].
func Run(ctx context.Context, s Source, job Job, opts LoadOptions) (*report.Report, error) {
	return run.Run(ctx, s, job, opts)
}
