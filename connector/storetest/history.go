// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// historyRun is a run of the history that began hours after noon.
func historyRun(t *testing.T, job string, hours int, status jobs.Status) jobs.Run {
	start := noon.Add(time.Duration(hours) * time.Hour)
	return jobs.Run{
		RunID: runID(t, job), JobName: job, NominalTime: start, Status: status, Mode: "stats", Signal: "source",
		BudgetScope: "property=source", ReleaseID: "r",
		StartedAt: start, EndedAt: start.Add(1500 * time.Millisecond), DurationMillis: 1500, Spent: true, EpsilonSpent: 0.5,
		DeltaSpent: 1e-6,
		Answer:     "club 1", Probability: 0.875, Verdict: "named", FaultySensors: 2, BPDNStatus: "optimal", ExitCode: 12,
		Message: "with warnings", Report: []byte(`{"runId":"r"}`),
	}
}

func put(t *testing.T, j jobs.History, runs ...jobs.Run) {
	t.Helper()
	for _, r := range runs {
		if err := j.PutRun(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

// same compares runs, with their reports.
func same(a, b jobs.Run) bool {
	if string(a.Report) != string(b.Report) {
		return false
	}
	ra, rb := a, b
	ra.Report, rb.Report, ra.Write, rb.Write = nil, nil, nil, nil
	for _, times := range [][2]*time.Time{{&ra.NominalTime, &rb.NominalTime}, {&ra.StartedAt, &rb.StartedAt}, {&ra.EndedAt, &rb.EndedAt}} {
		if !times[0].Equal(*times[1]) {
			return false
		}
		*times[0], *times[1] = time.Time{}, time.Time{}
	}
	return fmt.Sprint(ra) == fmt.Sprint(rb)
}

func testHistory(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ctx, j, other := t.Context(), s.History(st), s.History(s.Reopen(t, st))
	job := "history " + token()
	first, second, third := historyRun(t, job, 0, jobs.Finished), historyRun(t, job, 1, jobs.Failed), historyRun(t, job, 2, jobs.Running)
	put(t, j, second, first, third)
	if got, err := other.GetRun(ctx, first.RunID); err != nil || !same(got, first) {
		t.Errorf("the run is %+v, %v, want %+v", got, err, first)
	}
	_, err := other.GetRun(ctx, first.RunID+"x")
	is(t, "an unknown run", err, jobs.ErrNoJob)
	third.Status, third.Spent, third.EpsilonSpent, third.Answer, third.Report = jobs.Canceled, false, 0, "", nil
	third.NominalTime, third.JobName = time.Time{}, ""
	put(t, j, third) // in place of the entry before
	if got, err := other.GetRun(ctx, third.RunID); err != nil || !same(got, third) {
		t.Errorf("the run is %+v, %v, want %+v", got, err, third)
	}
	third.JobName = job
	put(t, j, third)
	for _, test := range []struct {
		q    jobs.RunQuery
		want []string
	}{
		{jobs.RunQuery{JobName: job}, []string{third.RunID, second.RunID, first.RunID}},
		{jobs.RunQuery{JobName: job, Limit: 2}, []string{third.RunID, second.RunID}},
		{jobs.RunQuery{JobName: job, Status: jobs.Failed}, []string{second.RunID}},
		{jobs.RunQuery{JobName: job, Since: noon.Add(time.Hour)}, []string{third.RunID, second.RunID}},
		{jobs.RunQuery{JobName: job + "x"}, nil},
	} {
		runs, err := other.ListRuns(ctx, test.q)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range runs {
			ids = append(ids, r.RunID)
			if r.Report != nil {
				t.Errorf("the list holds the report of run %s", r.RunID)
			}
		}
		if !slices.Equal(ids, test.want) {
			t.Errorf("%+v: %q, want %q", test.q, ids, test.want)
		}
	}
}

// find returns a run of the history, whether it is listed.
func find(t *testing.T, j jobs.History, runID string) (jobs.Run, bool) {
	t.Helper()
	all, err := j.ListRuns(t.Context(), jobs.RunQuery{})
	if err != nil {
		t.Fatal(err)
	}
	k := slices.IndexFunc(all, func(r jobs.Run) bool { return r.RunID == runID })
	if k < 0 {
		return jobs.Run{}, false
	}
	return all[k], true
}

// Runs without an entry are in the history by their records, and the entry of a
// run leaves its record as it is.
func testHistoryOfStore(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ctx, j := t.Context(), s.History(st)
	g := open(t, s, st, graph.Selection{})
	outline := report.Outline(runID(t, "reserved"), prefix, nil).With(report.Property{Name: "budgetScope", Value: "s"},
		report.Property{Name: "startedAt", Value: "2001-02-03T04:05:06Z"})
	if err := st.Reserve(ctx, g, outline, false); err != nil {
		t.Fatal(err)
	}
	r, ok := find(t, j, outline.RunID())
	if !ok || r.Status != jobs.Running || r.BudgetScope != "s" || !r.StartedAt.Equal(time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)) ||
		r.Message == "" {
		t.Errorf("a run that is reserved is listed as %+v (%v)", r, ok)
	}
	if err := st.Cancel(ctx, outline.RunID()); err != nil {
		t.Fatal(err)
	}
	if r, _ = find(t, j, outline.RunID()); r.Status != jobs.Canceled || r.Spent {
		t.Errorf("a run that was cancelled is listed as %+v", r)
	}
	table := Table(t, g, runID(t, "written"), prefix)
	write(t, st, g, table)
	if r, ok = find(t, j, table.RunID()); !ok || r.Status != jobs.Finished || !r.Spent || r.ReleaseID != table.RunID() ||
		r.Mode != "write" {
		t.Errorf("a run that was written is listed as %+v (%v)", r, ok)
	}
	before := status(t, st, table.RunID(), jobs.Finished).Write
	own := historyRun(t, "own "+token(), 3, jobs.Finished)
	own.RunID = table.RunID()
	put(t, j, own)
	if got, err := j.GetRun(ctx, own.RunID); err != nil || !same(got, own) {
		t.Errorf("its entry is %+v, %v", got, err)
	}
	own.BudgetScope, own.ReleaseID, own.BPDNStatus, own.Status = "", "", "", jobs.Failed // as of an attempt that failed to go on
	put(t, j, own)
	if got, err := j.GetRun(ctx, own.RunID); err != nil || !same(got, own) {
		t.Errorf("its last entry is %+v, %v", got, err)
	}
	after := status(t, st, table.RunID(), jobs.Finished).Write
	if !reflect.DeepEqual(before, after) || after.Table != connector.TableHash(table) || !slices.Equal(after.Columns, columnsOf(table)) {
		t.Errorf("its write is %+v, was %+v", after, before)
	}
	stream := historyRun(t, "stream "+token(), 4, jobs.Failed)
	put(t, j, stream)
	if _, err := st.Run(ctx, stream.RunID); err == nil {
		t.Error("a run that writes nothing has a record of its writing")
	}
	if _, err := st.Undo(ctx, table.RunID()); err != nil {
		t.Fatal(err)
	}
}

func columnsOf(t report.Table) (names []string) {
	for _, c := range t.Columns() {
		names = append(names, c.Name)
	}
	return names
}

// testPrune: pruning takes ended runs of before a time, their reports and their values on
// nodes; runs that are open and the ledger stay.
func testPrune(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ctx, j, job := t.Context(), s.History(st), "prune "+token()
	g := open(t, s, st, graph.Selection{})
	l, scope := st.Ledger(), "prune "+token()
	cost := room(t, l, scope) / 2
	table := Table(t, g, runID(t, "written"), prefix)
	if _, err := privacy.Spend(ctx, l, charge(scope, table.RunID(), "a", cost)); err != nil {
		t.Fatal(err)
	}
	write(t, st, g, table)
	old, open, young := historyRun(t, job, 0, jobs.Finished), historyRun(t, job, 1, jobs.Running), historyRun(t, job, 48, jobs.Failed)
	of := historyRun(t, job, 0, jobs.Finished)
	of.RunID = table.RunID()
	waits, unended := historyRun(t, job, 0, jobs.WaitingForBudget), historyRun(t, job, 48, jobs.Failed)
	waits.EndedAt = noon.Add(30 * time.Hour) // refused again and again until then
	unended.EndedAt = time.Time{}
	put(t, j, old, open, young, of, waits, unended)
	if n, err := j.PruneRuns(ctx, noon.Add(24*time.Hour)); err != nil || n < 2 {
		t.Fatalf("pruned %d, %v, want the two that have ended", n, err)
	}
	nothing(t, st, g, table)
	for _, id := range []string{old.RunID, table.RunID()} {
		if _, ok := find(t, j, id); ok {
			t.Errorf("run %s is there", id)
		}
		_, err := j.GetRun(ctx, id)
		is(t, "a run that was pruned", err, jobs.ErrNoJob)
	}
	if _, err := st.Run(ctx, table.RunID()); err == nil {
		t.Error("the record of a run that was pruned is there")
	}
	for _, r := range []jobs.Run{open, young, waits, unended} {
		if got, err := j.GetRun(ctx, r.RunID); err != nil || !same(got, r) {
			t.Errorf("the run %s is %+v, %v", r.Status, got, err)
		}
	}
	if a, err := privacy.VerifyLedger(ctx, l, scope); err != nil || a.Spent != cost {
		t.Errorf("the ledger holds %+v, %v, want what was spent", a, err)
	}
	if n, err := j.PruneRuns(ctx, noon.Add(24*time.Hour)); err != nil || n != 0 {
		t.Errorf("pruned again: %d, %v, want none", n, err)
	}
}
