// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
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

// witness keeps high-water marks of ledgers in the state folder: a file for each
// name of a ledger and scope.
type witness struct{}

// markFile says whose mark it is, for the reader.
type markFile struct {
	Ledger string       `json:"ledger"`
	Scope  string       `json:"budgetScope"`
	Mark   privacy.Mark `json:"mark"`
}

// maxMark bounds a file of marks in bytes: a million entries.
const maxMark = 128 << 20

// Marks implements [privacy.Witness].
func (witness) Marks(names []string, scope string) ([]privacy.Mark, error) {
	var marks []privacy.Mark
	for _, name := range names {
		dir, err := markDir(name)
		if err != nil {
			return nil, err
		}
		m, err := readMark(filepath.Join(dir, fingerprint(scope)+".json"))
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

// Put implements [privacy.Witness].
func (witness) Put(names []string, scope string, m privacy.Mark) error {
	for _, name := range names {
		if err := putMark(name, scope, m); err != nil {
			return err
		}
	}
	return nil
}

// putMark replaces a mark that m follows, under a lock.
func putMark(name, scope string, m privacy.Mark) error {
	dir, err := markDir(name)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, fingerprint(scope)+".json")
	lock, err := waitForLock(path + ".lock")
	if err != nil {
		return err
	}
	defer lock.Close()
	before, err := readMark(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if seen := before.Mark.Account; err == nil && seen.Entries == m.Account.Entries && seen.Head == m.Account.Head {
		return nil // it is there
	}
	if further, err := m.Follows(before.Mark); err != nil || !further {
		return err
	}
	data, err := json.Marshal(markFile{name, scope, m})
	if err != nil {
		return err
	}
	return disk.Write(path, disk.Options{Mode: 0o600, Replace: true}, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// waitForLock takes a lock that is held for as long as a mark takes to be written.
func waitForLock(path string) (*os.File, error) {
	for end := time.Now().Add(lockTime); ; time.Sleep(5 * time.Millisecond) {
		lock, err := disk.Lock(path)
		if !errors.Is(err, disk.ErrLocked) || time.Now().After(end) {
			return lock, err
		}
	}
}

const lockTime = 10 * time.Second

// Scopes implements [privacy.Witness], in ascending order.
func (witness) Scopes(names []string) ([]string, error) {
	var scopes []string
	for _, name := range names {
		dir, err := markDir(name)
		if err != nil {
			return nil, err
		}
		paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			m, err := readMark(path)
			if err != nil {
				return nil, err
			}
			scopes = append(scopes, m.Scope)
		}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes), nil
}

// forget drops what is remembered of a scope under one name.
func (witness) forget(name, scope string) error {
	dir, err := markDir(name)
	if err != nil {
		return err
	}
	return removeIfExists(filepath.Join(dir, fingerprint(scope)+".json"))
}

func readMark(path string) (m markFile, err error) {
	data, err := disk.Read(path, maxMark)
	if err != nil {
		return m, err
	}
	if err := strictjson.Unmarshal(data, &m); err != nil {
		return m, fail(exitConflict, "the high-water mark %s cannot be read: %w", path, err).
			hint("restore the file; without it nobody here knows whether the ledger went back")
	}
	return m, nil
}

func markDir(name string) (string, error) { return stateDir("ledgers", fingerprint(name)) }

// fingerprint makes a file name of a name that may hold anything.
func fingerprint(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:12])
}

// watchedStore is a store whose ledger is held against the high-water marks.
type watchedStore struct {
	graphStore
	ledger privacy.Ledger
}

func (s watchedStore) Ledger() privacy.Ledger { return s.ledger }

// unwatched is the store itself, which may be able to do more than the others.
func unwatched(s graphStore) graphStore {
	if w, ok := s.(watchedStore); ok {
		return w.graphStore
	}
	return s
}

// watch holds the ledger of a store against what this machine has seen of it.
func (a *app) watch(s graphStore) graphStore {
	return watchedStore{s, a.watchLedger(s.Ledger())}
}

func (a *app) watchLedger(l privacy.Ledger) privacy.Ledger {
	return privacy.Watch(l, witness{}, func(err error) {
		a.warn("the ledger was written, and its high-water mark was not: %v", err)
	})
}
