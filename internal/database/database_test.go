// SPDX-License-Identifier: Apache-2.0

package database_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/graphcloak/graphcloak/internal/database"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/must"
)

func folder(t *testing.T) *os.Root {
	t.Helper()
	root := must.Get(os.OpenRoot(t.TempDir()))(t)
	t.Cleanup(func() { root.Close() })
	return root
}

// fill stores buckets in buckets: some inside their parent's page, one of several
// pages with a tree above them, one with a value that runs over pages.
func fill(tx *bbolt.Tx) error {
	for outer := range 3 {
		b, err := tx.CreateBucketIfNotExists(fmt.Appendf(nil, "scope %d", outer))
		if err != nil {
			return err
		}
		small, err := b.CreateBucketIfNotExists([]byte("small"))
		if err != nil {
			return err
		}
		large, err := b.CreateBucketIfNotExists([]byte("large"))
		if err != nil {
			return err
		}
		if err := errors.Join(small.Put([]byte("k"), []byte("v")), b.Put([]byte("long"), make([]byte, 10_000))); err != nil {
			return err
		}
		for k := range 60 {
			if err := large.Put(fmt.Appendf(nil, "entry %06d", k), bytes.Repeat([]byte{'x'}, 100)); err != nil {
				return err
			}
		}
	}
	return nil
}

// content counts every byte of every key and value.
func content(tx *bbolt.Tx) (n int, err error) {
	var count func(b *bbolt.Bucket) error
	count = func(b *bbolt.Bucket) error {
		return b.ForEach(func(k, v []byte) error {
			n += len(bytes.Clone(k)) + len(bytes.Clone(v))
			if v == nil {
				return count(b.Bucket(k))
			}
			return nil
		})
	}
	err = tx.ForEach(func(k []byte, b *bbolt.Bucket) error {
		n += len(k)
		return count(b)
	})
	return n, err
}

// use opens a database, reads all of it and writes to it.
func use(root *os.Root, name string) (n int, err error) {
	d, err := database.Open(root, name, database.Options{Wait: time.Minute})
	if err != nil {
		return 0, err
	}
	err = d.View(func(tx *bbolt.Tx) (err error) {
		n, err = content(tx)
		return err
	})
	if err == nil {
		err = d.Update(fill)
	}
	return n, errors.Join(err, d.Close())
}

// A database that is whole is read; one that is cut, blank, overwritten or turned
// in a bit is either an ErrDamaged or read, and the process lives. Counted are
// the kinds of damage that no reader could miss.
func TestDamage(t *testing.T) {
	root := folder(t)
	must.Get(use(root, "db"))(t)
	whole, err := use(root, "db")
	if err != nil || whole < 3*(60*100+10_000) {
		t.Fatalf("%d bytes, %v", whole, err)
	}
	good := must.Get(os.ReadFile(filepath.Join(root.Name(), "db")))(t)
	page := os.Getpagesize()
	tried, refused := 0, 0
	try := func(what string, data []byte) error {
		t.Helper()
		// A file of its own: a lost transaction keeps the lock of its file.
		name := fmt.Sprint("bad", tried)
		must.Do(t, os.WriteFile(filepath.Join(root.Name(), name), data, 0o600))
		_, err := use(root, name)
		must.Do(t, root.Remove(name))
		if tried++; err != nil {
			refused++
		}
		if err != nil && !errors.Is(err, database.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged or none", what, err)
		}
		return err
	}
	for _, size := range []int{0, 1, 100, page - 1, page, 2 * page, 3*page + 7, len(good) / 2} {
		if try(fmt.Sprint("cut to ", size), good[:size]) == nil {
			t.Errorf("a database cut to %d of %d bytes passes", size, len(good))
		}
	}
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	garbage := make([]byte, page)
	for k := range garbage {
		garbage[k] = byte(random.Uint32())
	}
	for at := 0; at+page <= len(good); at += page {
		for _, with := range [][]byte{make([]byte, page), bytes.Repeat([]byte{0xff}, page), garbage, good[2*page : 3*page]} {
			data := slices.Clone(good)
			copy(data[at:], with)
			try(fmt.Sprintf("page %d overwritten", at/page), data)
		}
		for range 2 { // in the head and the first elements, where a bit counts
			data := slices.Clone(good)
			data[at+random.IntN(64)] ^= 1 << random.IntN(8)
			try(fmt.Sprintf("a bit of page %d", at/page), data)
		}
	}
	if try("text", []byte("this is no database\n")) == nil {
		t.Error("a text passes")
	}
	if refused < tried/5 {
		t.Errorf("%d of %d refused: the damage misses the database", refused, tried)
	}
	t.Logf("%d of %d refused", refused, tried)
}

// A file that no process has made yet is made whole; one that links elsewhere is
// no database of the folder.
func TestOpen(t *testing.T) {
	root := folder(t)
	if _, err := database.Open(root, "db", database.Options{ReadOnly: true}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want ErrNotExist", err)
	}
	must.Get(use(root, "db"))(t)
	if entries, err := os.ReadDir(root.Name()); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	outside := filepath.Join(t.TempDir(), "db")
	if err := os.Symlink(outside, filepath.Join(root.Name(), "link")); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	if _, err := database.Open(root, "link", database.Options{}); !errors.Is(err, disk.ErrRefused) {
		t.Errorf("%v, want ErrRefused", err)
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("a database was made outside the folder")
	}
}

// A panic of the caller's own is not blamed on the file.
func TestPanicPasses(t *testing.T) {
	root := folder(t)
	d := must.Get(database.Open(root, "db", database.Options{}))(t)
	defer d.Close()
	defer func() {
		if fault := recover(); fault != "mine" {
			t.Errorf("recovered %v", fault)
		}
	}()
	t.Error(d.Update(func(*bbolt.Tx) error { panic("mine") }))
}
