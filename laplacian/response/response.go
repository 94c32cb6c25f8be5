// SPDX-License-Identifier: Apache-2.0

// Package response holds linear operators that are given entry by entry, in place of e^{-τL}: the reading that a unit source at a
// node causes at a sensor. Any linear transport is one: directed flow, delays, decay, several reading times of a sensor.
//
// Start with [NewBuilder]. An operator is public.
package response

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// ErrInvalid says that entries are no operator on a graph.
var ErrInvalid = errors.New("response: invalid operator")

// Largest is the largest size of a response other than 0, and 1/Largest the least: squares of sums stay finite.
const Largest = 1e100

// longestTime bounds the name of a reading time in bytes.
const longestTime = 64

// Reading is a row of an operator: what a sensor reads at a time.
type Reading struct {
	Node int    // of the sensor
	Time string // "" where each sensor reads once
}

// Operator is a matrix of readings by nodes.
type Operator struct {
	*linop.Sparse
	Name     string
	Readings []Reading // the rows, by node, and by time within
	times    []string  // of all sensors, also those that were not selected
	Digest   [32]byte  // of the entries by the ids of readings and nodes
}

// Times returns the reading times of all sensors in their order, also of those that were not selected; one "" where readings have
// none.
func (o *Operator) Times() []string { return o.times }

// ID names a reading: by its sensor, and where there are several times by sensor@time.
func (o *Operator) ID(g *graph.Graph, row int) graph.ID {
	r := o.Readings[row]
	if r.Time == "" {
		return g.ID(r.Node)
	}
	return g.ID(r.Node) + graph.ID("@"+r.Time)
}

// compareTimes orders times by their number where both are numbers, which come first, else by their text.
func compareTimes(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Or(cmp.Compare(x, y), strings.Compare(a, b))
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}

// Builder makes operators on one graph. All have the same readings: those that any of them names.
type Builder struct {
	g       *graph.Graph
	sensor  []bool // may read; nil: every node
	rows    map[Reading]int32
	times   map[string]bool
	parts   []*entries
	held    int64 // bytes
	granted int64 // by Guard, bytes

	// Guard refuses so many bytes of memory, twice what is held so far; nil: nothing is refused.
	Guard func(bytes int64) error
}

// While operators are built an entry takes so many bytes, and a reading or a time, which are in maps, at most so many and its text.
// Up to so many bytes nobody asks whether there is memory.
const (
	entryBytes   = 28
	namedBytes   = 128
	unaskedBytes = 1 << 24
)

// hold counts bytes and asks Guard before what is held has doubled.
func (b *Builder) hold(bytes int) error {
	if b.held += int64(bytes); b.Guard == nil || b.held <= max(b.granted, unaskedBytes) {
		return nil
	}
	b.granted = 2 * b.held
	return b.Guard(b.granted)
}

// entries are those of one operator, with readings numbered as they came.
type entries struct {
	name string
	row  []int32
	node []int32
	x    []float64
}

// NewBuilder returns a builder. Entries at other nodes than the given sensors are left out; nil: all are sensors.
func NewBuilder(g *graph.Graph, sensors []int) *Builder {
	b := &Builder{g: g, rows: make(map[Reading]int32), times: make(map[string]bool)}
	if sensors != nil {
		b.sensor = make([]bool, g.Order())
		for _, s := range sensors {
			b.sensor[s] = true
		}
	}
	return b
}

// Graph returns the graph that operators are made on.
func (b *Builder) Graph() *graph.Graph { return b.g }

// Begin starts the next operator.
func (b *Builder) Begin(name string) { b.parts = append(b.parts, &entries{name: name}) }

// Add adds an entry to the operator that was begun last. It returns [ErrInvalid] for a node that the graph does not have, a
// response that is no number in size from 1/[Largest] to [Largest] or 0, a time that is given for some readings only, and the error
// of Guard.
func (b *Builder) Add(sensor, node graph.ID, response float64, time string) error {
	s, ok := b.g.Index(sensor)
	if !ok {
		return fmt.Errorf("%w: the graph has no node %q, a sensor", ErrInvalid, sensor)
	}
	i, ok := b.g.Index(node)
	if !ok {
		return fmt.Errorf("%w: the graph has no node %q", ErrInvalid, node)
	}
	return b.AddAt(s, i, response, time)
}

