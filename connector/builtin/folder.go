// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/graphcloak/graphcloak/graph"
)

// table is a file system of CSV files that are written as they are read.
type table map[string]func() iter.Seq[[]byte] // the lines of each file; a line may be overwritten by the next

func (s sample) files() fs.FS {
	return table{NodesFile: s.nodes, RelationshipsFile: s.relationships}
}

// nodes yields nodes.csv line by line.
func (s sample) nodes() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		line := []byte("id," + SourceProperty)
		if s.blocks != nil {
			line = append(line, ",community"...)
		}
		if s.points != nil {
			line = append(line, ",x,y"...)
		}
		if !yield(append(line, '\n')) {
			return
		}
		source := s.source()
		for i := range s.graph.Order() {
			line = append(line[:0], s.graph.ID(i)...)
			if i == source {
				line = append(line, ",1"...)
			} else {
				line = append(line, ",0"...)
			}
			if s.blocks != nil {
				line = strconv.AppendInt(append(line, ','), int64(s.blocks[i]), 10)
			}
			if s.points != nil {
				line = appendFloat(line, s.points[i].X)
				line = appendFloat(line, s.points[i].Y)
			}
			if !yield(append(line, '\n')) {
				return
			}
		}
	}
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

// relationships yields relationships.csv line by line.
func (s sample) relationships() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		weighted, measured := !s.graph.Unweighted(), !s.graph.UnitLengths()
		line := []byte("source,target")
		if weighted {
			line = append(line, ",weight"...)
		}
		if measured {
			line = append(line, ",length"...)
		}
		if !yield(append(line, '\n')) {
			return
		}
		for e := range s.graph.Edges() {
			line = appendEdge(line[:0], s.graph, e, weighted, measured)
			if !yield(line) {
				return
			}
		}
	}
}

func appendEdge(line []byte, g *graph.Graph, e graph.Edge, weighted, measured bool) []byte {
	line = append(line, g.ID(e.U)...)
	line = append(append(line, ','), g.ID(e.V)...)
	if weighted {
		line = appendFloat(line, e.Weight)
	}
	if measured {
		line = appendFloat(line, e.Length)
	}
	return append(line, '\n')
}

func appendFloat(line []byte, x float64) []byte {
	return strconv.AppendFloat(append(line, ','), x, 'g', -1, 64)
}

// Open opens one of the files, or "." for their list.
func (t table) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		var names []string
		for name := range t {
			names = append(names, name)
		}
		slices.Sort(names)
		return &directory{names: names}, nil
	}
	lines, ok := t[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	next, stop := iter.Pull(blocks(lines()))
	return &file{info: info{name, 0o444}, next: next, stop: stop}, nil
}

// blockSize is the size of a block of lines: large enough that the change between the one who
// writes and the one who reads costs nothing beside the lines.
const blockSize = 1 << 15

// blocks joins lines to blocks of at least blockSize, the last excepted.
func blocks(lines iter.Seq[[]byte]) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var block []byte
		for line := range lines {
			block = append(block, line...)
			if len(block) < blockSize {
				continue
			}
			if !yield(block) {
				return
			}
			block = block[:0]
		}
		if len(block) > 0 {
			yield(block)
		}
	}
}

// info describes a file or the directory. As for the files of /proc, the size is
// not known before the end and is said to be 0.
type info struct {
	name string
	mode fs.FileMode
}

func (i info) Name() string               { return i.name }
func (i info) Size() int64                { return 0 }
func (i info) Mode() fs.FileMode          { return i.mode }
func (i info) Type() fs.FileMode          { return i.mode.Type() }
func (i info) ModTime() time.Time         { return time.Time{} }
func (i info) IsDir() bool                { return i.mode.IsDir() }
func (i info) Sys() any                   { return nil }
func (i info) Info() (fs.FileInfo, error) { return i, nil }

// file reads blocks that are made on the way.
type file struct {
	info   info
	next   func() ([]byte, bool)
	stop   func()
	buffer bytes.Buffer
	closed bool
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

// Read fills p as far as it can.
func (f *file) Read(p []byte) (int, error) {
	if f.closed {
		return 0, &fs.PathError{Op: "read", Path: f.info.name, Err: fs.ErrClosed}
	}
	for f.buffer.Len() < len(p) {
		block, ok := f.next()
		if !ok {
			break
		}
		f.buffer.Write(block)
	}
	return f.buffer.Read(p)
}

func (f *file) Close() error {
	if f.closed {
		return &fs.PathError{Op: "close", Path: f.info.name, Err: fs.ErrClosed}
	}
	f.closed = true
	f.stop()
	return nil
}

// directory lists the files.
type directory struct{ names []string }

func (d *directory) Stat() (fs.FileInfo, error) { return info{".", fs.ModeDir | 0o555}, nil }
func (d *directory) Close() error               { return nil }
func (d *directory) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: ".", Err: errors.New("is a directory")}
}

// ReadDir returns the next count entries, all that are left where count ≤ 0.
func (d *directory) ReadDir(count int) ([]fs.DirEntry, error) {
	k := len(d.names)
	if count > 0 {
		if k == 0 {
			return nil, io.EOF
		}
		k = min(k, count)
	}
	entries := make([]fs.DirEntry, k)
	for i, name := range d.names[:k] {
		entries[i] = info{name, 0o444}
	}
	d.names = d.names[k:]
	return entries, nil
}
