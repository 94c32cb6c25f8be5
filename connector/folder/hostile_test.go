// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/store"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/database"
)

// No link of a folder leads out of it: not that of a graph, which would be
// another's file, nor that of the state, which would be written there.
func TestLinks(t *testing.T) {
	const nodes, relationships = "id\n1\n2\n", "source,target\n1,2\n"
	outside := files(t, nodes, relationships)
	for _, name := range []string{"nodes.csv", "relationships.csv"} {
		for _, target := range []string{filepath.Join(outside, name), "own.csv"} {
			dir := files(t, nodes, relationships)
			if err := errors.Join(os.Rename(filepath.Join(dir, name), filepath.Join(dir, "own.csv")),
				os.Symlink(target, filepath.Join(dir, name))); err != nil {
				t.Skip("links cannot be made here: ", err)
			}
			if _, err := folder.New(t.Context(), dir, folder.Options{}); !errors.Is(err, store.ErrInput) {
				t.Errorf("%s links to %s: %v, want ErrInput", name, target, err)
			}
			csv := folder.CSV{FS: folder.Dir(dir)}
			if _, err := csv.Graph(t.Context(), graph.Selection{}); !errors.Is(err, store.ErrInput) {
				t.Errorf("%s links to %s: %v, want ErrInput", name, target, err)
			}
		}
	}
	for name, target := range map[string]string{".graphcloak": outside, ".graphcloak/store.db": filepath.Join(outside, "new.db")} {
		dir := files(t, nodes, relationships)
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.Symlink(target, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
		if err := write(t, open(t, dir)); err == nil {
			t.Errorf("a write through %s", name)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 2 {
		t.Errorf("outside: %v, %v", entries, err)
	}
}

// write writes a run to the whole graph of a folder.
func write(t *testing.T, s *folder.Store) error {
	t.Helper()
	g, err := s.Graph(t.Context(), graph.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Write(t.Context(), g, storetest.Table(t, g, "run", "gc"), false)
}

// A state that is cut or is no database stops everything that would spend or
// write, and loses nothing that is there.
func TestDamagedState(t *testing.T) {
	dir := files(t, "id\n1\n2\n", "source,target\n1,2\n")
	if err := write(t, open(t, dir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ".graphcloak", "store.db")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "cut": good[:2*os.Getpagesize()], "text": []byte("no database\n"), "zeros": make([]byte, len(good)),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		if _, err := s.Runs(t.Context()); !errors.Is(err, database.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
		if err := write(t, s); !errors.Is(err, database.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
		if _, err := s.Ledger().Scopes(t.Context()); !errors.Is(err, database.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
		if left, err := os.ReadFile(path); err != nil || string(left) != string(data) {
			t.Errorf("%s: the file was changed (%v)", name, err)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if runs, err := open(t, dir).Runs(t.Context()); err != nil || len(runs) != 1 {
		t.Errorf("restored: %v, %v", runs, err)
	}
}
