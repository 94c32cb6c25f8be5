// SPDX-License-Identifier: Apache-2.0

// Package ledgertest holds the conformance suite that every ledger passes, and a
// ledger in memory that passes it. [Run] is the suite.
package ledgertest

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/graphcloak/graphcloak/privacy"
)

// Memory is a ledger in memory, for tests and simulations. The zero value is
// empty. It forgets everything when the program ends: it guards no real budget.
type Memory struct {
	mu     sync.Mutex
	id     string
	clock  func() time.Time
	scopes map[string]*scope
}

type scope struct {
	account privacy.Account
	entries []privacy.Entry
}

// Update implements privacy.Ledger.
func (m *Memory) Update(ctx context.Context, name, releaseID string, rule privacy.Rule) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	s := m.scopes[name]
	if s == nil {
		s = &scope{account: privacy.NewAccount(name)}
	}
	var prior []privacy.Entry
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
		m.scopes = make(map[string]*scope)
		m.id = rand.Text()
	}
	m.scopes[name] = s
	return nil
}

// Entries implements privacy.Ledger.
func (m *Memory) Entries(_ context.Context, name string) ([]privacy.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.scopes[name]; s != nil {
		return slices.Clone(s.entries), nil
	}
	return nil, nil
}

// Scopes implements privacy.Ledger.
func (m *Memory) Scopes(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.scopes)), nil
}

// SetClock gives the ledger another clock than the machine's.
func (m *Memory) SetClock(now func() time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock = now
}

// Now implements privacy.Ledger.
func (m *Memory) Now(ctx context.Context) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clock != nil {
		return m.clock(), ctx.Err()
	}
	return time.Now(), ctx.Err()
}

// Identity implements privacy.Ledger.
func (m *Memory) Identity(context.Context) (privacy.Identity, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return privacy.Identity{Ledger: m.id}, nil
}
