// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
)

// Moment returns a time as a value that a store holds; nil where it is zero.
func Moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC()
}

// RunOf is what the history tells of a run that has ended with a report. It keeps the values of the nodes of one that wrote them.
func RunOf(rep *report.Report, mode string) *jobs.Run {
	run := &jobs.Run{
		RunID: rep.RunID, ReleaseID: rep.ReleaseID, Mode: mode, Signal: rep.Signal, BudgetScope: rep.BudgetScope,
		Spent: rep.EpsilonSpent > 0, EpsilonSpent: rep.EpsilonSpent, DeltaSpent: rep.DeltaSpent, Verdict: rep.Verdict(),
		FaultySensors: int64(rep.FaultySensorCount), BPDNStatus: rep.BPDN.Status,
	}
	switch {
	case rep.Verdict() == report.NoSource:
		run.Answer = report.NoSource
	case len(rep.Communities) > 0 && rep.Answers():
		run.Answer, run.Probability = rep.Communities[0].Name, rep.Communities[0].Probability
	}
	if mode == "write" {
		rep = rep.Keep()
	}
	if data, err := json.Marshal(rep); err == nil {
		run.Report = data
	}
	return run
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

// Prunable returns the runs that ended before a time, by id; one whose end is not
// known counts from its start. A run whose write is open is not among them,
// whatever its history says. A job that waits for budget keeps the entry of its wait, which
// ends with its last refusal, however long ago the first was.
func Prunable(all []jobs.Run, before time.Time) []jobs.Run {
	old := slices.DeleteFunc(slices.Clone(all), func(r jobs.Run) bool {
		last := r.EndedAt
		if last.IsZero() {
			last = r.StartedAt
		}
		return r.Status == jobs.Running || !last.Before(before) || r.Writing()
	})
	slices.SortFunc(old, func(a, b jobs.Run) int { return cmp.Compare(a.RunID, b.RunID) })
	return old
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
