// SPDX-License-Identifier: Apache-2.0

// Package highwater keeps in a folder how far the chains of ledgers had come when this machine last saw them, as a
// [privacy.HighWater]: a ledger that was restored from an older copy, or cloned, has forgotten spends, and is refused.
package highwater

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
)

var (
	// ErrUnreadable is of a mark that cannot be read: nobody here knows whether its ledger went back.
	ErrUnreadable = errors.New("a high-water mark cannot be read")
	// ErrSameLedger is of marks that are to be forgotten while their own ledger is there.
	ErrSameLedger = errors.New("this very ledger has lost entries; it is no other data")
)

// Folder holds a folder for each name of a ledger, and in it a file for each scope.
type Folder string

// file says whose mark it is, for the reader.
type file struct {
	Ledger string       `json:"ledger"`
	Scope  string       `json:"budgetScope"`
	Mark   privacy.Mark `json:"mark"`
}

const (
	maxFile  = 128 << 20 // of a mark in bytes: a million entries
	lockTime = 10 * time.Second
)

// Marks implements [privacy.HighWater].
func (f Folder) Marks(names []string, scope string) ([]privacy.Mark, error) {
	var marks []privacy.Mark
	for _, name := range names {
		m, err := read(f.path(name, scope))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		marks = append(marks, m.Mark)
	}
	return marks, nil
}

// Put implements [privacy.HighWater].
func (f Folder) Put(names []string, scope string, m privacy.Mark) error {
	for _, name := range names {
		if err := f.put(name, scope, m); err != nil {
			return err
		}
	}
	return nil
}

// put replaces a mark that m follows, under a lock.
func (f Folder) put(name, scope string, m privacy.Mark) error {
	path := f.path(name, scope)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock, err := wait(path + ".lock")
	if err != nil {
		return err
	}
	defer lock.Close()
	before, err := read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if seen := before.Mark.Account; err == nil && seen.Entries == m.Account.Entries && seen.Head == m.Account.Head {
		return nil // it is there
	}
	if further, err := m.Follows(before.Mark); err != nil || !further {
		return err
	}
	data, err := json.Marshal(file{name, scope, m})
	if err != nil {
		return err
	}
	return disk.Write(path, disk.Options{Mode: 0o600, Replace: true}, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// wait takes a lock that is held for as long as a mark takes to be written.
func wait(path string) (*os.File, error) {
	for end := time.Now().Add(lockTime); ; time.Sleep(5 * time.Millisecond) {
		lock, err := disk.Lock(path)
		if !errors.Is(err, disk.ErrLocked) || time.Now().After(end) {
			return lock, err
		}
	}
}

// Scopes implements [privacy.HighWater], in ascending order.
func (f Folder) Scopes(names []string) ([]string, error) {
	var scopes []string
	for _, name := range names {
		paths, err := filepath.Glob(filepath.Join(f.dir(name), "*.json"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			m, err := read(path)
			if err != nil {
				return nil, err
			}
			scopes = append(scopes, m.Scope)
		}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes), nil
}

// Check holds a ledger against what was seen of it, scopes that are gone included, with [privacy.ErrRollback].
func (f Folder) Check(ctx context.Context, l privacy.Ledger) error {
	return f.each(ctx, l, func(_ privacy.Identity, _, scope string, m privacy.Mark, entries []privacy.Entry) error {
		return m.Check(scope, entries)
	})
}

// each visits every mark of a ledger, with the entries of its scope.
func (f Folder) each(ctx context.Context, l privacy.Ledger,
	visit func(id privacy.Identity, name, scope string, m privacy.Mark, entries []privacy.Entry) error,
) error {
	id, err := l.Identity(ctx)
	if err != nil {
		return err
	}
	scopes, err := f.Scopes(id.Names())
	if err != nil {
		return err
	}
	for _, scope := range scopes {
		for _, name := range id.Names() {
			marks, err := f.Marks([]string{name}, scope)
			if err != nil {
				return err
			}
			entries, err := l.Entries(ctx, scope)
			if err != nil {
				return err
			}
			for _, m := range marks {
				if err := visit(id, name, scope, m, entries); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Lost is a scope whose chain went back.
type Lost struct {
	Scope  string         `json:"budgetScope"`
	Head   privacy.Digest `json:"lostHead"`
	Booked float64        `json:"bookedRho"`
}

// Reconcile books what the chains of a ledger have lost, by [privacy.Reconcile], and returns the scopes. Where other data
// are in the place of those that were spent from, the marks of a ledger that is gone are forgotten instead; those of l
// itself are refused with [ErrSameLedger].
func (f Folder) Reconcile(ctx context.Context, l privacy.Ledger, otherData bool) ([]Lost, error) {
	lost, scopes := []Lost{}, []string{}
	err := f.each(ctx, l, func(id privacy.Identity, name, scope string, m privacy.Mark, entries []privacy.Entry) (err error) {
		scopes = append(scopes, scope)
		if m.Check(scope, entries) == nil {
			return nil
		}
		var booked privacy.Cost
		switch {
		case otherData && name == id.Ledger:
			return fmt.Errorf("%w: scope %q", ErrSameLedger, scope)
		case otherData:
			err = os.Remove(f.path(name, scope))
		default:
			booked, err = privacy.Reconcile(ctx, l, scope, m)
		}
		lost = append(lost, Lost{scope, m.Account.Head, booked.Rho()})
		return err
	})
	if err != nil {
		return nil, err
	}
	watched := privacy.Watch(l, f, func(error) {})
	for _, scope := range scopes {
		if _, err := watched.Entries(ctx, scope); err != nil { // the mark is now that of the chain
			return nil, err
		}
	}
	return lost, nil
}

func read(path string) (m file, err error) {
	data, err := disk.Read(path, maxFile)
	if err != nil {
		return m, err
	}
	if err := strictjson.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%w: %s: %w", ErrUnreadable, path, err)
	}
	return m, nil
}

func (f Folder) dir(name string) string { return filepath.Join(string(f), fingerprint(name)) }

func (f Folder) path(name, scope string) string {
	return filepath.Join(f.dir(name), fingerprint(scope)+".json")
}

// fingerprint makes a file name of a name that may hold anything.
func fingerprint(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:12])
}
