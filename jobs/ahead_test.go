// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestClockThatWasAhead: a job whose last time is years ahead of the store's clock says so,
// and how to fix it, and goes on from then; also where who claimed it is gone.
func TestClockThatWasAhead(t *testing.T) {
	for name, gone := range map[string]bool{"the run has ended": false, "its holder is gone": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := worldAt(t, "2026-06-01T00:30:00Z")
				w.options.Poll = time.Minute
				w.file(job("a", "@hourly", "missedRuns", "all"))
				stop := w.instance("a", w)
				clockTo(t, "2026-06-01T02:30:00Z")
				w.jump(10 * 365 * 24 * time.Hour)
				clockTo(t, "2026-06-01T03:30:00Z")
				if gone {
					w.mu.Lock()
					c := &w.ticks["a"][len(w.ticks["a"])-1]
					c.Outcome, c.LeaseUntil = Outcome{Status: Running}, w.now().Add(time.Hour)
					w.mu.Unlock()
				}
				w.jump(0)
				clockTo(t, "2026-06-01T06:30:00Z")
				if s := w.state("a"); s.Status != Invalid || !strings.Contains(s.Message, "job resume a") ||
					!strings.Contains(s.Message, "2036") {
					t.Errorf("the state is %+v", s)
				}
				e, before := w.engine(), len(w.ended("a", Finished))
				for range 2 {
					must.Do(t, e.Pause(t.Context(), "a", false))
					time.Sleep(2 * time.Minute) // an open tick is completed, and then ahead again
				}
				clockTo(t, "2026-06-01T09:30:00Z")
				stop()
				if got := w.ended("a", Finished)[2:]; len(got) != 3 || got[0].Hour() != 7 || got[0].Year() != 2026 {
					t.Errorf("after %d ticks it ran %v, want those of 7, 8 and 9 o'clock", before, got)
				}
				if s := w.state("a"); s.Status != JobStatus(Finished) {
					t.Errorf("the state is %+v", s)
				}
			})
		})
	}
}
