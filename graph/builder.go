// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"math"
	"slices"
)

// Builder collects nodes and relationships. The zero value adds up the weights
// of parallel relationships.
//
// It holds 8 bytes a relationship, and 8 more for weights and for lengths where
// they differ from 1: no more than the finished rows take.
type Builder struct {
	Aggregation  Aggregation
	DropIsolated bool // leave out nodes without a relationship to another one

	ids       []ID
	handle    map[ID]int32 // nil while the ids ascend
	chunks    []edgeChunk
	selfLoops int
}

// AddNode adds a node and returns its handle, which [Builder.Connect] takes. It is
// fastest where ids come in the order of the graph.
func (b *Builder) AddNode(id ID) (int, error) {
	h := len(b.ids)
	if h == math.MaxInt32 {
		return 0, ErrTooLarge
	}
	if b.handle == nil && h > 0 && compareIDs(b.ids[h-1], id) >= 0 {
		b.handle = make(map[ID]int32, h+1)
		for k, known := range b.ids {
			b.handle[known] = int32(k)
		}
	}
	if b.handle != nil {
		if _, ok := b.handle[id]; ok {
			return 0, fmt.Errorf("%w: %q", ErrDuplicateNode, clip(id))
		}
		b.handle[id] = int32(h)
	}
	b.ids = append(b.ids, id)
	return h, nil
}

// Handle returns the handle of a node that was added.
func (b *Builder) Handle(id ID) (int, bool) {
	if b.handle == nil {
		return slices.BinarySearchFunc(b.ids, id, compareIDs)
	}
	h, ok := b.handle[id]
	return int(h), ok
}

// AddEdge joins two nodes with a weight and length 1, and adds those that are new. The errors are
// those of [Builder.AddNode] and [Builder.Connect]; a bad weight adds nothing.
func (b *Builder) AddEdge(u, v ID, weight float64) error {
	if err := checkEdge(weight, 1); err != nil {
		return err
	}
	var ends [2]int
	for k, id := range []ID{u, v} {
		h, ok := b.Handle(id)
		if !ok {
			var err error
			if h, err = b.AddNode(id); err != nil {
				return err
			}
		}
		ends[k] = h
	}
	return b.Connect(ends[0], ends[1], weight, 1)
}

// Connect joins two nodes by their handles. A self-loop is dropped and counted:
// it adds nothing to D − W. It returns [ErrUnknownNode], [ErrBadWeight] or
// [ErrBadLength].
func (b *Builder) Connect(u, v int, weight, length float64) error {
	if err := checkEdge(weight, length); err != nil {
		return err
	}
	if u < 0 || v < 0 || u >= len(b.ids) || v >= len(b.ids) {
		return fmt.Errorf("%w: handle %d or %d of %d", ErrUnknownNode, u, v, len(b.ids))
	}
	b.add(u, v, weight, length)
	return nil
}

func checkEdge(weight, length float64) error {
	if !(weight > 0) || math.IsInf(weight, 1) {
		return fmt.Errorf("%w: %v", ErrBadWeight, weight)
	}
	if !(length > 0) || math.IsInf(length, 1) {
		return fmt.Errorf("%w: %v", ErrBadLength, length)
	}
	return nil
}

// add is Connect for valid arguments.
func (b *Builder) add(u, v int, weight, length float64) {
	if u == v {
		b.selfLoops++
		return
	}
	if k := len(b.chunks); k == 0 || len(b.chunks[k-1].src) == chunkSize {
		b.chunks = append(b.chunks, newEdgeChunk(k > 0))
	}
	b.chunks[len(b.chunks)-1].add(int32(u), int32(v), weight, length)
}

// Graph builds the graph by a counting sort and empties the builder. Its peak
// memory is that of the relationships as given and of the finished rows.
func (b *Builder) Graph() (*Graph, error) {
	g := &Graph{dropped: Dropped{SelfLoops: b.selfLoops}}
	pieces, aggregation, drop := b.chunks, b.Aggregation, b.DropIsolated
	rank := sortIDs(b.ids)
	g.setIDs(b.ids)
	*b = Builder{Aggregation: aggregation, DropIsolated: drop}
	if aggregation == Count {
		for i := range pieces {
			pieces[i].weight = nil
		}
	}
	g.fill(pieces, rank)
	if g.sortRows() {
		if err := g.merge(aggregation); err != nil {
			return nil, err
		}
	}
	g.weight, g.length = dropOnes(g.weight), dropOnes(g.length)
	if drop {
		g.dropIsolated()
	}
	return g, nil
}

// sortIDs sorts ids and returns the new place of each old one; nil where they
// were sorted already.
func sortIDs(ids []ID) []int32 {
	if slices.IsSortedFunc(ids, compareIDs) {
		return nil
	}
	order := make([]int32, len(ids))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(x, y int32) int { return compareIDs(ids[x], ids[y]) })
	rank, sorted := make([]int32, len(order)), make([]ID, len(order))
	for r, h := range order {
		rank[h], sorted[r] = int32(r), ids[h]
	}
	copy(ids, sorted)
	return rank
}
