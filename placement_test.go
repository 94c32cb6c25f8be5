// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"math"
	"testing"
)

// TestLazyChoice: bounds from earlier steps change no choice, and the gain is the
// difference of the entropies before and after.
func TestLazyChoice(t *testing.T) {
	m := loadExample(t, "net3", 4)
	lazy, err := m.newPlacement(t.Context(), plainNoise(), SuggestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	full := lazy.again(0)
	full.stale = make([]float64, len(lazy.stale))
	labels := make([]int, m.Graph.Order())
	var chosen []int
	for range 5 {
		for i := range full.stale {
			full.stale[i] = math.Inf(1)
		}
		i, err := lazy.best(t.Context(), chosen)
		if err != nil {
			t.Fatal(err)
		}
		want, err := full.best(t.Context(), chosen)
		if err != nil {
			t.Fatal(err)
		}
		if i != want {
			t.Fatalf("after %v: node %d, want %d", chosen, i, want)
		}
		before, gain := lazy.known(labels, 1).Entropy, lazy.gain(i)
		lazy.add(i)
		full.add(i)
		chosen = append(chosen, i)
		if told := (before - lazy.known(labels, 1).Entropy) * math.Ln2; math.Abs(told-gain) > 1e-3*gain {
			t.Errorf("node %d tells %v nats, its gain is %v", i, told, gain)
		}
	}
}
