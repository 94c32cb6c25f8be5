// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/report"
)

// RunLabel is the label of the node that records a run.
const RunLabel = "GraphCloakRun"

// A Status is how far a run has come: reserved, running, then finished or undone; or
// reserved and cancelled.
const (
	Reserved  = "RESERVED" // nothing is written; its budget is about to be spent, or is
	Cancelled = "CANCELED" // it was reserved, and nothing was spent
	Running   = "RUNNING"  // some values may be written
	Finished  = "FINISHED" // all values are written
	Undone    = "UNDONE"   // the values were removed; what was spent stays spent
)

// Run is what a store knows of a run.
type Run struct {
	ID          string         `json:"runId"`
	Status      string         `json:"status"`
	RunIDColumn string         `json:"runIdProperty"`    // property that holds the run's id on each node
	Columns     []string       `json:"properties"`       // every property that it writes, RunIDColumn too
	Table       string         `json:"tableDigest"`      // [TableHash] of what it writes; "" for an outline
	Graph       string         `json:"graphDigest"`      // of the graph, hexadecimal
	Nodes       int64          `json:"nodesWritten"`     // nodes that carry its values
	Record      map[string]any `json:"record,omitempty"` // [report.Table.Record]
}

// NewRun returns the record of a run that is about to be written.
func NewRun(graph [32]byte, t report.Table) Run {
	r := Run{
		ID: t.RunID(), Status: Running, RunIDColumn: t.RunIDColumn(),
		Graph: hex.EncodeToString(graph[:]), Record: map[string]any{},
	}
	for _, c := range t.Columns() {
		r.Columns = append(r.Columns, c.Name)
	}
	if HasValues(t) {
		r.Table = TableHash(t)
	}
	for _, p := range t.Record() {
		r.Record[p.Name] = p.Value
	}
	return r
}

// Recorded returns a run as it was read back, with only those property names that a
// run can have written: what stands in a store may have been put there by somebody
// else, and the names are removed from nodes.
func Recorded(r Run) Run {
	prefix, ok := strings.CutSuffix(r.RunIDColumn, report.Outline("", "", nil).RunIDColumn()[len(report.DefaultPrefix):])
	if !ok || prefix == "" {
		r.RunIDColumn, r.Columns = "", nil
		return r
	}
	own := report.WrittenNames(prefix)
	r.Columns = slices.DeleteFunc(slices.Clone(r.Columns), func(name string) bool { return !slices.Contains(own, name) })
	return r
}

// UnfinishedError says that another run is in the way. It matches [ErrConflict].
type UnfinishedError struct{ RunID, Status string }

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("run %s is unfinished on this graph (%s)", e.RunID, e.Status)
}

// Is reports whether target is [ErrConflict].
func (e *UnfinishedError) Is(target error) bool { return target == ErrConflict }

// Admit decides whether run may be reserved, or written, beside the runs that the
// store knows. A record of the same id must hold the same table, if it holds one: a
// resumed write re-sends what was staged. Another run that is unfinished on the same
// graph, or on nodes of it (touched, by id), is in the way, because values of the two
// would mix: an [UnfinishedError], which is [ErrConflict].
func (run Run) Admit(known []Run, touched []string) error {
	for _, k := range known {
		switch {
		case k.ID == run.ID:
			if k.Status == Undone {
				return fmt.Errorf("%w: run %s was undone; start a new run", ErrConflict, k.ID)
			}
			if run.Status == Reserved && k.Status != Reserved && k.Status != Cancelled {
				return fmt.Errorf("%w: run %s was started before (%s)", ErrConflict, k.ID, k.Status)
			}
			if run.Table != "" && k.Table != "" && k.Table != run.Table {
				return fmt.Errorf("%w: run %s was started with other values; resume it with the staged ones", ErrConflict, k.ID)
			}
		case (k.Status == Running || k.Status == Reserved) && k.RunIDColumn == run.RunIDColumn &&
			(k.Graph == run.Graph || slices.Contains(touched, k.ID)):
			return &UnfinishedError{k.ID, k.Status}
		}
	}
	return nil
}

// Stale returns the properties that other runs wrote under the same run-id
// property and this one does not. They are removed from every node that the run
// writes, so that a node never carries values of two runs.
func (run Run) Stale(known []Run) []string {
	var stale []string
	for _, k := range known {
		if k.ID == run.ID || k.RunIDColumn != run.RunIDColumn {
			continue
		}
		for _, c := range k.Columns {
			if !slices.Contains(run.Columns, c) && !slices.Contains(stale, c) {
				stale = append(stale, c)
			}
		}
	}
	slices.Sort(stale)
	return stale
}

// HasValues reports whether every column holds a value for each of its nodes; a
// [report.Outline] has none, and can be checked but not written.
func HasValues(t report.Table) bool {
	return !slices.ContainsFunc(t.Columns(), func(c report.Column) bool {
		n := len(c.Floats) + len(c.Ints) + len(c.Strings)
		return n == 0 && (c.Nodes == nil || len(c.Nodes) > 0)
	})
}

// TableHash returns SHA-256 over the run id and the columns of a table, in
// hexadecimal.
func TableHash(t report.Table) string {
	w := tableWriter{sha256.New()}
	w.text(t.RunID())
	for _, c := range t.Columns() {
		w.text(c.Name)
		w.number(uint64(len(c.Nodes)))
		for _, i := range c.Nodes {
			w.number(uint64(i))
		}
		w.number(uint64(len(c.Floats)))
		for _, x := range c.Floats {
			w.number(math.Float64bits(x))
		}
		w.number(uint64(len(c.Ints)))
		for _, x := range c.Ints {
			w.number(uint64(x))
		}
		w.number(uint64(len(c.Strings)))
		for _, s := range c.Strings {
			w.text(s)
		}
	}
	return hex.EncodeToString(w.Sum(nil))
}

type tableWriter struct{ hash.Hash }

func (w tableWriter) number(x uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], x)
	w.Write(b[:])
}

func (w tableWriter) text(s string) {
	w.number(uint64(len(s)))
	w.Write([]byte(s))
}

// Covered returns the nodes that a table writes: those of its run-id column, of
// n nodes.
func Covered(t report.Table, n int) []int {
	columns := t.Columns()
	if nodes := columns[len(columns)-1].Nodes; nodes != nil {
		return nodes
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Cell returns entry k of a column as a property value.
func Cell(c report.Column, k int) any {
	switch {
	case c.Floats != nil:
		return c.Floats[k]
	case c.Ints != nil:
		return c.Ints[k]
	}
	return c.Strings[k]
}

// FindRun returns the run with this id, or a [NotFoundError].
func FindRun(runs []Run, id string) (Run, error) {
	var ids []string
	for _, r := range runs {
		if r.ID == id {
			return r, nil
		}
		ids = append(ids, r.ID)
	}
	return Run{}, NotFound("run", id, ids)
}
