// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"maps"
	"testing"
	"testing/synctest"
)

// torn is a store of which every third look finds a record without its schedule, as one that is changed while it is read.
type torn struct {
	*world
	looks int
}

func (s *torn) Jobs(ctx context.Context) ([]Filed, error) {
	all, err := s.world.Jobs(ctx)
	if s.looks++; s.looks%3 == 0 {
		for k := range all {
			all[k].Fields = maps.Clone(all[k].Fields)
			delete(all[k].Fields, "schedule")
		}
	}
	return all, err
}

// TestTornRecord: a job whose record lacks its schedule at one look misses none of its times.
func TestTornRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clockTo(t, "2026-06-01T00:00:30Z")
		w := newWorld()
		w.file(job("a", "@every 1m", "missedRuns", "all"))
		stop := w.instance("a", &torn{world: w})
		clockTo(t, "2026-06-01T01:00:30Z")
		stop()
		if got := w.ended("a", Finished); len(got) < 59 {
			t.Errorf("%d of 60 times were run", len(got))
		}
		for _, f := range must(w.Jobs(t.Context())) {
			if f.State.Status == Invalid {
				t.Error("the job is shown as one that cannot run")
			}
		}
	})
}

func must(all []Filed, err error) []Filed {
	if err != nil {
		panic(err)
	}
	return all
}
