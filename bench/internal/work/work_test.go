// SPDX-License-Identifier: Apache-2.0

package work_test

import (
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/bench/internal/work"
)

// Every work has a name of its own in both sizes, and one that is known is measured.
func TestWork(t *testing.T) {
	all := append(work.Names(false), work.Names(true)...)
	slices.Sort(all)
	if n := len(slices.Compact(slices.Clone(all))); n != len(all) {
		t.Errorf("%d names for %d works", n, len(all))
	}
	if s, err := work.Measure(t.Context(), work.Names(true)[0]); err != nil || !(s > 0) {
		t.Errorf("%s takes %v s (%v)", work.Names(true)[0], s, err)
	}
	if _, err := work.Measure(t.Context(), "nothing"); err == nil {
		t.Error("nothing is measured")
	}
}
