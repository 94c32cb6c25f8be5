// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/graphcloak/graphcloak/graph"
)

// Memory ties what a store knows of the nodes of a graph to the graph, for as
// long as the graph is in use. The zero value is empty; it is safe for concurrent
// use.
type Memory[T any] struct {
	mu    sync.Mutex
	known map[weak.Pointer[graph.Graph]]T
}

// Put remembers v for g.
func (m *Memory[T]) Put(g *graph.Graph, v T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = make(map[weak.Pointer[graph.Graph]]T)
	}
	key := weak.Make(g)
	m.known[key] = v
	runtime.AddCleanup(g, m.forget, key)
}

func (m *Memory[T]) forget(key weak.Pointer[graph.Graph]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, key)
}

// Get returns what was remembered for g; a graph that came from elsewhere is an
// error.
func (m *Memory[T]) Get(g *graph.Graph) (T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.known[weak.Make(g)]
	if !ok {
		return v, fmt.Errorf("connector: the graph was not read from this store")
	}
	return v, nil
}

// Len returns the number of graphs in use.
func (m *Memory[T]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.known)
}

// Notices collects facts without repeating one. The zero value is empty; it is
// safe for concurrent use.
type Notices struct {
	mu   sync.Mutex
	text []string
}

// Add adds a fact unless it is there.
func (n *Notices) Add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.text, text) {
		n.text = append(n.text, text)
	}
}

// List returns the facts in the order of their arrival.
func (n *Notices) List() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.text)
}
