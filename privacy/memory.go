// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"
)

// MemoryLedger is a ledger in memory. The zero value is empty; it is safe for
// concurrent use. It forgets everything when the program ends, so it guards a budget
// no longer than that.
type MemoryLedger struct {
	mu     sync.Mutex
	id     string
	scopes map[string]*memoryScope
}

type memoryScope struct {
	account Account
	entries []Entry
}

// Update is that of [Ledger]. It returns the errors of rule and of [Replay].
func (m *MemoryLedger) Update(ctx context.Context, name, releaseID string, rule Rule) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	s := m.scopes[name]
	if s == nil {
		s = &memoryScope{account: NewAccount(name)}
	}
	var prior []Entry
	for _, e := range s.entries {
		if releaseID != "" && e.ReleaseID == releaseID {
			prior = append(prior, e)
		}
	}
	e, err := rule(s.account, prior)
	if err != nil || e == nil {
		return err
	}
	next, err := s.account.Append(*e)
	if err != nil {
		return err
	}
	s.account, s.entries = next, append(s.entries, *e)
	if m.scopes == nil {
		m.scopes = make(map[string]*memoryScope)
		m.id = rand.Text()
	}
	m.scopes[name] = s
	return nil
}

// Entries is that of [Ledger].
func (m *MemoryLedger) Entries(_ context.Context, name string) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.scopes[name]; s != nil {
		return slices.Clone(s.entries), nil
	}
	return nil, nil
}

// All is that of [Ledger].
func (m *MemoryLedger) All(context.Context) (map[string][]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[string][]Entry)
	for name, s := range m.scopes {
		all[name] = slices.Clone(s.entries)
	}
	return all, nil
}

// Scopes is that of [Ledger].
func (m *MemoryLedger) Scopes(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.scopes)), nil
}

// Now is that of [Ledger].
func (m *MemoryLedger) Now(ctx context.Context) (time.Time, error) {
	return time.Now(), ctx.Err()
}

// Identity is that of [Ledger].
func (m *MemoryLedger) Identity(context.Context) (Identity, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Identity{Ledger: m.id}, nil
}
