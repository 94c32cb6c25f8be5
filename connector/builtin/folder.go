// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/disk"
)

// Folder is a file system that holds nodes.csv and relationships.csv.
type Folder struct {
	fs.FS
	Name      string // as in --from, such as example:karate
	Summary   string // one line
	Community string // node property with the known communities; "": none
	Heard     string // node property that says who has heard a whisper; "": there is none
	Caption   string // node property that a reader calls the nodes by; "": their ids
}

// The files of a folder, and the property that marks where something started: 1
// at the source and 0 elsewhere.
const (
	NodesFile         = "nodes.csv"
	RelationshipsFile = "relationships.csv"
	SourceProperty    = "source"
)

// sample is a generated graph and what the generator knows of its nodes.
type sample struct {
	graph  *graph.Graph
	blocks []int         // nil, or the community of each node
	points []graph.Point // nil, or the place of each node
}

// CopyTo copies the CSV files of a graph into a folder that does not have them yet. What a run wrote there stays.
func (f Folder) CopyTo(dir string) error {
	for _, name := range []string{RelationshipsFile, NodesFile} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		in, err := f.Open(name)
		if err != nil {
			return fmt.Errorf("copy graph: %w", err)
		}
		err = disk.Write(path, disk.Options{Mode: 0o600}, func(w io.Writer) error {
			_, err := io.Copy(w, in)
			return err
		})
		if in.Close(); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("copy graph: %w", err)
		}
	}
	return nil
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
