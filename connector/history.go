// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
)

// Names in the record of a run that its history has too; see [report.Table.Record].
const (
	keyReleaseID   = "releaseId"
	keySignal      = report.SignalKey
	keyScope       = "budgetScope"
	keyStarted     = "startedAt"
	keyEpsilon     = "epsilonSpent"
	keyDelta       = "deltaSpent"
	keyCommunity   = "community"
	keyProbability = "communityProbability"
	keyVerdict     = report.VerdictKey
	keyFaulty      = report.FaultySensorsKey
	keyBPDN        = "bpdnStatus"
)

// History merges the history entries of runs, by id, with the records that the store
// keeps: a run without an entry gets one from its record.
func History(entries map[string]jobs.Run, known []Run) []jobs.Run {
	all := maps.Clone(entries)
	if all == nil {
		all = map[string]jobs.Run{}
	}
	for _, k := range known {
		if _, ok := all[k.ID]; !ok {
			all[k.ID] = k.history()
		}
	}
	return slices.Collect(maps.Values(all))
}

// history makes a history entry from a run's record.
func (run Run) history() jobs.Run {
	text := func(name string) string { s, _ := run.Record[name].(string); return s }
	number := func(name string) float64 { x, _ := run.Record[name].(float64); return x }
	r := jobs.Run{
		RunID: run.ID, Mode: "write", Signal: text(keySignal), BudgetScope: text(keyScope), ReleaseID: text(keyReleaseID),
		StartedAt: moment(run.Record[keyStarted]),
		Answer:    text(keyCommunity), Probability: number(keyProbability), Verdict: text(keyVerdict), FaultySensors: run.count(keyFaulty),
		BPDNStatus:   text(keyBPDN),
		EpsilonSpent: number(keyEpsilon), DeltaSpent: number(keyDelta),
	}
	if run.Status == Reserved || run.Status == Running { // what it wrote so far is no answer
		r.Answer, r.Probability, r.Verdict, r.FaultySensors = "", 0, "", 0
	}
	switch run.Status {
	case Reserved:
		r.Status, r.Message = jobs.Running, "its budget is about to be spent, or is"
	case Running:
		r.Status, r.Spent, r.Message = jobs.Running, true, "it is paid for, and its values are being written"
	case Cancelled:
		r.Status, r.Message = jobs.Canceled, "nothing was spent"
	case Finished:
		r.Status, r.Spent = jobs.Finished, true
	default:
		r.Status, r.Spent, r.Message = jobs.Finished, true, "its values were removed"
	}
	return r
}

// count reads a number of a record, whatever a store makes of its type; 0 for none that is a count.
func (run Run) count(name string) int64 {
	switch k := run.Record[name].(type) {
	case int64:
		return max(0, k)
	case float64:
		if k >= 0 && k <= math.MaxInt32 {
			return int64(k)
		}
	}
	return 0
}

// Moment returns a time as a value that a store holds; nil where it is zero.
func Moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC()
}

// moment reads a time that a store holds as one, or as text.
func moment(v any) time.Time {
	switch t := v.(type) {
	case time.Time:
		return t.UTC()
	case string:
		if at, err := time.Parse(time.RFC3339, t); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// SelectRuns returns the runs that a query asks for, in its order, without reports.
func SelectRuns(all []jobs.Run, q jobs.RunQuery) []jobs.Run {
	var chosen []jobs.Run
	for _, r := range all {
		if q.JobName != "" && r.JobName != q.JobName || q.Status != "" && r.Status != q.Status || r.StartedAt.Before(q.Since) {
			continue
		}
		r.Report = nil
		chosen = append(chosen, r)
	}
	slices.SortFunc(chosen, func(a, b jobs.Run) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(b.RunID, a.RunID))
	})
	return first(chosen, q.Limit)
}

// Prunable returns the ids of runs that ended before a time, ascending; one whose end is not
// known counts from its start. A run whose record is RESERVED or RUNNING is not among them,
// whatever its history says. A job that waits for budget keeps the entry of its wait, which
// ends with its last refusal, however long ago the first was.
func Prunable(all []jobs.Run, known []Run, before time.Time) []string {
	open := map[string]bool{}
	for _, k := range known {
		open[k.ID] = k.Status == Reserved || k.Status == Running
	}
	var ids []string
	for _, r := range all {
		last := r.EndedAt
		if last.IsZero() {
			last = r.StartedAt
		}
		if r.Status != jobs.Running && last.Before(before) && !open[r.RunID] {
			ids = append(ids, r.RunID)
		}
	}
	slices.Sort(ids)
	return ids
}

// PrunableTicks returns the ended ticks with nominal times before a time, except the
// latest of each job, which marks all earlier ticks as past.
func PrunableTicks(all []jobs.Claim, before time.Time) []jobs.Tick {
	latest := SelectTicks(all, jobs.TickQuery{Latest: true})
	var ticks []jobs.Tick
	for _, c := range all {
		newest := slices.ContainsFunc(latest, func(l jobs.Claim) bool {
			return l.JobName == c.JobName && l.NominalTime.Equal(c.NominalTime)
		})
		if !c.Open() && c.NominalTime.Before(before) && !newest {
			ticks = append(ticks, c.Tick)
		}
	}
	return ticks
}
