// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"time"
)

// table is a file system of CSV files that are written when they are opened.
type table map[string]func() []byte

func (s sample) files() fs.FS {
	return table{NodesFile: s.nodes, RelationshipsFile: s.relationships}
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

// Open opens one of the files, or "." for their list.
func (t table) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return &directory{names: slices.Sorted(maps.Keys(t))}, nil
	}
	text, ok := t[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &file{Reader: bytes.NewReader(text()), info: info{name, 0o444}}, nil
}

// info describes a file or the directory. As for the files of /proc, the size is
// not known before it is opened and is said to be 0.
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

type file struct {
	*bytes.Reader
	info info
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *file) Close() error               { return nil }

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
