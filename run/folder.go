// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/internal/disk"
)

// Folder is where runs are kept as files, each beside a lock that the process at it holds. A run takes its lock by
// [Folder.Take], and is [Held] from then on.
type Folder string

// Errors of a [Folder].
var (
	ErrBadRunID = errors.New("run: a run id is 1 to 64 letters, digits and hyphens")
	ErrUnderWay = errors.New("run: another process is at the run")
	ErrNotKept  = errors.New("run: nothing is kept of the run")
)

// maxKept bounds a file that is read, in bytes: 40 million sensors of 400, so that what was paid for can be read again.
const maxKept = 1 << 34

// State is what a folder says of a run.
type State int

// The states of a run.
const (
	Unknown State = iota // it was begun elsewhere, or is complete
	Running              // a process is at it
	Stopped              // it was interrupted
)

// Held is a run whose lock this process holds; its Keep is a job's.
type Held struct {
	id     string
	folder Folder
	lock   io.Closer
}

// Files of a run.
const (
	keptFile = ".json"
	lockFile = ".lock"
	roomFile = ".room"
)

func (f Folder) path(runID, ext string) string { return filepath.Join(string(f), runID+ext) }

// Path is the file of a run: [ErrBadRunID].
func (f Folder) Path(runID string) (string, error) {
	if !regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`).MatchString(runID) {
		return "", fmt.Errorf("%w: %q", ErrBadRunID, runID)
	}
	return f.path(runID, keptFile), nil
}

// Take takes the lock of a run, of which nothing need be kept yet: [ErrUnderWay], [ErrBadRunID].
func (f Folder) Take(runID string) (*Held, error) {
	if _, err := f.Path(runID); err != nil {
		return nil, err
	}
	lock, err := disk.Lock(f.path(runID, lockFile))
	if errors.Is(err, disk.ErrLocked) {
		return nil, fmt.Errorf("%w %s", ErrUnderWay, runID)
	}
	if err != nil {
		return nil, err
	}
	return &Held{runID, f, lock}, nil
}

// Read returns what is kept of a run. Who is to go on with it takes its lock first, for its last holder may have changed it.
// [ErrNotKept], [ErrBadRunID], [strictjson.ErrInvalid].
func (f Folder) Read(runID string) (*Kept, error) {
	path, err := f.Path(runID)
	if err != nil {
		return nil, err
	}
	data, err := disk.Read(path, maxKept)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w %s", ErrNotKept, runID)
	}
	if err != nil {
		return nil, err
	}
	return readKept(data)
}

// Resume takes a run and reads what is kept of it. Where that cannot be read the run is held all the same; where nothing is
// kept, it is not. The errors are those of [Folder.Take] and [Folder.Read].
func (f Folder) Resume(runID string) (*Held, *Kept, error) {
	path, err := f.Path(runID)
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%w %s", ErrNotKept, runID)
	} else if err != nil {
		return nil, nil, err
	}
	held, err := f.Take(runID)
	if err != nil {
		return nil, nil, err
	}
	k, err := f.Read(runID)
	if errors.Is(err, ErrNotKept) { // it has ended meanwhile
		return nil, nil, errors.Join(err, held.Forget())
	}
	return held, k, err
}

// State looks at the lock of a run.
func (f Folder) State(runID string) State {
	path, err := f.Path(runID)
	if err != nil {
		return Unknown
	}
	if _, err := os.Stat(path); err != nil {
		return Unknown
	}
	lock, err := disk.Lock(f.path(runID, lockFile))
	if err != nil {
		return Running
	}
	lock.Close()
	return Stopped
}

// Runs lists the ids of the runs that are kept, oldest first.
func (f Folder) Runs() ([]string, error) {
	files, err := filepath.Glob(f.path("*", keptFile))
	for i, name := range files {
		files[i] = strings.TrimSuffix(filepath.Base(name), keptFile)
	}
	slices.Sort(files)
	return files, err
}

// ID is the run's.
func (h *Held) ID() string { return h.id }

// Keep keeps the run: a [Job] calls it. With the attempt it holds room on the disk for the release.
func (h *Held) Keep(k *Kept) error {
	if err := h.write(k); err != nil || k.Attempt == nil {
		return err
	}
	info, err := os.Stat(h.folder.path(h.id, keptFile))
	if err != nil {
		return err
	}
	return disk.Hold(h.folder.path(h.id, roomFile), releaseSize(info.Size(), k.Values()))
}

// releaseSize bounds the size of what is kept of a drawn release, in bytes: ids, plan and model are in the
// attempt too, and each of m values has 20 digits of X, 24 of ỹ and a nonce of 32.
func releaseSize(attempt int64, m int) int64 { return 2*attempt + 160*int64(m) + 1<<16 }

// write replaces what is kept, into the room that is held for it.
func (h *Held) write(k *Kept) error {
	data, err := k.document()
	if err != nil {
		return err
	}
	if err := removeIfExists(h.folder.path(h.id, roomFile)); err != nil {
		return err
	}
	return disk.Write(h.folder.path(h.id, keptFile), disk.Options{Mode: 0o600, Replace: true}, func(w io.Writer) error {
		to := bufio.NewWriter(w) // for the short ones; the long ones go through
		for _, p := range data {
			if _, err := to.Write(p); err != nil {
				return err
			}
		}
		return to.Flush()
	})
}

// Close lets go of a run that stays as it is.
func (h *Held) Close() error { return h.lock.Close() }

// Forget removes what is kept of a run, the file first: who finds a lock that is free finds nothing behind it.
func (h *Held) Forget() error {
	return errors.Join(removeIfExists(h.folder.path(h.id, keptFile)), removeIfExists(h.folder.path(h.id, roomFile)), h.Close(),
		removeIfExists(h.folder.path(h.id, lockFile)))
}

func removeIfExists(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
