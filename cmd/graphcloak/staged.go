// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	stores "github.com/graphcloak/graphcloak/connector/store"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/report"
)

// staged is a release that was paid for, with what its run needs to go on. It
// holds private values and public settings only.
type staged struct {
	Release       *graphcloak.Release     `json:"release"`
	ReleaseOnly   bool                    `json:"releaseOnly,omitempty"` // nothing is recovered
	Signal        graphcloak.Signal       `json:"signal"`
	Scope         string                  `json:"scope,omitempty"`
	Write         graphcloak.WriteOptions `json:"write"`
	Mode          string                  `json:"mode"`
	Recovery      config.Recovery         `json:"recovery"`
	Community     config.Community        `json:"community"`
	Configuration map[string]any          `json:"configuration,omitempty"`
}

// stage returns a function that keeps a release until its run is finished.
func (a *app) stage(job graphcloak.Job, c *config.Config) func(*graphcloak.Release) error {
	return func(r *graphcloak.Release) error { return a.keep(r, job, c, false) }
}

// keep writes a release and what its job needs to go on.
func (a *app) keep(r *graphcloak.Release, job graphcloak.Job, c *config.Config, releaseOnly bool) error {
	data, err := json.Marshal(staged{
		Release: r, ReleaseOnly: releaseOnly, Signal: job.Signal, Scope: job.Scope, Write: job.Write, Mode: c.Write.Mode,
		Recovery: c.Recovery, Community: c.Community, Configuration: job.Configuration,
	})
	if err != nil {
		return err
	}
	path, err := stagedPath(job.RunID)
	if err != nil {
		return err
	}
	return writeSynced(path, data)
}

// writeSynced writes a file of mode 0600 that survives a crash of the machine.
func writeSynced(path string, data []byte) error {
	return disk.Write(path, disk.Options{Mode: 0o600, Replace: true}, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func stagedPath(runID string) (string, error) {
	if !regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`).MatchString(runID) {
		return "", fail(exitUsage, "%q is no run id", runID).hint("a run prints its id as runId")
	}
	dir, err := stateDir("runs")
	return filepath.Join(dir, runID+".json"), err
}

func hasStaged(runID string) bool {
	path, err := stagedPath(runID)
	if err != nil {
		return false
	}
	_, err = os.Stat(path)
	return err == nil
}

func forget(runID string) error {
	path, err := stagedPath(runID)
	if err != nil {
		return err
	}
	return removeIfThere(path)
}

// notOverNewer refuses to complete a run over the values of one that was started
// later and is finished.
func (a *app) notOverNewer(ctx context.Context, s graphStore, m *graphcloak.Model, kept staged, runID string) error {
	if !kept.Write.Enabled || a.config.Output.Force {
		return nil
	}
	runs, err := s.Runs(ctx)
	if err != nil {
		return err
	}
	digest := m.Graph.Digest()
	column := report.Outline(runID, kept.Write.Prefix, nil).RunIDColumn()
	for _, r := range runs { // run ids sort by time
		if r.ID > runID && r.Status == stores.Finished && r.RunIDColumn == column && r.Graph == hex.EncodeToString(digest[:]) {
			return fail(exitConflict, "run %s was finished on this graph since", r.ID).
				hint("--force replaces its values; `graphcloak run --undo %s` gives this run up", runID).about("run", r.ID)
		}
	}
	return nil
}

// resume completes a run from its staged release.
func (a *app) resume(ctx context.Context, s graphStore, runID string) error {
	path, err := stagedPath(runID)
	if err != nil {
		return err
	}
	data, err := disk.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitNotFound, "nothing is kept of run %s", runID).
			hint("it is finished, or it was started by another user or on another machine; --undo %s removes what it wrote", runID).about("run", runID)
	}
	if err != nil {
		return err
	}
	var kept staged
	if err := strictjson.Unmarshal(data, &kept); err != nil {
		return fail(exitValidation, "read %s: %w", path, err)
	}
	if kept.Release == nil {
		return fail(exitValidation, "read %s: there is no release in it", path)
	}
	a.agreeQueries(&kept.Release.Model)
	options, err := recoverOptions(kept.Recovery, kept.Community)
	if err != nil {
		return err
	}
	m, err := graphcloak.Load(ctx, s, kept.Release.Model, loadOptions(a))
	if err != nil {
		return err
	}
	if err := a.notOverNewer(ctx, s, m, kept, runID); err != nil {
		return err
	}
	job := graphcloak.Job{
		Settings: kept.Release.Model, Signal: kept.Signal, Scope: kept.Scope, Recover: options, Write: kept.Write,
		RunID: runID, Version: readBuild().Version, Configuration: kept.Configuration,
	}
	if kept.ReleaseOnly {
		if err := a.showRelease(kept.Release); err != nil {
			return err
		}
		return a.finishRelease(ctx, m, kept.Release, job)
	}
	rep, err := m.Complete(ctx, kept.Release, job)
	return a.conclude(job, rep, err)
}