// AddAt is [Builder.Add] for nodes by their numbers.
func (b *Builder) AddAt(sensor, node int, response float64, time string) error {
	if size := math.Abs(response); !(response == 0 || size >= 1/Largest && size <= Largest) {
		return fmt.Errorf("%w: sensor %q reads %v of a unit source at %q, want a finite number, 0 or from %v to %v in size", ErrInvalid,
			b.g.ID(sensor), response, b.g.ID(node), 1/Largest, Largest)
	}
	if len(b.times) > 0 && b.times[""] != (time == "") {
		return fmt.Errorf("%w: some readings have a time and some have none", ErrInvalid)
	}
	odd := func(r rune) bool { return r == '@' || !strconv.IsPrint(r) }
	if len(time) > longestTime || !utf8.ValidString(time) || strings.ContainsFunc(time, odd) {
		return fmt.Errorf("%w: a time is longer than %d bytes, holds @, or is not printable", ErrInvalid, longestTime)
	}
	if !b.times[time] {
		b.times[time] = true
		if err := b.hold(namedBytes + len(time)); err != nil {
			return err
		}
	}
	if b.sensor != nil && !b.sensor[sensor] {
		return nil
	}
	reading := Reading{sensor, time}
	row, ok := b.rows[reading]
	if !ok {
		row = int32(len(b.rows))
		b.rows[reading] = row
		if err := b.hold(namedBytes); err != nil {
			return err
		}
	}
	if response == 0 {
		return nil
	}
	p := b.parts[len(b.parts)-1]
	p.row, p.node, p.x = append(p.row, row), append(p.node, int32(node)), append(p.x, response)
	return b.hold(entryBytes)
}

// Build returns the operators in the order in which they were begun. It returns [ErrInvalid] for one without an entry, and for a
// sensor, node and time that are given twice.
func (b *Builder) Build() ([]*Operator, error) {
	readings := make([]Reading, len(b.rows))
	for r, row := range b.rows {
		readings[row] = r
	}
	order := make([]int32, len(readings))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortFunc(order, func(x, y int32) int {
		return cmp.Or(cmp.Compare(readings[x].Node, readings[y].Node), compareTimes(readings[x].Time, readings[y].Time))
	})
	place, sorted := make([]int32, len(order)), make([]Reading, len(order))
	for k, row := range order {
		place[row], sorted[k] = int32(k), readings[row]
	}
	times := slices.SortedFunc(maps.Keys(b.times), compareTimes)
	var list []*Operator
	for _, p := range b.parts {
		if len(p.x) == 0 {
			return nil, fmt.Errorf("%w: %q has no response of a selected sensor other than 0", ErrInvalid, p.name)
		}
		o := &Operator{Name: p.name, Readings: sorted, times: times, Sparse: p.matrix(place, b.g.Order())}
		if err := o.checkRepeated(b.g); err != nil {
			return nil, err
		}
		o.Digest = o.digest(b.g)
		*p = entries{} // a large one is not held twice
		list = append(list, o)
	}
	return list, nil
}

// matrix sorts the entries by column, and by row within; place is that of each reading.
func (p *entries) matrix(place []int32, nodes int) *linop.Sparse {
	start := make([]int64, nodes+1)
	for _, j := range p.node {
		start[j+1]++
	}
	for j := range nodes {
		start[j+1] += start[j]
	}
	next, row, x := slices.Clone(start), make([]int32, len(p.x)), make([]float64, len(p.x))
	for k, j := range p.node {
		at := next[j]
		row[at], x[at] = place[p.row[k]], p.x[k]
		next[j]++
	}
	for j := range nodes {
		sortColumn(row[start[j]:start[j+1]], x[start[j]:start[j+1]])
	}
	return linop.NewSparse(len(place), start, row, x)
}

// sortColumn sorts entries by row.
func sortColumn(row []int32, x []float64) {
	if slices.IsSorted(row) {
		return
	}
	type entry struct {
		row int32
		x   float64
	}
	all := make([]entry, len(row))
	for k := range all {
		all[k] = entry{row[k], x[k]}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.row, b.row) })
	for k, e := range all {
		row[k], x[k] = e.row, e.x
	}
}

// checkRepeated refuses two entries at one place.
func (o *Operator) checkRepeated(g *graph.Graph) error {
	for j := range g.Order() {
		rows, _ := o.Column(j)
		for k := 1; k < len(rows); k++ {
			if rows[k] == rows[k-1] {
				return fmt.Errorf("%w: %q gives the response of reading %q to node %q twice", ErrInvalid, o.Name, o.ID(g, int(rows[k])),
					g.ID(j))
			}
		}
	}
	return nil
}

// digest hashes readings and entries, each text behind its length.
func (o *Operator) digest(g *graph.Graph) (d [32]byte) {
	h := sha256.New()
	var buffer []byte
	text := func(s string) {
		buffer = append(binary.LittleEndian.AppendUint64(buffer, uint64(len(s))), s...)
	}
	flush := func() {
		h.Write(buffer)
		buffer = buffer[:0]
	}
	text("graphcloak/operator/v1")
	buffer = binary.LittleEndian.AppendUint64(buffer, uint64(len(o.Readings)))
	for _, r := range o.Readings {
		text(string(g.ID(r.Node)))
		text(r.Time)
		flush()
	}
	for j := range g.Order() {
		rows, x := o.Column(j)
		text(string(g.ID(j)))
		buffer = binary.LittleEndian.AppendUint64(buffer, uint64(len(rows)))
		for k, i := range rows {
			buffer = binary.LittleEndian.AppendUint64(buffer, uint64(i))
			buffer = binary.LittleEndian.AppendUint64(buffer, math.Float64bits(x[k]))
		}
		flush()
	}
	h.Sum(d[:0])
	return d
}
