// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
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
	ticks map[string][]jobs.Claim // by name of the job, ascending
	board []map[string]any        // properties; a record's id is its place, counted from 1
	runs  map[string]jobs.Run
}

// NewJobStore returns an empty store.
func NewJobStore() JobStore {
	s := &jobState{ticks: map[string][]jobs.Claim{}, runs: map[string]jobs.Run{}}
	return JobStore{connector.Claims{Decider: s}, s}
}

// Now implements [jobs.Claims].
func (s *jobState) Now(context.Context) (time.Time, error) { return time.Now().UTC(), nil }

// Decide implements [connector.Decider].
func (s *jobState) Decide(_ context.Context, jobName string, _ bool, rule connector.Rule) (jobs.Claim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ticks := s.ticks[jobName]
	var latest jobs.Claim
	if len(ticks) > 0 {
		latest = ticks[len(ticks)-1]
	}
	next, err := rule(time.Now().UTC(), latest) // under the lock: a rule that waited for it judges by the time at which it is asked
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
	now := time.Now()
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

// File files a job and returns the id of its record. The properties are those that
// [jobs.Define] reads; paused and origin count too.
func (s *jobState) File(properties map[string]any) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.board = append(s.board, maps.Clone(properties))
	return strconv.Itoa(len(s.board))
}

// Jobs implements [jobs.Board].
func (s *jobState) Jobs(context.Context) ([]jobs.Filed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return connector.SortFiled(s.filed()), nil
}

func (s *jobState) filed() (board []jobs.Filed) {
	for k, properties := range s.board {
		f := connector.FiledOf(properties)
		f.ID = strconv.Itoa(k + 1)
		board = append(board, f)
	}
	return board
}

// SetState implements [jobs.Board].
func (s *jobState) SetState(_ context.Context, t jobs.Target, state jobs.State) error {
	return s.set(t, connector.StateOf(state))
}

// SetPaused implements [jobs.Board].
func (s *jobState) SetPaused(_ context.Context, t jobs.Target, paused bool) error {
	return s.set(t, map[string]any{connector.PausedKey: paused})
}

func (s *jobState) set(t jobs.Target, shown map[string]any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, f := range s.filed() {
		if t.ID != "" && f.ID == t.ID || t.ID == "" && f.Origin == jobs.OriginSettings && f.Name == t.Name {
			maps.Copy(s.board[k], shown)
			return nil
		}
	}
	if t.ID != "" {
		return fmt.Errorf("%w: job %q", jobs.ErrNoJob, t.Name)
	}
	properties := map[string]any{"name": t.Name, connector.OriginKey: jobs.OriginSettings}
	maps.Copy(properties, shown)
	s.board = append(s.board, properties)
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
