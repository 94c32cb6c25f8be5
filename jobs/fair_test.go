// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/graphcloak/graphcloak/internal/lockedbuffer"
)

// TestNoJobStarves: a job that is due all the time, whatever its name and its policy, leaves
// its turn to one that is due once a day.
func TestNoJobStarves(t *testing.T) {
	for name, greedy := range map[string]map[string]any{
		"as long as its period": job("aaa", "@every 1m"),
		"behind by many times":  job("aaa", "@every 1m", "missedRuns", "all"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := worldAt(t, "2026-06-01T12:00:30Z")
				w.options.Poll = time.Hour
				w.file(greedy)
				w.file(job("zzz", "30 2 * * *"))
				w.runner.do = func(context.Context, Work) Ending {
					time.Sleep(7 * time.Minute)
					return Ending{Outcome: Outcome{Status: Finished}}
				}
				stop := w.instance("a", w)
				clockTo(t, "2026-06-04T12:00:00Z")
				stop()
				if got := w.ended("zzz", Finished); len(got) != 3 {
					t.Errorf("the daily job ran %d times in 3 days, and the other %d times", len(got), len(w.ended("aaa", Finished)))
				}
			})
		})
	}
}

// TestMissedTimesAreTold: a time that nobody ran shows in the list, and in the log once.
func TestMissedTimesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:30:00Z", job("a", "@daily"))
		var told lockedbuffer.Buffer
		w.options.Log = slog.New(slog.NewTextHandler(&told, nil))
		stop := w.instance("a", w)
		time.Sleep(time.Minute)
		stop()
		clockTo(t, "2026-06-04T00:30:00Z")
		stop = w.instance("a", w)
		time.Sleep(5 * time.Minute)
		all, _, err := w.engine().Jobs(t.Context())
		stop()
		if err != nil || len(all) != 1 || all[0].Missed != 3 || !all[0].MissedLast.Equal(instant(t, "2026-06-04T00:00:00Z")) {
			t.Errorf("the list tells %+v, %v, want 3 missed times", all, err)
		}
		if m := all[0].Summary().Message; !strings.Contains(m, "3 times") || !strings.Contains(m, "2026-06-04T00:00:00Z") {
			t.Errorf("the message is %q", m)
		}
		if n := strings.Count(told.String(), "times of a job were missed"); n != 1 {
			t.Errorf("the log tells %d times of missed times:\n%s", n, told.String())
		}
	})
}
