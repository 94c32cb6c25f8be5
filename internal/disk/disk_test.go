// SPDX-License-Identifier: Apache-2.0

package disk_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/must"
)

// A file of just the limit is read; a larger one, a folder and a device without
// an end are refused, whatever size they claim.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must.Do(t, os.WriteFile(path, []byte("12345"), 0o600))
	if got, err := disk.Read(path, 5); err != nil || string(got) != "12345" {
		t.Errorf("%q, %v", got, err)
	}
	for path, limit := range map[string]int64{path: 4, filepath.Dir(path): 5, os.DevNull: 5, "/dev/zero": 1 << 20} {
		if _, err := disk.Read(path, limit); !errors.Is(err, disk.ErrRefused) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want ErrRefused", path, err)
		}
	}
	if _, err := disk.Read(path+"x", 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want ErrNotExist", err)
	}
}

// A limited reader never passes a part for the whole, however r is read.
func TestLimit(t *testing.T) {
	for _, whole := range []bool{true, false} {
		text := strings.Repeat("x", 100)
		var r io.Reader = strings.NewReader(text)
		if !whole {
			r = iotest.OneByteReader(r)
		}
		got, err := io.ReadAll(disk.Limit(r, "text", 100))
		if err != nil || string(got) != text {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		got, err = io.ReadAll(disk.Limit(io.MultiReader(strings.NewReader(text), r), "text", 99))
		if !errors.Is(err, disk.ErrRefused) || len(got) != 99 {
			t.Errorf("%d bytes, %v, want 99 and ErrRefused", len(got), err)
		}
	}
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// A write that fails leaves what was there, one that succeeds all of the new, and
// neither leaves anything beside it.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	check := func(what, want string, mode fs.FileMode) {
		t.Helper()
		got, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(got) != want || info.Mode().Perm() != mode {
			t.Errorf("%s: %q, mode %v (%v, %v), want %q, %v", what, got, info.Mode(), err, statErr, want, mode)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("%s left %v, %v", what, entries, err)
		}
	}
	must.Do(t, disk.Write(path, disk.Options{Mode: 0o600}, text("one")))
	check("new", "one", 0o600)
	if err := disk.Write(path, disk.Options{Mode: 0o600}, text("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v, want ErrExist", err)
	}
	check("no replacement", "one", 0o600)
	torn := func(w io.Writer) error { return errors.Join(text("half")(w), io.ErrShortWrite) }
	if err := disk.Write(path, disk.Options{Mode: 0o600, Replace: true}, torn); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("%v, want ErrShortWrite", err)
	}
	check("torn", "one", 0o600)
	must.Do(t, os.Chmod(path, 0o666))
	if err := disk.Write(path, disk.Options{Mode: 0o600, Replace: true, Keep: true}, text("three")); err != nil {
		t.Error(err)
	}
	check("replaced", "three", 0o666)
	was := must.Get(os.Stat(path))(t)
	edited := func(w io.Writer) error {
		return errors.Join(text("four")(w), os.WriteFile(path, []byte("edited"), 0o666))
	}
	if err := disk.Write(path, disk.Options{Mode: 0o600, Replace: true, Keep: true, Was: was}, edited); !errors.Is(err, disk.ErrChanged) {
		t.Errorf("%v, want ErrChanged", err)
	}
	check("edited meanwhile", "edited", 0o666)
}

// No link leads a write out of its folder, and a link is replaced, not followed.
func TestWriteLinks(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	target := filepath.Join(outside, "target")
	if err := errors.Join(os.WriteFile(target, []byte("mine"), 0o600),
		os.Symlink(target, filepath.Join(dir, "f")), os.Symlink(outside, filepath.Join(dir, "d"))); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	root := must.Get(os.OpenRoot(dir))(t)
	defer root.Close()
	if err := disk.WriteIn(root, "f", disk.Options{Mode: 0o600, Replace: true}, text("new")); err != nil {
		t.Error(err)
	}
	if err := disk.WriteIn(root, "d/f", disk.Options{Mode: 0o600}, text("new")); err == nil {
		t.Error("a write through a link out of the folder")
	}
	got, err := os.ReadFile(target)
	entries, listErr := os.ReadDir(outside)
	if err != nil || listErr != nil || string(got) != "mine" || len(entries) != 1 {
		t.Errorf("outside: %q, %v (%v, %v)", got, entries, err, listErr)
	}
}

// TestShared follows the bits of the mode.
func TestShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must.Do(t, os.WriteFile(path, nil, 0o600))
	modes := []fs.FileMode{0o600, 0o711, 0o640, 0o604, 0o620, 0o666}
	want := []string{"", "", "read", "read", "write", "read and write"}
	got := make([]string, len(modes))
	for i, mode := range modes {
		must.Do(t, os.Chmod(path, mode))
		info := must.Get(os.Stat(path))(t)
		got[i] = disk.Shared(info)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A lock has one holder, and is free again when its file is closed.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	held := must.Get(disk.Lock(path))(t)
	if _, err := disk.Lock(path); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("a second lock: %v, want ErrLocked", err)
	}
	must.Do(t, held.Close())
	again, err := disk.Lock(path)
	if err != nil {
		t.Fatalf("after the first was closed: %v", err)
	}
	again.Close()
	outside := filepath.Join(t.TempDir(), "f")
	if err := os.Symlink(outside, path+"link"); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	root := must.Get(os.OpenRoot(filepath.Dir(path)))(t)
	defer root.Close()
	if _, err := disk.LockIn(root, "llink"); err == nil {
		t.Error("a lock through a link out of the folder")
	}
}

// Room leaves nothing behind, and says where it is.
func TestRoom(t *testing.T) {
	dir := t.TempDir()
	if err := disk.Room(dir, 3<<20+1); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := disk.Room(filepath.Join(dir, "none"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// Scratch hands out zeros that can be written to, and leaves nothing in its folder; where there is no room it is an error.
func TestScratch(t *testing.T) {
	dir := t.TempDir()
	s := disk.Scratch{Dir: dir}
	memory := must.Get(s.Get(3<<20 + 8))(t)
	if len(bytes.Trim(memory, "\x00")) > 0 || len(memory) != 3<<20+8 {
		t.Errorf("%d bytes, not all of them 0", len(memory))
	}
	memory[0], memory[len(memory)-1] = 1, 2
	other := must.Get(s.Get(8))(t)
	if other[0] = 3; memory[0] != 1 || memory[len(memory)-1] != 2 {
		t.Error("two pieces of memory share bytes")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("in the folder: %v, %v", left, err)
	}
	must.Do(t, errors.Join(s.Put(memory), s.Put(other)))
	if _, err := (disk.Scratch{Dir: filepath.Join(dir, "none")}).Get(8); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if runtime.GOOS == "linux" {
		if _, err := s.Get(1 << 60); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("more than any disk has: %v", err)
		}
	}
}
