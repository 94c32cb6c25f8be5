// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/graphcloak/graphcloak"
)

// load reads the graph of a job and makes its model. It refuses what
// [checkNotReleased] refuses of the job and of the properties with private values.
func (a *app) load(ctx context.Context, s graphStore, job graphcloak.Job, private ...string) (*graphcloak.Model, error) {
	m, err := a.model(ctx, s, job.Settings)
	if err != nil {
		return nil, err
	}
	return m, checkNotReleased(ctx, s, job, private...)
}

// model reads a graph, tells what the store left out of it, and makes its model.
func (a *app) model(ctx context.Context, s graphStore, set graphcloak.Settings) (*graphcloak.Model, error) {
	m, err := graphcloak.Load(ctx, s, set, loadOptions(a))
	if err == nil {
		a.notices(s)
	}
	return m, err
}

// onModel opens the store to read from it, loads the model of a job, uses it, and closes the store.
func (a *app) onModel(ctx context.Context, job graphcloak.Job, use func(*graphcloak.Model) error) error {
	s, err := a.openReading(ctx)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	m, err := a.load(ctx, s, job)
	if err != nil {
		return err
	}
	return use(m)
}
