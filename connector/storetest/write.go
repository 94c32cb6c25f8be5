// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
)

// read returns what a store holds of a column, as text, "" where nothing is.
func read(t *testing.T, st Store, g *graph.Graph, c report.Column) []string {
	t.Helper()
	if c.Strings != nil {
		got, err := st.Labels(t.Context(), g, c.Name)
		if errors.Is(err, connector.ErrNotFound) {
			return make([]string, g.Order())
		}
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	texts := make([]string, g.Order())
	got, err := st.Signal(t.Context(), g, c.Name)
	if errors.Is(err, connector.ErrNotFound) {
		return texts
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range got {
		if !math.IsNaN(x) {
			texts[i] = text(x)
		}
	}
	return texts
}

// expected returns the same for a table.
func expected(c report.Column, n int) []string {
	texts := make([]string, n)
	put := func(i, k int) {
		switch {
		case c.Floats != nil:
			texts[i] = text(c.Floats[k])
		case c.Ints != nil:
			texts[i] = strconv.FormatInt(c.Ints[k], 10)
		default:
			texts[i] = c.Strings[k]
		}
	}
	if c.Nodes == nil {
		for i := range n {
			put(i, i)
		}
	}
	for k, i := range c.Nodes {
		put(i, k)
	}
	return texts
}

// holds checks that the store holds exactly the table on the nodes that it covers.
func holds(t *testing.T, st Store, g *graph.Graph, table report.Table) {
	t.Helper()
	covered := connector.Covered(table, g.Order())
	for _, c := range table.Columns() {
		got, expect := read(t, st, g, c), expected(c, g.Order())
		for _, i := range covered {
			if got[i] != expect[i] {
				t.Errorf("%s of node %s is %q, want %q", c.Name, g.ID(i), got[i], expect[i])
			}
		}
	}
}

// nothing checks that no column of the table stands on any node.
func nothing(t *testing.T, st Store, g *graph.Graph, table report.Table) {
	t.Helper()
	for _, c := range table.Columns() {
		if got := read(t, st, g, c); slices.ContainsFunc(got, func(s string) bool { return s != "" }) {
			t.Errorf("%s is %q, want nothing", c.Name, got)
		}
	}
}

func write(t *testing.T, st Store, g *graph.Graph, table report.Table) {
	t.Helper()
	if err := st.Check(t.Context(), g, table, false); err != nil {
		t.Fatal(err)
	}
	if err := st.Write(t.Context(), g, table, false); err != nil {
		t.Fatal(err)
	}
}

func status(t *testing.T, st Store, runID string, want jobs.Status) jobs.Run {
	t.Helper()
	run, err := st.Run(t.Context(), runID)
	if err != nil {
		t.Fatal(err)
	}
	if run.Write.Status != want {
		t.Errorf("run %s is %s, want %s", runID, run.Write.Status, want)
	}
	return run
}

func testWrite(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	g := open(t, s, st, graph.Selection{RelationshipWeightProperty: "weight"})
	table := Table(t, g, runID(t, "a"), prefix)
	if err := st.Check(t.Context(), g, table, false); err != nil {
		t.Fatal(err)
	}
	nothing(t, st, g, table)
	write(t, st, g, table)
	holds(t, st, g, table)
	run := status(t, st, table.RunID(), jobs.Finished)
	if w := run.Write; w.Nodes != int64(len(connector.Covered(table, g.Order()))) || w.RunIDColumn != table.RunIDColumn() ||
		w.Table != connector.TableHash(table) {
		t.Errorf("the record %+v does not describe the table", run)
	}
	if run.Status != jobs.Finished || !run.Spent || run.ReleaseID != table.RunID() || run.Verdict != "undecided" || run.Message != "" {
		t.Errorf("the record %+v does not say what the table does", run)
	}
	other := s.Reopen(t, st)
	same := open(t, s, other, graph.Selection{RelationshipWeightProperty: "weight"})
	if same.Digest() != g.Digest() {
		t.Error("writing changed the graph")
	}
	holds(t, other, same, table)
	if got, err := st.Labels(t.Context(), g, "club"); err != nil || !slices.Equal(got, []string{"red", "blue", "red", "", "blue"}) {
		t.Errorf("writing changed the user's property: %q, %v", got, err)
	}
}

// runID makes ids that do not meet in a store that outlives the test.
func runID(t *testing.T, suffix string) string {
	return strings.ReplaceAll(t.Name(), "/", "-") + "-" + suffix + "-" + token()
}

func testAgain(t *testing.T, s Suite) {
	st, g := opened(t, s)
	id := runID(t, "a")
	table := Table(t, g, id, prefix)
	write(t, st, g, table)
	write(t, st, g, table) // the same table completes the same run
	holds(t, st, g, table)
	other := Table(t, g, id, prefix, 1, 3)
	if err := st.Check(t.Context(), g, other, true); !errors.Is(err, connector.ErrConflict) {
		t.Errorf("Check of other values under the id of a run: %v, want ErrConflict", err)
	}
	if err := st.Write(t.Context(), g, other, true); !errors.Is(err, connector.ErrConflict) {
		t.Errorf("Write of other values under the id of a run: %v, want ErrConflict", err)
	}
	holds(t, st, g, table)
}

func testReplaced(t *testing.T, s Suite) {
	st, g := opened(t, s)
	first, second := Table(t, g, runID(t, "a"), prefix), Table(t, g, runID(t, "b"), prefix, 1, 3)
	write(t, st, g, first)
	write(t, st, g, second)
	holds(t, st, g, second)
	covered := connector.Covered(second, g.Order())
	for _, c := range first.Columns() {
		if slices.ContainsFunc(second.Columns(), func(d report.Column) bool { return d.Name == c.Name }) {
			continue
		}
		got := read(t, st, g, c)
		for _, i := range covered {
			if got[i] != "" {
				t.Errorf("node %s carries %s = %q of the run before", g.ID(i), c.Name, got[i])
			}
		}
	}
	removed, err := st.Undo(t.Context(), first.RunID())
	if left := int64(len(connector.Covered(first, g.Order())) - len(covered)); err != nil || removed != left {
		t.Errorf("undoing the replaced run: %d nodes, %v, want %d", removed, err, left)
	}
	holds(t, st, g, second)
}

func testUsers(t *testing.T, s Suite) {
	column := report.Outline("", prefix, nil).Columns()[0].Name
	lines := strings.SplitAfter(nodesCSV, "\n")
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case i == 0:
			line += "," + column
		case strings.HasPrefix(line, "3,"):
			line += ",42"
		case line != "":
			line += ","
		default:
			continue
		}
		lines[i] = line + "\n"
	}
	st := s.Open(t, strings.Join(lines, ""), relationshipsCSV)
	g := open(t, s, st, graph.Selection{})
	table := Table(t, g, runID(t, "a"), prefix)
	for name, f := range map[string]func(context.Context, *graph.Graph, report.Table, bool) error{"Check": st.Check, "Write": st.Write} {
		err := f(t.Context(), g, table, false)
		if !errors.Is(err, connector.ErrConflict) || !strings.Contains(err.Error(), column+" (1);") {
			t.Errorf("%s over the user's property: %v, want ErrConflict that counts one", name, err)
		}
	}
	if got := read(t, st, g, table.Columns()[0]); !slices.Equal(got, []string{"", "", "42", "", ""}) {
		t.Errorf("a refused write left %q", got)
	}
	if err := st.Write(t.Context(), g, table, true); err != nil {
		t.Fatal(err)
	}
	holds(t, st, g, table)
}

