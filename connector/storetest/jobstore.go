// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/jobs"
)

// JobStore keeps jobs, their claims and a history in memory, by the clock of this machine:
// for tests of what runs jobs, without a server.
type JobStore struct {
	connector.Claims
	*jobState
}

type jobState struct {
	mu    sync.Mutex
	skew  time.Duration
	ticks map[string][]jobs.Claim // by name of the job, ascending
	board map[string]jobs.Standing
	runs  map[string]jobs.Run
}

// NewJobStore returns an empty store.
func NewJobStore() JobStore {
	s := &jobState{ticks: map[string][]jobs.Claim{}, board: map[string]jobs.Standing{}, runs: map[string]jobs.Run{}}
	return JobStore{connector.Claims{Decider: s}, s}
}

// Jump sets the store's clock so far ahead of this machine's.
func (s *jobState) Jump(skew time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skew = skew
}

// Now implements [jobs.Claims].
func (s *jobState) Now(context.Context) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now(), nil
}

func (s *jobState) now() time.Time { return time.Now().Add(s.skew).UTC() }

// Decide implements [connector.Decider].
func (s *jobState) Decide(_ context.Context, jobName string, _ bool, rule connector.Rule) (jobs.Claim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ticks := s.ticks[jobName]
	var latest jobs.Claim
	if len(ticks) > 0 {
		latest = ticks[len(ticks)-1]
	}
	next, err := rule(s.now(), latest) // under the lock: a rule that waited for it judges by the time at which it is asked
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
		s.ticks[jobName] = append(ticks, next)
	}
	return next, nil
}

// RemoveAhead implements [connector.Decider].
func (s *jobState) RemoveAhead(_ context.Context, jobName string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.ticks[jobName] = slices.DeleteFunc(s.ticks[jobName], func(c jobs.Claim) bool { return !c.Open() && c.NominalTime.After(now) })
	return nil
}

// Fence asks for the fence of a context, as a store does within each spend and write.
func (s *jobState) Fence(ctx context.Context) error {
	f, ok := jobs.FenceOf(ctx)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var latest jobs.Claim
	if ticks := s.ticks[f.JobName]; len(ticks) > 0 {
		latest = ticks[len(ticks)-1]
	}
	return f.Check(latest)
}

// Ticks implements [jobs.Claims].
func (s *jobState) Ticks(_ context.Context, q jobs.TickQuery) ([]jobs.Claim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return connector.SelectTicks(slices.Concat(slices.Collect(maps.Values(s.ticks))...), q), nil
}

// Standings implements [jobs.Board].
func (s *jobState) Standings(_ context.Context, names []string) (map[string]jobs.Standing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := make(map[string]jobs.Standing)
	for _, name := range names {
		if standing, ok := s.board[name]; ok {
			kept[name] = standing
		}
	}
	return kept, nil
}

// Enlist implements [jobs.Board].
func (s *jobState) Enlist(_ context.Context, jobName string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.board[jobName]; !ok {
		s.board[jobName] = jobs.Standing{Since: s.now()}
	}
	return nil
}

// SetPaused implements [jobs.Board].
func (s *jobState) SetPaused(_ context.Context, jobName string, paused bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.board[jobName] = jobs.Standing{Paused: paused, Since: s.now()}
	return nil
}

// PutRun implements [jobs.History].
func (s *jobState) PutRun(_ context.Context, r jobs.Run) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Report = slices.Clone(r.Report)
	s.runs[r.RunID] = r
	return nil
}

// ListRuns implements [jobs.History].
func (s *jobState) ListRuns(_ context.Context, q jobs.RunQuery) ([]jobs.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return connector.SelectRuns(slices.Collect(maps.Values(s.runs)), q), nil
}

// GetRun implements [jobs.History].
func (s *jobState) GetRun(_ context.Context, runID string) (jobs.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.runs[runID]; ok {
		return r, nil
	}
	return jobs.Run{}, fmt.Errorf("%w: run %q", jobs.ErrNoJob, runID)
}

// PruneRuns implements [jobs.History]: it keeps all.
func (s *jobState) PruneRuns(context.Context, time.Time) (int64, error) { return 0, nil }
