// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"math"
)

// Builder collects nodes and relationships. The zero value adds up the weights
// of parallel relationships.
//
// It holds 8 bytes a relationship, and 8 more for weights and for lengths where
// they differ from 1: no more than the finished rows take.
type Builder struct {
	Aggregation  Aggregation
	DropIsolated bool   // leave out nodes without a relationship to another one
	Memory       Memory // for relationships, and for those of the finished graph; nil: of the heap

	ids       IDs
	chunks    []edgeChunk
	selfLoops int
}

// AddNode adds a node and returns its handle, which [Builder.Connect] takes.
func (b *Builder) AddNode(id ID) (int, error) {
	if b.ids.Len() == math.MaxInt32 {
		return 0, ErrTooLarge
	}
	h, added := b.ids.Add(id)
	if !added {
		return 0, fmt.Errorf("%w: %q", ErrDuplicateNode, clip(id))
	}
	return h, nil
}

// Handle returns the handle of a node that was added.
func (b *Builder) Handle(id ID) (int, bool) { return b.ids.Index(id) }

// ID returns the id of a handle.
func (b *Builder) ID(handle int) ID { return b.ids.At(handle) }

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
// it adds nothing to D − W. It returns [ErrUnknownNode], [ErrBadWeight],
// [ErrBadLength], or the error of Memory.
func (b *Builder) Connect(u, v int, weight, length float64) error {
	if err := checkEdge(weight, length); err != nil {
		return err
	}
	if u < 0 || v < 0 || u >= b.ids.Len() || v >= b.ids.Len() {
		return fmt.Errorf("%w: handle %d or %d of %d", ErrUnknownNode, u, v, b.ids.Len())
	}
	return b.add(u, v, weight, length)
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

// add is Connect for valid arguments. It fails only where Memory does.
func (b *Builder) add(u, v int, weight, length float64) error {
	if u == v {
		b.selfLoops++
		return nil
	}
	if b.Aggregation == Count {
		weight = 1 // what is counted
	}
	k := len(b.chunks)
	if k == 0 || len(b.chunks[k-1].ends) == chunkSize {
		chunk, err := newEdgeChunk(b.Memory, k == 0)
		if err != nil {
			return err
		}
		b.chunks, k = append(b.chunks, chunk), k+1
	}
	return b.chunks[k-1].add(b.Memory, [2]int32{int32(u), int32(v)}, weight, length)
}

// Graph builds the graph by a counting sort and empties the builder. Its peak
// memory is that of the relationships as given and of the finished rows. It returns
// [ErrParallel], [ErrBadWeight] where a sum overflows, or the error of Memory.
func (b *Builder) Graph() (*Graph, error) {
	g := &Graph{dropped: Dropped{SelfLoops: b.selfLoops}}
	chunks, aggregation, drop, memory := b.chunks, b.Aggregation, b.DropIsolated, b.Memory
	ids, rank := b.ids.sorted()
	if g.ids = ids; len(ids.ends) == 0 {
		g.ids.ends = []int64{0}
	}
	*b = Builder{Aggregation: aggregation, DropIsolated: drop, Memory: memory}
	if err := g.fill(chunks, rank, memory); err != nil {
		return nil, err
	}
	if g.sortRows() {
		if err := g.merge(aggregation, memory); err != nil {
			return nil, err
		}
	}
	g.weight, g.length = dropOnes(g.weight), dropOnes(g.length)
	if drop {
		g.dropIsolated()
	}
	return g, nil
}
