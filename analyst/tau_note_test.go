// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"strings"
	"testing"
)

// TestLearntOfTau: a τ that is hardly likelier than any other is not named.
func TestLearntOfTau(t *testing.T) {
	grid := []float64{1, 2, 3, 4}
	for _, c := range []struct {
		share []float64
		want  string
	}{
		{[]float64{.22, .28, .25, .25}, "hardly tell which"},
		{[]float64{.1, .2, .6, .1}, "τ near 3 is the likeliest, with probability 60 %, which was 25 % before the measurements"},
		{[]float64{0, 0, 0, 1}, "τ near 4 is the likeliest, with probability over 99 %"},
	} {
		if got := learntOfTau(grid, c.share); !strings.Contains(got, c.want) {
			t.Errorf("%v: %q, want %q", c.share, got, c.want)
		}
	}
}
