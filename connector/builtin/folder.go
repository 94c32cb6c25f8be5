// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"io/fs"
	"slices"
	"strconv"
	"testing/fstest"
)

func (s sample) files() fs.FS {
	return fstest.MapFS{NodesFile: {Data: s.nodes()}, RelationshipsFile: {Data: s.relationships()}}
}

// nodes returns nodes.csv.
func (s sample) nodes() []byte {
	text := []byte("id," + SourceProperty)
	if s.blocks != nil {
		text = append(text, ",community"...)
	}
	if s.points != nil {
		text = append(text, ",x,y"...)
	}
	text = append(text, '\n')
	source := s.source()
	for i := range s.graph.Order() {
		text = append(text, s.graph.ID(i)...)
		if i == source {
			text = append(text, ",1"...)
		} else {
			text = append(text, ",0"...)
		}
		if s.blocks != nil {
			text = strconv.AppendInt(append(text, ','), int64(s.blocks[i]), 10)
		}
		if s.points != nil {
			text = appendFloat(appendFloat(text, s.points[i].X), s.points[i].Y)
		}
		text = append(text, '\n')
	}
	return text
}

// source returns the first node from a third of the way on that lies in the
// largest component, or in any before it; −1 without nodes.
func (s sample) source() int {
	n := s.graph.Order()
	if n == 0 {
		return -1
	}
	labels, sizes := s.graph.Components()
	largest := int32(slices.Index(sizes, slices.Max(sizes)))
	for i := range n {
		if v := (n/3 + i) % n; labels[v] == largest {
			return v
		}
	}
	return -1
}

// relationships returns relationships.csv.
func (s sample) relationships() []byte {
	weighted, measured := !s.graph.Unweighted(), !s.graph.UnitLengths()
	text := []byte("source,target")
	if weighted {
		text = append(text, ",weight"...)
	}
	if measured {
		text = append(text, ",length"...)
	}
	text = append(text, '\n')
	for e := range s.graph.Edges() {
		text = append(append(append(text, s.graph.ID(e.U)...), ','), s.graph.ID(e.V)...)
		if weighted {
			text = appendFloat(text, e.Weight)
		}
		if measured {
			text = appendFloat(text, e.Length)
		}
		text = append(text, '\n')
	}
	return text
}

func appendFloat(text []byte, x float64) []byte {
	return strconv.AppendFloat(append(text, ','), x, 'g', -1, 64)
}
