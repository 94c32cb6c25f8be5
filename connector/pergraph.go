// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"fmt"
	"runtime"
	"sync"
	"weak"

	"github.com/graphcloak/graphcloak/graph"
)

// PerGraph ties what a store knows of the nodes of a graph to the graph, for as
// long as the graph is in use. The zero value is empty; it is safe for concurrent
// use.
type PerGraph[T any] struct {
	mu    sync.Mutex
	known map[weak.Pointer[graph.Graph]]T
}

// Put remembers v for g.
func (m *PerGraph[T]) Put(g *graph.Graph, v T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = make(map[weak.Pointer[graph.Graph]]T)
	}
	key := weak.Make(g)
	m.known[key] = v
	runtime.AddCleanup(g, m.forget, key)
}

func (m *PerGraph[T]) forget(key weak.Pointer[graph.Graph]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, key)
}

// Get returns what was remembered for g; a graph that came from elsewhere is an
// error.
func (m *PerGraph[T]) Get(g *graph.Graph) (T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.known[weak.Make(g)]
	if !ok {
		return v, fmt.Errorf("connector: the graph was not read from this store")
	}
	return v, nil
}

// Len returns the number of graphs in use.
func (m *PerGraph[T]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.known)
}
