// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestTableIsGenerated recomputes every 61st segment of the table.
func TestTableIsGenerated(t *testing.T) {
	table := must.Get(os.ReadFile("../../quantile.bin"))(t)
	if len(table) != octaves*segments*terms*8 {
		t.Fatalf("the table has %d bytes", len(table))
	}
	for n := 0; n < octaves*segments; n += 61 {
		j, i := 1+n/segments, n%segments
		for k, x := range taylor(float(int64(segments+i+1), -(j+8)), float(1, -(j+8))) {
			if got := binary.LittleEndian.Uint64(table[8*(terms*n+k):]); got != units(x) {
				t.Errorf("octave %d, segment %d, coefficient %d: %d, want %d", j, i, k, got, units(x))
			}
		}
	}
}
