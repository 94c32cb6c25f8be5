// SPDX-License-Identifier: Apache-2.0

// Package folder keeps a graph in two files, and runs and the ledger beside
// them. It is a full store: it takes the write-back and the ledger.
//
// Start with [New]. nodes.csv has a column id and any properties; a column labels
// may hold labels separated by semicolons. relationships.csv has the columns
// source and target and any properties; a column type names the relationship
// type; relationships.parquet may stand in its place. An empty field is a missing property. What a run writes becomes columns
// of nodes.csv; runs and the ledger are in .graphcloak/store.db. [CSV] reads the
// same files from any file system.
package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/database"
	"github.com/graphcloak/graphcloak/internal/disk"
)

// stateDir holds what is not the user's: stateFile, a bbolt database, and writeFile,
// which the writer of nodes.csv has locked.
const (
	stateDir  = ".graphcloak"
	stateFile = "store.db"
	writeFile = "write.lock"
)

// lockPause is the time between two looks at a lock that another process holds.
const lockPause = 20 * time.Millisecond

// Options says how to open a folder.
type Options struct {
	Progress func(stage string, done, total int64) // nil: silent
	// LockWait bounds the wait for another process that uses the state of the same folder;
	// 0: 10 s. One that writes nodes.csv is waited for as long as the context lasts.
	LockWait time.Duration
	// Generated says that a program made the files: a column that it does not use is no slip.
	Generated bool
	Snapshot  string       // the file that the graph is mapped from; "": it is read from the relationships
	Memory    graph.Memory // that a graph is read into; nil: of the heap
}

// Store is a folder. It is safe for concurrent use, by several processes too.
type Store struct {
	CSV
	dir     string
	options Options
	db      sync.Mutex // one user of the state in this process; bbolt polls for the others
	checked bool       // the state was whole when it was first opened
}

// New opens a folder that holds nodes.csv and relationships, or nodes.csv and a snapshot. Nothing is created until
// a run is written or a spend recorded. It returns [connector.ErrNotFound] where there is
// no such folder, and [connector.ErrAuth] where it may not be read.
func New(ctx context.Context, dir string, o Options) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.LockWait <= 0 {
		o.LockWait = 10 * time.Second
	}
	s := &Store{dir: dir, options: o, CSV: CSV{
		FS: Dir(dir), Progress: o.Progress, generated: o.Generated, snapshot: o.Snapshot, memory: o.Memory,
	}}
	wanted := []string{nodesFile, relationshipsFile}
	if o.Snapshot != "" {
		wanted = wanted[:1]
	}
	for _, name := range wanted {
		file, _, err := s.find(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, &hinted{fmt.Errorf("%w: %s holds no %s", connector.ErrNotFound, dir, name), layoutHint}
		case errors.Is(err, fs.ErrPermission):
			return nil, fmt.Errorf("%w: %w", connector.ErrAuth, err)
		case err != nil:
			return nil, err
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Name returns folder:DIR with the absolute path, links resolved: one folder has
// one name, so that its budget does not double.
func (s *Store) Name() string {
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		dir = s.dir
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return "folder:" + filepath.ToSlash(dir)
}

// Close releases the folder; there is nothing to release between calls.
func (s *Store) Close(context.Context) error { return nil }

// view runs a read transaction on the state; without a state, f gets nil.
func (s *Store) view(f func(*bolt.Tx) error) error {
	return s.state(true, f)
}

// update runs a transaction that may write; it is on disk when update returns nil.
func (s *Store) update(f func(*bolt.Tx) error) error {
	return s.state(false, f)
}

// writing makes the caller the one writer of nodes.csv, over all processes, from before
// it looks at the file until what it wrote is recorded: a copy that another writer
// replaced in between would take the other's values away.
func (s *Store) writing(ctx context.Context) (done func(), err error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := s.makeState(root, false); err != nil {
		return nil, err
	}
	for {
		lock, err := disk.LockIn(root, filepath.Join(stateDir, writeFile))
		if err == nil {
			return func() { lock.Close() }, nil
		}
		if !errors.Is(err, disk.ErrLocked) {
			return nil, fmt.Errorf("%s: %w", filepath.Join(s.dir, stateDir, writeFile), writeError(err))
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: another process writes %s", ctx.Err(), filepath.Join(s.dir, nodesFile))
		}
	}
}

// makeState makes the folder of the state where it is to be written and is not there.
func (s *Store) makeState(root *os.Root, readOnly bool) error {
	if info, err := root.Lstat(stateDir); err == nil && !info.IsDir() {
		return fmt.Errorf("%w: %s is no folder", connector.ErrInput, filepath.Join(s.dir, stateDir))
	}
	if readOnly {
		return nil
	}
	if err := root.Mkdir(stateDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return writeError(err)
	}
	return nil
}

// state opens the database for one transaction, so that several processes can
// take turns: bbolt locks the file while it is open. No link leads it out of the
// folder.
func (s *Store) state(readOnly bool, f func(*bolt.Tx) error) (err error) {
	s.db.Lock()
	defer s.db.Unlock()
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := s.makeState(root, readOnly); err != nil {
		return err
	}
	db, err := database.Open(root, filepath.Join(stateDir, stateFile), database.Options{
		ReadOnly: readOnly, Wait: s.options.LockWait, Checked: s.checked,
	})
	switch {
	case readOnly && errors.Is(err, fs.ErrNotExist):
		return f(nil)
	case errors.Is(err, bolterrors.ErrTimeout):
		return fmt.Errorf("%w: another process holds %s", connector.ErrTransient, filepath.Join(s.dir, stateDir, stateFile))
	case err != nil:
		return fmt.Errorf("%s: %w", filepath.Join(s.dir, stateDir), writeError(err))
	}
	s.checked = true
	defer func() { err = errors.Join(err, db.Close()) }()
	if readOnly {
		return db.View(f)
	}
	return db.Update(f)
}

// writeError maps an error of the file system to one of package connector.
func writeError(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: %w", connector.ErrReadOnly, err)
	}
	return err
}
