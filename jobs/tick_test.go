// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestReleaseID: the id is a version 7 UUID of the nominal time, the same from every
// zone, and another for another job or time.
func TestReleaseID(t *testing.T) {
	at := time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)
	berlin := time.FixedZone("", 3600)
	id := NewTick("nightly", at).ReleaseID()
	if again := NewTick("nightly", at.In(berlin)).ReleaseID(); again != id {
		t.Errorf("%s in another zone, want %s", again, id)
	}
	parsed := must.Get(uuid.Parse(id))(t)
	sec, nsec := parsed.Time().UnixTime()
	if parsed.Version() != 7 || parsed.Variant() != uuid.RFC4122 || !time.Unix(sec, nsec).Equal(at) {
		t.Errorf("%s: version %d, time %v", id, parsed.Version(), time.Unix(sec, nsec).UTC())
	}
	seen := map[string]bool{id: true}
	for _, other := range []Tick{NewTick("nightly2", at), NewTick("", at), NewTick("nightly", at.Add(time.Second))} {
		if o := other.ReleaseID(); seen[o] {
			t.Errorf("%v has the id of another tick", other)
		} else {
			seen[o] = true
		}
	}
	if later := NewTick("a", at.Add(time.Second)).ReleaseID(); later <= id {
		t.Errorf("%s sorts before %s", later, id)
	}
}
