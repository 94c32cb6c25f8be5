// SPDX-License-Identifier: Apache-2.0

package connector_test

import (
	"errors"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

var errFull = errors.New("full")

// full has memory for one array.
type full struct{ taken bool }

func (f *full) Get(bytes int) ([]byte, error) {
	if f.taken {
		return nil, errFull
	}
	f.taken = true
	return make([]byte, bytes), nil
}

func (f *full) Put([]byte) error { return nil }

// A lack of memory is no fault of the graph, and parallel relationships that are refused are one.
func TestBuild(t *testing.T) {
	b := &graph.Builder{Memory: &full{}}
	must.Do(t, b.AddEdge("a", "b", 1))
	if _, err := connector.Build(b); !errors.Is(err, errFull) || errors.Is(err, connector.ErrInput) {
		t.Errorf("no memory for the rows: %v", err)
	}
	b = &graph.Builder{Aggregation: graph.None}
	must.Do(t, errors.Join(b.AddEdge("a", "b", 1), b.AddEdge("b", "a", 1)))
	if _, err := connector.Build(b); !errors.Is(err, graph.ErrParallel) || !errors.Is(err, connector.ErrInput) {
		t.Errorf("parallel relationships: %v", err)
	}
}
