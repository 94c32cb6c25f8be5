// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// memory keeps everything in maps. Its clock is the host's, less what skew says.
type memory struct {
	mu    sync.Mutex
	skew  time.Duration
	down  error // what every method returns; nil: the store works
	ticks map[string][]Claim
	kept  map[string]Standing
	runs  map[string]Run
}

func newMemory() *memory {
	return &memory{ticks: make(map[string][]Claim), kept: make(map[string]Standing), runs: make(map[string]Run)}
}

func (m *memory) now() time.Time { return time.Now().Add(m.skew).UTC().Truncate(time.Millisecond) }

func (m *memory) Now(context.Context) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now(), m.down
}

// change applies a rule to the latest record of a job.
func (m *memory) change(ctx context.Context, name string, rule func(latest Claim) (Claim, error)) (Claim, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := cmp.Or(m.down, ctx.Err()); err != nil {
		return Claim{}, err
	}
	all, latest := m.ticks[name], Claim{}
	if len(all) > 0 {
		latest = all[len(all)-1]
	}
	c, err := rule(latest)
	if err != nil {
		return Claim{}, err
	}
	if len(all) > 0 && c.NominalTime.Equal(latest.NominalTime) {
		all[len(all)-1] = c
	} else {
		m.ticks[name] = append(all, c)
	}
	return c, nil
}

func (m *memory) Claim(ctx context.Context, t Tick, by Holder, lease time.Duration) (Claim, error) {
	return m.change(ctx, t.JobName, func(latest Claim) (Claim, error) { return Admit(latest, t, by, m.now(), lease) })
}

func (m *memory) Renew(ctx context.Context, t Tick, token string, lease time.Duration) (Claim, error) {
	c, err := m.change(ctx, t.JobName, func(latest Claim) (Claim, error) { return latest.Renewed(t, token, m.now(), lease) })
	c.Saved = nil
	return c, err
}

func (m *memory) Save(ctx context.Context, t Tick, token string, saved []byte) error {
	_, err := m.change(ctx, t.JobName, func(latest Claim) (Claim, error) {
		latest.Saved = slices.Clone(saved)
		return latest, latest.Owned(t, token)
	})
	return err
}

func (m *memory) Yield(ctx context.Context, t Tick, token string, retryAt time.Time, message string) error {
	_, err := m.change(ctx, t.JobName, func(latest Claim) (Claim, error) { return latest.Yielded(t, token, retryAt, message) })
	return err
}

func (m *memory) Finish(ctx context.Context, t Tick, token string, o Outcome) error {
	_, err := m.change(ctx, t.JobName, func(latest Claim) (Claim, error) { return latest.Finished(t, token, o, m.now()) })
	return err
}

func (m *memory) Cancel(ctx context.Context, name string) (Tick, error) {
	c, err := m.change(ctx, name, func(latest Claim) (Claim, error) {
		if !latest.Open() {
			return Claim{}, ErrNoJob
		}
		latest.CancelRequested = true
		return latest, nil
	})
	return c.Tick, err
}

func (m *memory) Rewind(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	m.ticks[name] = slices.DeleteFunc(m.ticks[name], func(c Claim) bool { return !c.Open() && c.NominalTime.After(now) })
	for i, c := range m.ticks[name] {
		if c.NominalTime.After(now) {
			m.ticks[name][i].LeaseUntil, m.ticks[name][i].RetryAt = time.Time{}, time.Time{}
		}
	}
	return m.down
}

func (m *memory) Ticks(_ context.Context, q TickQuery) ([]Claim, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Claim
	for name, ticks := range m.ticks {
		if q.Latest && len(ticks) > 0 {
			ticks = ticks[len(ticks)-1:]
		}
		for _, c := range ticks {
			if (q.JobName == "" || q.JobName == name) && (!q.Open || c.Open()) {
				c.Saved = nil
				all = append(all, c)
			}
		}
	}
	slices.SortFunc(all, func(a, b Claim) int { return b.NominalTime.Compare(a.NominalTime) })
	if q.Limit > 0 && len(all) > q.Limit {
		all = all[:q.Limit]
	}
	return all, m.down
}

func (m *memory) Standings(context.Context, []string) (map[string]Standing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.kept), m.down
}

func (m *memory) Enlist(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.kept[name]; !ok && m.down == nil {
		m.kept[name] = Standing{Since: m.now()}
	}
	return m.down
}

func (m *memory) SetPaused(_ context.Context, name string, paused bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down == nil {
		m.kept[name] = Standing{Paused: paused, Since: m.now()}
	}
	return m.down
}

func (m *memory) PutRun(_ context.Context, r Run) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs[r.RunID] = r
	return m.down
}

func (m *memory) ListRuns(_ context.Context, q RunQuery) ([]Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Run
	for _, r := range m.runs {
		if q.JobName == "" || r.JobName == q.JobName {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Run) int { return b.StartedAt.Compare(a.StartedAt) })
	if q.Limit > 0 {
		list = list[:min(q.Limit, len(list))]
	}
	return list, m.down
}

func (m *memory) GetRun(context.Context, string) (Run, error)             { return Run{}, m.down }
func (m *memory) PruneRuns(_ context.Context, _ time.Time) (int64, error) { return 0, m.down }

// ended returns the nominal times of a job's ticks with a status.
func (m *memory) ended(name string, status Status) []time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []time.Time
	for _, c := range m.ticks[name] {
		if c.Status == status {
			all = append(all, c.NominalTime)
		}
	}
	return all
}