func testUndo(t *testing.T, s Suite) {
	st, g := opened(t, s)
	table := Table(t, g, runID(t, "a"), prefix)
	write(t, st, g, table)
	removed, err := st.Undo(t.Context(), table.RunID())
	if err != nil || removed != int64(len(connector.Covered(table, g.Order()))) {
		t.Errorf("Undo: %d nodes, %v", removed, err)
	}
	nothing(t, st, g, table)
	status(t, st, table.RunID(), jobs.Undone)
	if removed, err := st.Undo(t.Context(), table.RunID()); err != nil || removed != 0 {
		t.Errorf("a second Undo: %d nodes, %v, want none", removed, err)
	}
	if err := st.Write(t.Context(), g, table, false); !errors.Is(err, connector.ErrConflict) {
		t.Errorf("writing a run that was undone: %v, want ErrConflict", err)
	}
	if _, err := st.Undo(t.Context(), table.RunID()+"x"); !errors.Is(err, connector.ErrNotFound) {
		t.Errorf("undoing an unknown run: %v, want ErrNotFound", err)
	}
	if again := open(t, s, st, graph.Selection{}); again.Digest() != g.Digest() {
		t.Error("a run and its undoing changed the graph")
	}
	if got, err := st.Labels(t.Context(), g, "club"); err != nil || !slices.Equal(got, []string{"red", "blue", "red", "", "blue"}) {
		t.Errorf("a run and its undoing changed the user's property: %q, %v", got, err)
	}
}

