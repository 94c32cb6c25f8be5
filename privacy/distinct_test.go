// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"crypto/sha256"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
)

// An id that is given twice is found where it comes again, in whatever order the ids are.
func TestDistinct(t *testing.T) {
	for _, c := range []struct {
		ids   []graph.ID
		twice int // −1: none
	}{
		{nil, -1},
		{[]graph.ID{"1", "2", "9", "10", "11", "a1"}, -1},
		{[]graph.ID{"1", "2", "2"}, 2},
		{[]graph.ID{"1", "2", "10", "2", "10"}, 3},
		{[]graph.ID{"b", "a", "c", "aa"}, -1},
		{[]graph.ID{"b", "a", "c", "b"}, 3},
		{[]graph.ID{"2", "1", "3", "3"}, 3},
	} {
		var sensors []SensorNoise
		for _, id := range c.ids {
			sensors = append(sensors, SensorNoise{Sensor: Sensor{ID: id}})
		}
		if found := repeated(sensors); found != c.twice {
			t.Errorf("%q: found at %d, want %d", c.ids, found, c.twice)
		}
	}
}

// A hash is that of its parts behind their lengths.
func TestHashOfParts(t *testing.T) {
	parts := [][]byte{[]byte("graphcloak"), nil, make([]byte, 70_000)}
	if got, want := hash(parts...), Digest(sha256.Sum256(lp(parts...))); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := hashJoined(parts[0], parts[1:]), hash(parts[0], parts[2]); got != want {
		t.Errorf("in pieces %v, want %v", got, want)
	}
	if got, want := hashJoined(parts[0], [][]byte{[]byte("ab"), nil, []byte("c")}), hash(parts[0], []byte("abc")); got != want {
		t.Errorf("in pieces %v, want %v", got, want)
	}
}
