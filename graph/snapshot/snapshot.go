// SPDX-License-Identifier: Apache-2.0

// Package snapshot keeps the graph of a store in a file that is mapped into memory, instead of read.
//
// [Write] makes the file and [Open] maps it. The file has no properties and no signal: they stay in the store.
package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/strictjson"
)

var (
	// ErrSnapshot says that a file is no whole snapshot that this program wrote.
	ErrSnapshot = errors.New("no whole snapshot")
	// ErrSelection says that a snapshot is of another part of its store than is asked for.
	ErrSelection = errors.New("the snapshot is of other nodes or relationships")
)

// header says what a snapshot is of.
type header struct {
	Format    string          `json:"format"`
	Selection graph.Selection `json:"selection"` // the part of the store that was read
	Digest    string          `json:"digest"`    // of the graph, in hexadecimal
	Nodes     int64           `json:"nodes"`
	Entries   int64           `json:"entries"` // two an edge
	NameBytes int64           `json:"nameBytes"`
	Weighted  bool            `json:"weighted"`
	Lengths   bool            `json:"lengths"`
	Dropped   graph.Dropped   `json:"dropped"`
}

const (
	format = "graphcloak/snapshot/v1"
	// The file begins with magic, the length of the header, and its SHA-256. Numbers have the byte order of the machine, and so has
	// magic.
	magic = 0x6763736e61703031
	// maxHeader bounds the header, in bytes: a selection may hold queries.
	maxHeader = 1 << 20
	// alignment is that of the numbers behind the header, in bytes.
	alignment = 8
)

// Write keeps a graph, and which part of its store it is. The file takes no other's place: then the error is [fs.ErrExist].
func Write(path string, g *graph.Graph, sel graph.Selection) error {
	s, digest := g.Stored(), g.Digest()
	h := header{
		Format: format, Selection: sel, Digest: hex.EncodeToString(digest[:]), Nodes: int64(g.Order()), Entries: int64(len(s.Adj)),
		NameBytes: int64(len(s.Names)), Weighted: s.Weight != nil, Lengths: s.Length != nil,
		Dropped: s.Dropped,
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	for len(text)%alignment != 0 {
		text = append(text, ' ')
	}
	return disk.Write(path, disk.Options{Mode: 0o600}, func(to io.Writer) error {
		w := writer{Writer: bufio.NewWriterSize(to, 1<<20)}
		w.integer(magic)
		w.integer(uint64(len(text)))
		sum := sha256.Sum256(text)
		w.Write(sum[:])
		w.Write(text)
		for _, list := range [][]int64{s.Ends, s.Ptr} {
			for _, x := range list {
				w.integer(uint64(x))
			}
		}
		for _, list := range [][]float64{s.Weight, s.Length} {
			for _, x := range list {
				w.integer(math.Float64bits(x))
			}
		}
		for _, x := range s.Adj {
			w.Write(binary.NativeEndian.AppendUint32(w.AvailableBuffer(), uint32(x)))
		}
		w.Write(s.Names)
		return w.Flush() // the first error of all
	})
}

type writer struct{ *bufio.Writer }

func (w writer) integer(x uint64) { w.Write(binary.NativeEndian.AppendUint64(w.AvailableBuffer(), x)) }

// Open maps a snapshot and checks all of it: that it is whole, that the rows are a graph's, and the digest. It returns [ErrSnapshot]
// with the file's name where something is amiss, [ErrSelection] where it is of another part of its store than sel, and the errors of
// [disk.Map]. The file stays mapped as long as the process runs.
func Open(path string, sel graph.Selection) (*graph.Graph, error) {
	h, data, err := read(path)
	if err != nil {
		return nil, err
	}
	was, err := json.Marshal(h.Selection)
	if err != nil {
		return nil, err
	}
	if wants, err := json.Marshal(sel); err != nil || !bytes.Equal(was, wants) {
		return nil, errors.Join(err, fmt.Errorf("%s: %w: it has %s, and %s is asked for", path, ErrSelection, was, wants))
	}
	amiss := func(format string, args ...any) (*graph.Graph, error) {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrSnapshot, fmt.Errorf(format, args...))
	}
	s := graph.Stored{Dropped: h.Dropped}
	p := parts{data}
	s.Ends, s.Ptr = part[int64](&p, h.Nodes+1), part[int64](&p, h.Nodes+1)
	if h.Weighted {
		s.Weight = part[float64](&p, h.Entries)
	}
	if h.Lengths {
		s.Length = part[float64](&p, h.Entries)
	}
	s.Adj = part[int32](&p, h.Entries)
	s.Names = p.data
	g, err := graph.Restore(s)
	if err != nil {
		return amiss("it was altered: %w", err)
	}
	if digest := g.Digest(); hex.EncodeToString(digest[:]) != h.Digest {
		return amiss("it was altered: its graph has the digest %x, and it states another", digest)
	}
	return g, nil
}

// read maps a file and returns its header and what is behind it, whose length is right.
func read(path string) (h header, data []byte, err error) {
	amiss := func(format string, args ...any) (header, []byte, error) {
		return header{}, nil, fmt.Errorf("%s: %w: %w", path, ErrSnapshot, fmt.Errorf(format, args...))
	}
	if data, err = disk.Map(path); err != nil {
		return header{}, nil, err
	}
	const start = 16 + sha256.Size
	if len(data) < start || binary.NativeEndian.Uint64(data) != magic {
		return amiss("graphcloak did not write it on a machine like this one")
	}
	size, sum := binary.NativeEndian.Uint64(data[8:]), data[16:start]
	if data = data[start:]; size > maxHeader || size%alignment != 0 || int(size) > len(data) {
		return amiss("it ends within its header")
	}
	if now := sha256.Sum256(data[:size]); !bytes.Equal(now[:], sum) {
		return amiss("its header was altered")
	}
	if err := strictjson.Unmarshal(data[:size], &h); err != nil {
		return amiss("%w", err)
	}
	data = data[size:]
	wants, ok := h.size()
	switch {
	case h.Format != format:
		return amiss("it has the format %.40q, want %q", h.Format, format)
	case !ok:
		return amiss("it states %d nodes and %d entries", h.Nodes, h.Entries)
	case wants != int64(len(data)):
		return amiss("it has %d bytes behind its header, want %d: make it again", len(data), wants)
	}
	return h, data, nil
}

// size returns the number of bytes behind the header, unless what it states is out of bounds.
func (h header) size() (int64, bool) {
	const limit = 1 << 48 // entries and bytes; so that no sum overflows
	if h.Nodes < 0 || h.Nodes > math.MaxInt32 || h.Entries < 0 || h.Entries > limit || h.NameBytes < 0 || h.NameBytes > limit {
		return 0, false
	}
	values := int64(0)
	for _, there := range []bool{h.Weighted, h.Lengths} {
		if there {
			values += h.Entries
		}
	}
	return 8*(2*(h.Nodes+1)+values) + 4*h.Entries + h.NameBytes, true
}

// parts hands out a mapped file from its front.
type parts struct{ data []byte }

// part returns the next n numbers; the file has so many, at a place that is a multiple of their size.
func part[T int32 | int64 | float64](p *parts, n int64) []T {
	var size T
	bytes := n * int64(unsafe.Sizeof(size))
	if bytes == 0 {
		return []T{}
	}
	list := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(p.data[:bytes]))), n)
	p.data = p.data[bytes:]
	return list
}
