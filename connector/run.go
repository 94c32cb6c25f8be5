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
	"time"

	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
)

// RunLabel is the label of the node that records a run.
const RunLabel = "GraphCloakRun"

// NewRun returns the record of a run whose table is about to be written, at a status.
func NewRun(graph [32]byte, t report.Table, status jobs.Status) jobs.Run {
	w := &jobs.Write{Status: status, RunIDColumn: t.RunIDColumn(), Graph: hex.EncodeToString(graph[:])}
	for _, c := range t.Columns() {
		w.Columns = append(w.Columns, c.Name)
	}
	if HasValues(t) {
		w.Table = TableHash(t)
	}
	r := jobs.Run{RunID: t.RunID(), Mode: "write", Write: w}
	places := map[string]any{
		"releaseId": &r.ReleaseID, report.SignalKey: &r.Signal, "budgetScope": &r.BudgetScope, "startedAt": &r.StartedAt,
		"epsilonSpent": &r.EpsilonSpent, "deltaSpent": &r.DeltaSpent, "community": &r.Answer, "communityProbability": &r.Probability,
		report.VerdictKey: &r.Verdict, report.FaultySensorsKey: &r.FaultySensors, "bpdnStatus": &r.BPDNStatus,
	}
	for _, p := range t.Record() {
		switch at := places[p.Name].(type) {
		case *string:
			*at, _ = p.Value.(string)
		case *float64:
			*at, _ = p.Value.(float64)
		case *int64:
			*at, _ = p.Value.(int64)
		case *time.Time:
			text, _ := p.Value.(string)
			*at, _ = time.Parse(time.RFC3339, text)
		}
	}
	return r
}

// Known returns a run as a store shows it, of its record as it was read back. Only those property names are left
// that a run can have written: what stands in a store may have been put there by somebody else, and the names are
// removed from nodes. Of a run that nobody put, its write says how far it has come.
func Known(r jobs.Run) jobs.Run {
	if r.Write == nil {
		return r
	}
	w := *r.Write
	r.Write = &w
	prefix, ok := strings.CutSuffix(w.RunIDColumn, report.Outline("", "", nil).RunIDColumn()[len(report.DefaultPrefix):])
	if ok = ok && prefix != ""; !ok {
		w.RunIDColumn = ""
	}
	own := report.WrittenNames(prefix)
	w.Columns = slices.DeleteFunc(slices.Clone(w.Columns), func(name string) bool { return !ok || !slices.Contains(own, name) })
	if r.Put() {
		return r
	}
	r.Status, r.Spent = jobs.Finished, true
	if r.Writing() { // what it wrote so far is no answer
		r.Status, r.Answer, r.Probability, r.Verdict, r.FaultySensors = jobs.Running, "", 0, "", 0
	}
	switch w.Status {
	case jobs.Reserved:
		r.Spent, r.Message = false, "its budget is about to be spent, or is"
	case jobs.Running:
		r.Message = "it is paid for, and its values are being written"
	case jobs.Canceled:
		r.Status, r.Spent, r.Message = jobs.Canceled, false, "nothing was spent"
	case jobs.Undone:
		r.Message = "its values were removed"
	}
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
//
// It returns the record to keep: where the run was put before, that with the new write. Stale are the properties
// that other runs wrote under the same run-id property and this one does not. They are removed from every node that
// the run writes, so that a node never carries values of two runs.
func Admit(run jobs.Run, known []jobs.Run, touched []string) (record jobs.Run, stale []string, err error) {
	record = run
	for _, k := range known {
		switch {
		case k.RunID == run.RunID:
			if k.Put() {
				record = k
				record.Write = run.Write
			}
			if err := again(run, k); err != nil {
				return run, nil, err
			}
		case k.Write == nil || k.Write.RunIDColumn != run.Write.RunIDColumn:
		case k.Writing() && (k.Write.Graph == run.Write.Graph || slices.Contains(touched, k.RunID)):
			return run, nil, &UnfinishedError{k.RunID, string(k.Write.Status)}
		default:
			for _, c := range k.Write.Columns {
				if !slices.Contains(run.Write.Columns, c) && !slices.Contains(stale, c) {
					stale = append(stale, c)
				}
			}
		}
	}
	slices.Sort(stale)
	return record, stale, nil
}

// again refuses a run that the store knows under its id and cannot go on with.
func again(run, known jobs.Run) error {
	w := known.Write
	switch {
	case w == nil:
	case w.Status == jobs.Undone:
		return fmt.Errorf("%w: run %s was undone; start a new run", ErrConflict, known.RunID)
	case run.Write.Status == jobs.Reserved && w.Status != jobs.Reserved && w.Status != jobs.Canceled:
		return fmt.Errorf("%w: run %s was started before (%s)", ErrConflict, known.RunID, w.Status)
	case run.Write.Table != "" && w.Table != "" && w.Table != run.Write.Table:
		return fmt.Errorf("%w: run %s was started with other values; resume it with the staged ones", ErrConflict, known.RunID)
	}
	return nil
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

// FindWritten returns the run with this id that writes, or a [NotFoundError].
func FindWritten(runs []jobs.Run, id string) (jobs.Run, error) {
	var ids []string
	for _, r := range runs {
		if r.RunID == id && r.Write != nil {
			return r, nil
		}
		ids = append(ids, r.RunID)
	}
	return jobs.Run{}, NotFound("run", id, ids)
}
