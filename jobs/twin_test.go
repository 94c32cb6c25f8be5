// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestTwinsRunNothing: of two filed jobs with one name neither is run, also where a tick
// of the name was begun before the second was filed.
func TestTwinsRunNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T01:05:00Z", job("a", "@hourly", "sourceProperty", "mine"))
		w.file(job("a", "@hourly", "sourceProperty", "theirs"))
		at := instant(t, "2026-06-01T01:00:00Z")
		w.ticks["a"] = []Claim{{Tick: NewTick("a", at), Attempts: 1, ClaimedAt: at, Outcome: Outcome{Status: Running}}}
		var ran []any
		w.runner.do = func(_ context.Context, work Work) Ending {
			ran = append(ran, work.Definition.Settings["sourceProperty"])
			return Ending{Outcome: Outcome{Status: Finished}}
		}
		stop := w.instance("a", w)
		time.Sleep(time.Minute)
		stop()
		if len(ran) > 0 || len(w.ended("a", Canceled)) != 1 {
			t.Errorf("ran the settings of %v; ticks %+v", ran, w.ticks["a"])
		}
	})
}
