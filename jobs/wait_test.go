// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestWaitIsOneEntry: a job that is refused at every tick has one entry in the history until
// its state changes, from its first refusal to its last, and every tick names an entry.
func TestWaitIsOneEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:30:00Z", job("a", "@daily"))
		ends := map[int]Status{4: Finished, 7: OverBudget, 8: OverBudget} // by day; else it waits
		w.runner.do = func(ctx context.Context, work Work) Ending {
			end := Ending{
				Outcome: Outcome{Status: WaitingForBudget, RunID: work.ReleaseID, ExitCode: 9},
				Run:     &Run{RunID: work.ReleaseID, ReleaseID: work.ReleaseID},
			}
			if s, ok := ends[work.Tick.NominalTime.Day()]; ok {
				end.Status = s
			}
			if end.Status == Finished {
				end.Spent, end.Run.Spent = true, true
			}
			return end
		}
		stop := w.instance("a", w)
		clockTo(t, "2026-06-08T00:30:00Z")
		stop()
		all := must.Get(w.ListRuns(t.Context(), RunQuery{JobName: "a"}))(t)
		slices.Reverse(all)
		var got [][2]int
		for k, want := range []Status{WaitingForBudget, Finished, WaitingForBudget, OverBudget} {
			if k >= len(all) || all[k].Status != want {
				t.Fatalf("entry %d is no %s: %+v", k, want, all)
			}
			got = append(got, [2]int{all[k].StartedAt.Day(), all[k].EndedAt.Day()})
		}
		if want := [][2]int{{2, 3}, {4, 4}, {5, 6}, {7, 8}}; !slices.Equal(got, want) {
			t.Errorf("entries from and to %v, want %v", got, want)
		}
		for _, c := range w.ticks["a"] {
			if !slices.ContainsFunc(all, func(r Run) bool { return r.RunID == c.RunID }) {
				t.Errorf("the tick of %v names the run %s, which has no entry", c.NominalTime, c.RunID)
			}
		}
	})
}
