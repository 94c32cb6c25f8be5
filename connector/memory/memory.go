// SPDX-License-Identifier: Apache-2.0

// Package memory keeps a graph, the properties of its nodes, what runs write and the
// ledger in memory: for a graph that a program has already, and for tests.
//
// Start with [FromGraph]; [Store.Set] gives the nodes a property.
// Everything is gone when the program ends, the ledger too: a budget that must
// outlast it is spent from a durable ledger, such as that of package folder.
package memory

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// Names under which a selection asks for the weights and the lengths of the graph.
const (
	WeightProperty = "weight"
	LengthProperty = "length"
)

// Store is a graph in memory with properties of its nodes. It is safe for concurrent use.
type Store struct {
	name   string
	ledger privacy.MemoryLedger
	built  *graph.Graph
	rows   connector.PerGraph[[]int] // the number in built of each node of a graph that was read

	mu         sync.RWMutex
	properties map[string][]any // by name: the value of each node, nil where it has none
	runs       map[string]jobs.Run
}

// FromGraph returns a store of a graph that was built. Its weights and lengths count where a
// selection names them as [WeightProperty] and [LengthProperty]; else each is 1.
func FromGraph(g *graph.Graph) *Store {
	return &Store{name: "memory:" + rand.Text(), built: g, properties: map[string][]any{}, runs: map[string]jobs.Run{}}
}

// Set gives a property to the nodes that are named, and takes it from all others: bool, int, int64, float64 or string; a value
// of another type is refused where it is read. It returns a [connector.ErrNotFound] for an id that no node has.
func (s *Store) Set(property string, values map[graph.ID]any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]any, s.built.Order())
	for id, v := range values {
		i, ok := s.built.Index(id)
		if !ok {
			return fmt.Errorf("%w: there is no node %q", connector.ErrNotFound, id)
		}
		if whole, ok := v.(int); ok {
			v = int64(whole)
		}
		all[i] = v
	}
	s.properties[property] = all
	return nil
}

// put sets a property of a node, or removes it where the value is nil.
func (s *Store) put(row int, property string, value any) {
	if s.properties[property] == nil {
		s.properties[property] = make([]any, s.built.Order())
	}
	s.properties[property][row] = value
}

// value is a property of a node, nil where it has none.
func (s *Store) value(row int, property string) any {
	if all := s.properties[property]; all != nil {
		return all[row]
	}
	return nil
}

// Name returns memory: and a random word, which no other store has.
func (s *Store) Name() string { return s.name }

// Close does nothing: what is in memory stays as long as the store is used.
func (s *Store) Close(context.Context) error { return nil }

// Ledger returns the ledger of this store. It forgets everything with the program.
func (s *Store) Ledger() privacy.Ledger { return ledger{&s.ledger, s.name} }

type ledger struct {
	*privacy.MemoryLedger
	place string
}

// Identity implements [privacy.Ledger]; its place is the store's name.
func (l ledger) Identity(ctx context.Context) (privacy.Identity, error) {
	id, err := l.MemoryLedger.Identity(ctx)
	id.Place = l.place
	return id, err
}
