// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// slowBoard takes its time to write a state.
type slowBoard struct{ *world }

func (s slowBoard) SetState(ctx context.Context, t Target, state State) error {
	time.Sleep(20 * time.Millisecond)
	return s.world.SetState(ctx, t, state)
}

// TestCrowdOfBadJobs: thousands of records that are no jobs delay a good one by seconds.
func TestCrowdOfBadJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clockTo(t, "2026-06-01T00:59:57Z")
		w := newWorld()
		for i := range 5000 {
			w.file(job(fmt.Sprintf("bad%d", i), "at night"))
		}
		w.options.Settings = []map[string]any{job("good", "@every 1h")}
		if err := w.SetState(t.Context(), Target{Name: "good"},
			State{Status: Pending, ScheduledSince: time.Now().Add(-time.Hour)}); err != nil {
			t.Fatal(err)
		}
		var began time.Time
		w.runner.do = func(context.Context, Work) Ending {
			began = time.Now()
			return Ending{Outcome: Outcome{Status: Finished}}
		}
		stop := w.instance("a", slowBoard{w})
		clockTo(t, "2026-06-01T01:02:00Z")
		stop()
		if late := began.Sub(instant(t, "2026-06-01T01:00:00Z")); late < 0 || late > 5*time.Second {
			t.Errorf("the good job began %v after its time", late)
		}
	})
}

// TestTooLargeJob: a record that is too large to be read is told, and is not written to.
func TestTooLargeJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.filed = []Filed{{ID: "0", Name: "large", TooLarge: true}}
		stop := w.instance("a", w)
		time.Sleep(time.Minute)
		all, _, err := New(Options{Store: w, Runner: w.runner}).Jobs(t.Context())
		stop()
		if err != nil || len(all) != 1 || all[0].State.Status != Invalid || all[0].State.Message == "" || w.saves > 0 {
			t.Errorf("%+v, %v, %d writes", all, err, w.saves)
		}
	})
}
