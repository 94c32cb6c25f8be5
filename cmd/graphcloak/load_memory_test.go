// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime/debug"
	"testing"

	"github.com/graphcloak/graphcloak/analyst"
)

// Memory is saved while any run on a large graph asks for it, and no longer; a small one does not.
func TestSaveMemoryEnds(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(usualHeap)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	expect := func(want int) {
		t.Helper()
		now := debug.SetGCPercent(usualHeap)
		debug.SetGCPercent(now)
		if now != want {
			t.Errorf("%d %% may be garbage, want %d", now, want)
		}
	}
	small := saveMemory(analyst.DenseLimit)
	expect(usualHeap)
	one, other := saveMemory(analyst.DenseLimit+1), saveMemory(analyst.DenseLimit+1)
	one()
	expect(largeHeap)
	small()
	expect(largeHeap)
	other()
	expect(usualHeap)
}