func testCancelled(t *testing.T, s Suite) {
	st, g := opened(t, s)
	table := Table(t, g, runID(t, "a"), prefix)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := st.Graph(ctx, s.selection(st, graph.Selection{})); !errors.Is(err, context.Canceled) {
		t.Errorf("Graph: %v, want context.Canceled", err)
	}
	if err := st.Write(ctx, g, table, false); !errors.Is(err, context.Canceled) {
		t.Errorf("Write: %v, want context.Canceled", err)
	}
	nothing(t, st, g, table)
	if _, err := st.Run(t.Context(), table.RunID()); !errors.Is(err, connector.ErrNotFound) {
		t.Errorf("a cancelled write left a run: %v", err)
	}
}

// A reservation keeps others from the graph until its run is written, undone or
// cancelled, and changes no node.
func testReserve(t *testing.T, s Suite) {
	st, g := opened(t, s)
	outline := func(suffix string) report.Table { return report.Outline(runID(t, suffix), prefix, nil) }
	first, second := outline("a").With(report.Property{Name: "budgetScope", Value: "s"}), outline("b")
	reserve := func(table report.Table) error { return st.Reserve(t.Context(), g, table, false) }
	if err := reserve(first); err != nil {
		t.Fatal(err)
	}
	nothing(t, st, g, first)
	if run := status(t, st, first.RunID(), jobs.Reserved); run.BudgetScope != "s" {
		t.Errorf("the record %+v lacks its scope", run)
	}
	if err := reserve(first); err != nil { // a reply that was lost
		t.Errorf("the same reservation again: %v", err)
	}
	for what, err := range map[string]error{
		"Check":   st.Check(t.Context(), g, second, true),
		"Reserve": st.Reserve(t.Context(), g, second, true),
	} {
		unfinished, ok := errors.AsType[*connector.UnfinishedError](err)
		if !ok || unfinished.RunID != first.RunID() || !errors.Is(err, connector.ErrConflict) {
			t.Errorf("%s beside a reservation: %v, want the run that is in the way", what, err)
		}
	}
	if _, err := st.Run(t.Context(), second.RunID()); !errors.Is(err, connector.ErrNotFound) {
		t.Errorf("who lost has a record: %v", err)
	}
	if err := st.Cancel(t.Context(), first.RunID()); err != nil {
		t.Fatal(err)
	}
	status(t, st, first.RunID(), jobs.Canceled)
	if err := reserve(second); err != nil {
		t.Fatalf("after the other was cancelled: %v", err)
	}
	table := TableOf(t, g, Release(t, g, second.RunID()), prefix)
	if err := st.Write(t.Context(), g, table, false); err != nil {
		t.Fatal(err)
	}
	holds(t, st, g, table)
	for _, id := range []string{second.RunID(), second.RunID() + "x"} { // finished, unknown
		if err := st.Cancel(t.Context(), id); err != nil {
			t.Errorf("cancelling run %s: %v", id, err)
		}
	}
	if err := reserve(second); !errors.Is(err, connector.ErrConflict) {
		t.Errorf("reserving a run that is finished: %v, want ErrConflict", err)
	}
	status(t, st, second.RunID(), jobs.Finished)
	third := outline("c")
	if err := reserve(third); err != nil {
		t.Fatal(err)
	}
	if n, err := st.Undo(t.Context(), third.RunID()); err != nil || n != 0 {
		t.Errorf("undoing a reservation: %d nodes, %v", n, err)
	}
	if err := reserve(third); !errors.Is(err, connector.ErrConflict) {
		t.Errorf("reserving a run that was undone: %v, want ErrConflict", err)
	}
	holds(t, st, g, table)
}

// Of eight that reserve at once, each by a handle of its own, one does.
func testReserveRace(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	var won atomic.Int64
	var wg sync.WaitGroup
	var ids []string
	for k := range 8 {
		other := s.Reopen(t, st)
		g := open(t, s, other, graph.Selection{})
		ids = append(ids, runID(t, strconv.Itoa(k)))
		outline := report.Outline(ids[k], prefix, nil)
		wg.Go(func() {
			err := other.Reserve(t.Context(), g, outline, false)
			if err == nil {
				won.Add(1)
			} else if _, ok := errors.AsType[*connector.UnfinishedError](err); !ok {
				t.Errorf("who lost: %v, want an UnfinishedError", err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d runs are reserved, want 1", won.Load())
	}
	for _, id := range ids { // the reservation would be in the way of later tests on a server that stays
		if err := st.Cancel(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
}
