// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// IDs agree with a map, whatever is added, in whatever order, and however often.
func TestIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ids graph.IDs
		want := make(map[graph.ID]int)
		for _, text := range rapid.SliceOfN(rapid.StringMatching(`[ab]{0,5}`), 0, 200).Draw(t, "ids") {
			id := graph.ID(text)
			was, known := want[id]
			if i, ok := ids.Index(id); ok != known || ok && i != was {
				t.Fatalf("%q is %d, %v; want %d, %v", id, i, ok, was, known)
			}
			if !known {
				was = len(want)
				want[id] = was
			}
			if i, added := ids.Add(id); i != was || added == known {
				t.Fatalf("added %q: %d, %v; want %d, %v", id, i, added, was, !known)
			}
		}
		for id, i := range want {
			if ids.Len() != len(want) || ids.At(i) != id {
				t.Fatalf("number %d of %d is %q, want %q of %d", i, ids.Len(), ids.At(i), id, len(want))
			}
		}
	})
}

// counted hands out memory until left calls were made, and counts what was not given back.
type counted struct{ left, out int }

var errNoMemory = errors.New("no memory")

func (c *counted) Get(bytes int) ([]byte, error) {
	if c.left--; c.left < 0 {
		return nil, errNoMemory
	}
	c.out += bytes
	return make([]byte, bytes), nil
}

func (c *counted) Put(memory []byte) error {
	c.out -= cap(memory)
	return nil
}

// With other memory than the heap's the graph is the same; all but that of its rows is given back, and where there is none, the
// builder says so.
func TestMemoryOfRows(t *testing.T) {
	const n, m = 1000, 70_000 // more than a chunk
	for _, a := range []graph.Aggregation{graph.Sum, graph.Count} {
		built := func(memory graph.Memory) (*graph.Graph, error) {
			b := graph.Builder{Aggregation: a, Memory: memory}
			for i := range n {
				if _, err := b.AddNode(graph.ID([]byte{byte('a' + i%23), byte('a' + i/23%23), byte('z' - i/529)})); err != nil {
					return nil, err
				}
			}
			for k := range m {
				if err := b.Connect(k%n, k*k%997, float64(1+k/60_000), float64(1+k%7)); err != nil {
					return nil, err
				}
			}
			return b.Graph()
		}
		want := must.Get(built(nil))(t)
		memory := &counted{left: 100}
		got := must.Get(built(memory))(t)
		if got.Digest() != want.Digest() || got.Dropped() != want.Dropped() {
			t.Errorf("%v: the graph is another", a)
		}
		if rows := (4 + 8 + 8) * 2 * (m - got.Dropped().SelfLoops); memory.out != rows {
			t.Errorf("%v: %d bytes are out, want the %d of the rows", a, memory.out, rows)
		}
		for gets := 100 - memory.left; gets > 0; gets-- {
			if _, err := built(&counted{left: gets - 1}); !errors.Is(err, errNoMemory) {
				t.Errorf("%v: memory for %d of what it takes: %v", a, gets-1, err)
			}
		}
	}
}
