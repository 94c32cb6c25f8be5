// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Options says how a file is written.
type Options struct {
	Mode    fs.FileMode // before the umask
	Replace bool        // take the place of a file that is there; else it is an [fs.ErrExist]
	Lazy    bool        // do not sync: the file can be made again
	Keep    bool        // give the new file the mode of the one that it replaces
	Was     fs.FileInfo // with Replace: what is replaced; another file or a later state is [ErrChanged]
}

// ErrChanged says that a file is no longer the one that was to be replaced.
var ErrChanged = errors.New("the file was changed meanwhile")

// Write writes a file whole or not at all: beside its place, synced, then moved,
// and the folder synced. Without Replace it takes no file's place, even of one
// that appears meanwhile.
func Write(path string, o Options, write func(io.Writer) error) error {
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return about("write", path, err)
	}
	defer root.Close()
	return WriteIn(root, name, o, write)
}

// WriteIn is [Write] for a file of a folder; no link leads out of the folder.
func WriteIn(root *os.Root, name string, o Options, write func(io.Writer) error) (err error) {
	if o.Replace {
		if err := replaceable(filepath.Join(root.Name(), name), func() (fs.FileInfo, error) { return root.Lstat(name) }); err != nil {
			return err
		}
	}
	mode := o.Mode
	if info, err := root.Stat(name); err == nil && o.Keep {
		mode = info.Mode().Perm()
	}
	temp := filepath.Join(filepath.Dir(name), ".graphcloak-"+strconv.FormatUint(rand.Uint64(), 36)+".tmp")
	f, err := root.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return about("write", filepath.Join(root.Name(), name), err)
	}
	defer func() {
		if gone := root.Remove(temp); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	err = write(f)
	if err == nil && o.Keep {
		err = f.Chmod(mode) // past the umask
	}
	if err == nil && !o.Lazy {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if o.Was != nil {
		now, err := root.Lstat(name)
		if err != nil || !os.SameFile(o.Was, now) || now.Size() != o.Was.Size() || !now.ModTime().Equal(o.Was.ModTime()) {
			return errors.Join(fmt.Errorf("%w: %s", ErrChanged, filepath.Join(root.Name(), name)), err)
		}
	}
	if err := move(root, temp, name, o.Replace); err != nil || o.Lazy {
		return err
	}
	return syncFolder(root, filepath.Dir(name))
}

// Replaceable makes sure that a file may be replaced, or is not there. [ErrRefused] for a
// folder, which cannot be, and for a device, a pipe or a socket, which a plain file in its
// place would take from everybody.
func Replaceable(path string) error {
	return replaceable(path, func() (fs.FileInfo, error) { return os.Lstat(path) })
}

// replaceable lets a link be replaced, not what it leads to.
func replaceable(path string, look func() (fs.FileInfo, error)) error {
	info, err := look()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return about("replace", path, err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil
	}
	return regular(path, info)
}

// move gives a finished file its name.
func move(root *os.Root, temp, name string, replace bool) error {
	if replace {
		return root.Rename(temp, name)
	}
	err := root.Link(temp, name)
	if err == nil {
		return nil
	}
	if _, there := root.Lstat(name); there == nil {
		return fmt.Errorf("%w: %s", fs.ErrExist, filepath.Join(root.Name(), name))
	}
	return root.Rename(temp, name) // a file system without hard links
}

// syncFolder makes a name last. Where a folder cannot be synced, the system
// keeps its names by itself.
func syncFolder(root *os.Root, dir string) error {
	f, err := root.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
