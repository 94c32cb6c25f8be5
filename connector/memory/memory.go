// SPDX-License-Identifier: Apache-2.0

// Package memory keeps a graph, the properties of its nodes, what runs write and the
// ledger in memory: for a graph that a program has already, and for tests.
//
// Start with [FromGraph] for a graph that was built, or with [New] for nodes with
// labels and relationships with types; [Store.Set] gives the nodes a property.
// Everything is gone when the program ends, the ledger too: a budget that must
// outlast it is spent from a durable ledger, such as that of package folder.
package memory

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"sync"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// Properties under which [FromGraph] keeps the weights and the lengths of a graph.
const (
	WeightProperty = "weight"
	LengthProperty = "length"
)

// Properties are values by name: bool, int, int64, float64 or string. A value that is
// nil is missing; one of another type is refused where it is read.
type Properties map[string]any

// Node is a node with its labels and properties.
type Node struct {
	ID         graph.ID
	Labels     []string
	Properties Properties
}

// Relationship connects two nodes; its direction is not used.
type Relationship struct {
	Source, Target graph.ID
	Type           string
	Properties     Properties
}

// Store is a graph in memory. It is safe for concurrent use.
type Store struct {
	name    string
	ledger  privacy.MemoryLedger
	notices connector.Notices
	rows    connector.PerGraph[[]int] // of the node of each number of a graph

	mu            sync.RWMutex
	nodes         []Node
	relationships []Relationship
	runs          map[string]connector.Run
}

// New returns a store of these nodes and relationships, which it copies. An error
// is a [connector.ErrInput]: an id that is missing or not alone, an end that is no node.
func New(nodes []Node, relationships []Relationship) (*Store, error) {
	s := empty()
	seen := make(map[graph.ID]bool, len(nodes))
	var bad connector.Offenders
	for _, n := range nodes {
		if n.ID == "" || seen[n.ID] {
			bad.Add("node %q", n.ID)
		}
		seen[n.ID] = true
		n.Properties = plain(n.Properties)
		s.nodes = append(s.nodes, n)
	}
	if err := bad.Err("nodes have no id of their own", "give each node another id"); err != nil {
		return nil, err
	}
	for _, r := range relationships {
		if !seen[r.Source] || !seen[r.Target] {
			bad.Add("%q–%q", r.Source, r.Target)
		}
		r.Properties = plain(r.Properties)
		s.relationships = append(s.relationships, r)
	}
	return s, bad.Err("relationships have an end that is no node", "add the node or leave out the relationship")
}

func empty() *Store {
	return &Store{name: "memory:" + rand.Text(), runs: map[string]connector.Run{}}
}

// plain copies properties, with values of the types that stores hold.
func plain(p Properties) Properties {
	p = maps.Clone(p)
	for name, v := range p {
		if i, ok := v.(int); ok {
			p[name] = int64(i)
		}
	}
	maps.DeleteFunc(p, func(_ string, v any) bool { return v == nil })
	return p
}

// FromGraph returns a store of a graph that was built. Weights and lengths other than 1
// are the relationships' properties [WeightProperty] and [LengthProperty], which a
// selection names as it does in every store.
func FromGraph(g *graph.Graph) *Store {
	s := empty()
	for i := range g.Order() {
		s.nodes = append(s.nodes, Node{ID: g.ID(i)})
	}
	for e := range g.Edges() {
		r := Relationship{Source: g.ID(e.U), Target: g.ID(e.V), Properties: Properties{}}
		if !g.Unweighted() {
			r.Properties[WeightProperty] = e.Weight
		}
		if !g.UnitLengths() {
			r.Properties[LengthProperty] = e.Length
		}
		s.relationships = append(s.relationships, r)
	}
	return s
}

// Set gives a property to the nodes that are named, and takes it from all others.
// It returns a [connector.ErrNotFound] for an id that no node has.
func (s *Store) Set(property string, values map[graph.ID]any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := make(map[graph.ID]bool, len(s.nodes))
	for _, n := range s.nodes {
		known[n.ID] = true
	}
	for id := range values {
		if !known[id] {
			return fmt.Errorf("%w: there is no node %q", connector.ErrNotFound, id)
		}
	}
	for i, n := range s.nodes {
		s.put(i, property, plain(Properties{property: values[n.ID]})[property])
	}
	return nil
}

// put sets a property of a node, or removes it where the value is nil.
func (s *Store) put(i int, property string, value any) {
	n := &s.nodes[i]
	if value == nil {
		delete(n.Properties, property)
		return
	}
	if n.Properties == nil {
		n.Properties = Properties{}
	}
	n.Properties[property] = value
}

// Name returns memory: and a random word, which no other store has.
func (s *Store) Name() string { return s.name }

// Notices returns warnings, such as the number
// of relationships that were left out.
func (s *Store) Notices() []string { return s.notices.List() }

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
