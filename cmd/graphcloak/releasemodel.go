// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// jobOfFile is the job of a release by a plan file, under an id of its own.
func (a *app) jobOfFile(model graphcloak.Settings, signal graphcloak.Signal, sensors fromSensors) (job graphcloak.Job, err error) {
	if sensors.path == "" && sensors.releaseID != "" {
		return job, fail(exitUsage, "--release-id chooses among what was sent").hint("give --from-sensors FILE")
	}
	if err := a.needSignal(signal); err != nil {
		return job, err
	}
	job = graphcloak.Job{
		Settings: model, Signal: signal, RequireCap: a.config.Execution.Strict, Version: readBuild().Version,
		DryRun: a.config.Write.DryRun, Write: a.writes(),
	}
	job.RunID, err = run.NewRunID()
	return job, err
}

// onReleaseModel calls do with the store and the model of a release, unless one of the same identity was interrupted and is completed
// in its place. what identifies what is released.
func (a *app) onReleaseModel(ctx context.Context, job graphcloak.Job, graph privacy.Digest, what any,
	do func(s graphStore, m *graphcloak.Model, identity string) error,
) error {
	if _, err := checkState(); err != nil {
		return err
	}
	return with(ctx, a.openStore, func(s graphStore) error {
		m, err := a.model(ctx, s, job.Settings)
		if err != nil {
			return err
		}
		identity, err := jobIdentity(job, a.config, what)
		if err != nil {
			return err
		}
		if done, err := a.resolveInterrupted(ctx, s,
			interruption{run.Scope(job.Signal), identity, graph, false, job.DryRun}); done || err != nil {
			return err
		}
		return do(s, m, identity)
	})
}
