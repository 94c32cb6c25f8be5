// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/jobs"
)

// TestDecideReadsTheClockAlone: the time that a rule judges by is read while nobody else
// decides. One that waited for its turn would judge a lease by a time before the other's.
func TestDecideReadsTheClockAlone(t *testing.T) {
	s, err := New([]Node{{ID: graph.ID("a")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	s.SetClock(func() time.Time {
		read++
		if s.mu.TryLock() {
			s.mu.Unlock()
			t.Error("the clock is read where another can decide")
		}
		return time.Unix(1e9, 0)
	})
	claims := connector.Claims{Decider: jobStore{s}}
	tick := jobs.NewTick("a", time.Unix(1e9, 0))
	if _, err := claims.Claim(t.Context(), tick, jobs.Holder{Instance: "h", Token: "t"}, time.Minute); err != nil || read == 0 {
		t.Errorf("%v, the clock was read %d times", err, read)
	}
}
