// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/jobs"
)

// state is what package jobs keeps.
type state struct {
	ticks map[string][]jobs.Claim // by name of the job, ascending
	board []map[string]any        // properties; a record's id is its place, counted from 1
	told  map[string]jobs.Run
}

// SetClock gives the store another clock than the machine's, for its ledger too.
func (s *Store) SetClock(now func() time.Time) { s.ledger.SetClock(now) }

// Jobs returns where jobs, their claims and the history of runs are kept.
func (s *Store) Jobs() jobs.Store {
	d := jobStore{s}
	return struct {
		connector.Claims
		jobStore
	}{connector.Claims{Decider: d}, d}
}

// jobStore implements [jobs.Board], [jobs.History] and, in [connector.Claims], [connector.Decider].
type jobStore struct{ s *Store }

// Now implements [jobs.Claims].
func (d jobStore) Now(ctx context.Context) (time.Time, error) { return d.s.Ledger().Now(ctx) }

// Decide implements [connector.Decider].
func (d jobStore) Decide(ctx context.Context, jobName string, _ bool, rule connector.Rule) (jobs.Claim, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	now, err := d.Now(ctx) // under the lock: a rule that waited for it judges by the time at which it is asked
	if err != nil {
		return jobs.Claim{}, err
	}
	ticks := d.s.jobs.ticks[jobName]
	var latest jobs.Claim
	if len(ticks) > 0 {
		latest = ticks[len(ticks)-1]
	}
	next, err := rule(now.UTC(), latest)
	if err != nil {
		return next, err
	}
	if !next.Open() {
		next.Saved = nil
	}
	next.Saved = slices.Clone(next.Saved)
	if len(ticks) > 0 && latest.NominalTime.Equal(next.NominalTime) {
		ticks[len(ticks)-1] = next
	} else {
		d.s.jobs.ticks[jobName] = append(ticks, next)
	}
	return next, nil
}

// RemoveAhead implements [connector.Decider].
func (d jobStore) RemoveAhead(ctx context.Context, jobName string) error {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	now, err := d.Now(ctx)
	if err == nil {
		d.s.jobs.ticks[jobName] = slices.DeleteFunc(d.s.jobs.ticks[jobName], func(c jobs.Claim) bool { return !c.Open() && c.NominalTime.After(now) })
	}
	return err
}

// checkFence asks the job's latest tick, where the context is that of one. The store is locked.
func (s *Store) checkFence(ctx context.Context) error {
	f, ok := jobs.FenceOf(ctx)
	if !ok {
		return nil
	}
	var latest jobs.Claim
	if ticks := s.jobs.ticks[f.JobName]; len(ticks) > 0 {
		latest = ticks[len(ticks)-1]
	}
	return f.Check(latest)
}

// Ticks implements [jobs.Claims].
func (d jobStore) Ticks(_ context.Context, q jobs.TickQuery) ([]jobs.Claim, error) {
	d.s.mu.RLock()
	defer d.s.mu.RUnlock()
	return connector.SelectTicks(d.s.jobs.allTicks(), q), nil
}

func (s *state) allTicks() []jobs.Claim {
	return slices.Concat(slices.Collect(maps.Values(s.ticks))...)
}

// File files a job and returns the id of its record. The properties are those that
// [jobs.Define] reads; paused and origin count too.
func (s *Store) File(properties map[string]any) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs.file(maps.Clone(properties))
}

func (s *state) file(properties map[string]any) string {
	s.board = append(s.board, properties)
	return strconv.Itoa(len(s.board))
}

// Jobs implements [jobs.Board].
func (d jobStore) Jobs(context.Context) ([]jobs.Filed, error) {
	d.s.mu.RLock()
	defer d.s.mu.RUnlock()
	var board []jobs.Filed
	for k, properties := range d.s.jobs.board {
		f := connector.FiledOf(properties)
		f.ID = strconv.Itoa(k + 1)
		board = append(board, f)
	}
	return connector.SortFiled(board), nil
}

// SetState implements [jobs.Board].
func (d jobStore) SetState(_ context.Context, t jobs.Target, s jobs.State) error {
	return d.set(t, connector.StateOf(s))
}

// SetPaused implements [jobs.Board].
func (d jobStore) SetPaused(_ context.Context, t jobs.Target, paused bool) error {
	return d.set(t, map[string]any{connector.PausedKey: paused})
}

func (d jobStore) set(t jobs.Target, shown map[string]any) error {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	for k, properties := range d.s.jobs.board {
		f := connector.FiledOf(properties)
		f.ID = strconv.Itoa(k + 1)
		if connector.IsTarget(f, t) {
			maps.Copy(properties, shown)
			return nil
		}
	}
	if t.ID != "" {
		return fmt.Errorf("%w: job %q", jobs.ErrNoJob, t.Name)
	}
	properties := map[string]any{"name": t.Name, connector.OriginKey: jobs.OriginSettings}
	maps.Copy(properties, shown)
	d.s.jobs.file(properties)
	return nil
}

// PutRun implements [jobs.History].
func (d jobStore) PutRun(_ context.Context, r jobs.Run) error {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	r.Report = slices.Clone(r.Report)
	d.s.jobs.told[r.RunID] = r
	return nil
}

// ListRuns implements [jobs.History].
func (d jobStore) ListRuns(_ context.Context, q jobs.RunQuery) ([]jobs.Run, error) {
	d.s.mu.RLock()
	defer d.s.mu.RUnlock()
	return connector.SelectRuns(d.s.history(), q), nil
}

func (s *Store) history() []jobs.Run { return connector.History(s.jobs.told, s.allRuns()) }

// GetRun implements [jobs.History].
func (d jobStore) GetRun(_ context.Context, runID string) (jobs.Run, error) {
	d.s.mu.RLock()
	defer d.s.mu.RUnlock()
	for _, r := range d.s.history() {
		if r.RunID == runID {
			return r, nil
		}
	}
	return jobs.Run{}, fmt.Errorf("%w: run %q", jobs.ErrNoJob, runID)
}

// PruneRuns implements [jobs.History].
func (d jobStore) PruneRuns(_ context.Context, before time.Time) (int64, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	ids := connector.Prunable(d.s.history(), d.s.allRuns(), before)
	for _, id := range ids {
		if run, ok := d.s.runs[id]; ok {
			d.s.remove(run)
		}
		delete(d.s.runs, id)
		delete(d.s.jobs.told, id)
	}
	for _, t := range connector.PrunableTicks(d.s.jobs.allTicks(), before) {
		d.s.jobs.ticks[t.JobName] = slices.DeleteFunc(d.s.jobs.ticks[t.JobName], func(c jobs.Claim) bool { return c.NominalTime.Equal(t.NominalTime) })
	}
	return int64(len(ids)), nil
}
