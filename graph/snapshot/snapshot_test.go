// SPDX-License-Identifier: Apache-2.0

package snapshot_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/snapshot"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/must"
)

// small has weights, lengths, a loop, parallel relationships and a node alone.
func small(t *testing.T) *graph.Graph {
	t.Helper()
	b := graph.Builder{DropIsolated: true}
	for _, id := range []graph.ID{"a", "bb", "é", "d", "alone"} {
		must.Get(b.AddNode(id))(t)
	}
	for _, e := range []graph.Edge{
		{U: 0, V: 1, Weight: 2, Length: 1},
		{U: 1, V: 3, Weight: 1, Length: .5},
		{U: 3, V: 0, Weight: 1, Length: 1},
		{U: 2, V: 1, Weight: 1, Length: 1},
		{U: 1, V: 2, Weight: 1, Length: 2},
		{U: 1, V: 1, Weight: 1, Length: 1},
	} {
		must.Do(t, b.Connect(e.U, e.V, e.Weight, e.Length))
	}
	return must.Get(b.Graph())(t)
}

func TestSnapshot(t *testing.T) {
	plain := must.Get(graph.BarabasiAlbert(200, 2, 1))(t)
	empty := must.Get(new(graph.Builder).Graph())(t)
	for name, g := range map[string]*graph.Graph{"weights and lengths": small(t), "plain": plain, "empty": empty} {
		path, sel := filepath.Join(t.TempDir(), "g.snapshot"), graph.Selection{NodeLabels: []string{"Person"}, NodeKey: "name"}
		must.Do(t, snapshot.Write(path, g, sel))
		got := must.Get(snapshot.Open(path, sel))(t)
		if got.Digest() != g.Digest() || got.Dropped() != g.Dropped() || got.Unweighted() != g.Unweighted() ||
			got.UnitLengths() != g.UnitLengths() {
			t.Errorf("%s: the graph is another", name)
		}
		ptr, adj, weight := g.CSR()
		ptr2, adj2, weight2 := got.CSR()
		if !slices.Equal(ptr, ptr2) || !slices.Equal(adj, adj2) || !slices.Equal(weight, weight2) {
			t.Errorf("%s: its rows are others", name)
		}
		if err := snapshot.Write(path, g, sel); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: over a file: %v", name, err)
		}
		if _, err := snapshot.Open(path, graph.Selection{NodeKey: "name"}); !errors.Is(err, snapshot.ErrSelection) {
			t.Errorf("%s: another selection: %v", name, err)
		}
	}
}

// Whatever byte is altered and wherever the file ends, it is refused by name.
func TestAltered(t *testing.T) {
	dir := t.TempDir()
	path, at := filepath.Join(dir, "g.snapshot"), 0
	must.Do(t, snapshot.Write(path, small(t), graph.Selection{}))
	whole := must.Get(os.ReadFile(path))(t)
	refused := func(what string, data []byte) {
		t.Helper()
		at++
		altered := filepath.Join(dir, "altered.snapshot"+string(rune('a'+at%2)))
		must.Do(t, os.WriteFile(altered+".new", data, 0o600)) // a mapped file is not written to
		must.Do(t, os.Rename(altered+".new", altered))
		_, err := snapshot.Open(altered, graph.Selection{})
		if !errors.Is(err, snapshot.ErrSnapshot) || !strings.Contains(err.Error(), altered) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for k := range whole {
		for _, bit := range []byte{1, 128} {
			data := append([]byte(nil), whole...)
			data[k] ^= bit
			refused("altered", data)
		}
		refused("ends early", whole[:k])
	}
	refused("longer", append(append([]byte(nil), whole...), 0))
	if runtime.GOOS != "windows" { // which has no such modes
		must.Do(t, os.Chmod(path, 0o622))
		if _, err := snapshot.Open(path, graph.Selection{}); !errors.Is(err, disk.ErrShared) {
			t.Errorf("a file that others can write: %v", err)
		}
	}
	if _, err := snapshot.Open(filepath.Join(dir, "none"), graph.Selection{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
