// SPDX-License-Identifier: Apache-2.0

// Package database opens embedded databases that may be damaged.
//
// bbolt maps its file into memory and believes what it finds there: a truncated
// file, a page of zeros or of anything else ends the process, or never ends. Here
// every page that a database reaches is looked at before the first transaction,
// and damage that is found later is an error too, [ErrDamaged].
package database

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/graphcloak/graphcloak/internal/disk"
)

// Options says how to open a database.
type Options struct {
	ReadOnly bool
	Wait     time.Duration // for another process that has it open
	Checked  bool          // this process looked at its pages before
}

// DB is an open database. Its transactions are bbolt's.
type DB struct {
	bolt *bbolt.DB
	file *os.File
	lost bool // a transaction ended in the midst: bbolt may hold its locks
}

// Open opens a file of a folder, and makes it where it is missing and may be
// written. The error is bbolt's ErrTimeout where another process has it open.
func Open(root *os.Root, name string, o Options) (*DB, error) {
	switch info, err := root.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist) && !o.ReadOnly:
		if err := create(root, name); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is no regular file", disk.ErrRefused, info.Name())
	case info.Size() == 0: // bbolt would start empty, and forget what was spent
		return nil, fmt.Errorf("%w: %s is empty", ErrDamaged, name)
	}
	if !o.Checked {
		if err := look(root, name, o.Wait); err != nil {
			return nil, err
		}
	}
	return open(root, name, o)
}

// look checks a database before anybody may write to it.
func look(root *os.Root, name string, wait time.Duration) error {
	d, err := open(root, name, Options{ReadOnly: true, Wait: wait})
	if err != nil {
		return err
	}
	if err := errors.Join(d.View(d.check), d.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// check refuses a database whose file is shorter than it says, or whose tree
// leaves it, meets itself, or has a page of another kind.
func (d *DB) check(tx *bbolt.Tx) error {
	size := int64(d.bolt.Info().PageSize)
	info, err := d.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < tx.Size() {
		return fmt.Errorf("%w: it has %d bytes of %d", ErrDamaged, info.Size(), tx.Size())
	}
	w := walk{file: d.file, size: size, pages: uint64(tx.Size() / size), seen: make(map[uint64]bool)}
	if err := w.page(uint64(tx.Cursor().Bucket().Root())); err != nil {
		return err
	}
	return w.free(uint64(tx.ID()))
}

// create makes an empty database under another name first: a file under this one
// is whole.
func create(root *os.Root, name string) error {
	temp := name + "." + strconv.FormatUint(rand.Uint64(), 36) + ".new"
	d, err := open(root, temp, Options{})
	if err != nil {
		return err
	}
	if err := d.Close(); err != nil {
		return err
	}
	if err := root.Link(temp, name); err != nil {
		if _, there := root.Lstat(name); there != nil { // no hard links here
			return root.Rename(temp, name)
		}
	}
	return root.Remove(temp)
}

func open(root *os.Root, name string, o Options) (*DB, error) {
	d := &DB{}
	options := &bbolt.Options{Timeout: o.Wait, ReadOnly: o.ReadOnly}
	options.OpenFile = func(_ string, flag int, mode fs.FileMode) (f *os.File, err error) {
		d.file, err = root.OpenFile(name, flag, mode)
		return d.file, err
	}
	err := d.guard(func() (err error) {
		d.bolt, err = bbolt.Open(name, 0o600, options)
		return err
	})
	if err == nil {
		return d, nil
	}
	if d.lost {
		err = errors.Join(err, d.Close())
	}
	if _, system := errors.AsType[syscall.Errno](err); !system && !errors.Is(err, berrors.ErrTimeout) && !errors.Is(err, ErrDamaged) {
		err = fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	return nil, err
}

// View runs a transaction that reads.
func (d *DB) View(f func(*bbolt.Tx) error) error {
	return d.guard(func() error { return d.bolt.View(f) })
}

// Update runs a transaction that may write; it is on disk when Update returns nil.
func (d *DB) Update(f func(*bbolt.Tx) error) error {
	return d.guard(func() error { return d.bolt.Update(f) })
}

// Close releases the database. Where a transaction was lost, bbolt's own locks may
// be held for good: only the file is closed, and the system's lock on it lasts as
// long as the process.
func (d *DB) Close() error {
	if !d.lost {
		return d.bolt.Close()
	}
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}

// guard turns what bbolt does on a damaged file into an error: its panics, faults
// of memory that is mapped from the file, and a bucket that reads as a value or a
// value as a bucket, which no program here writes. Other panics go on.
func (d *DB) guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		fault := recover()
		if fault == nil {
			return
		}
		if !ofBolt(fault) {
			panic(fault)
		}
		d.lost = true
		err = fmt.Errorf("%w: %v", ErrDamaged, fault)
	}()
	if err = f(); errors.Is(err, berrors.ErrIncompatibleValue) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// ofBolt reports whether a panic that is being recovered began in bbolt or in
// mapped memory.
func ofBolt(fault any) bool {
	if _, ok := fault.(interface{ Addr() uintptr }); ok {
		return true
	}
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
	for panicking := false; ; {
		frame, more := frames.Next()
		switch inRuntime := strings.HasPrefix(frame.Function, "runtime."); {
		case frame.Function == "runtime.gopanic":
			panicking = true
		case panicking && !inRuntime:
			return strings.HasPrefix(frame.Function, "go.etcd.io/bbolt")
		}
		if !more {
			return false
		}
	}
}
