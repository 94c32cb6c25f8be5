// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"math"
	"strings"
	"testing"
)

func TestStalledSaysNoInfinity(t *testing.T) {
	for gap, want := range map[float64]string{.0002: "by a relative gap of up to 0.0002;", math.Inf(1): "nothing bounds how far"} {
		if text := stalled(gap); !strings.Contains(text, want) || strings.Contains(text, "Inf") {
			t.Errorf("gap %v: %s", gap, text)
		}
	}
}
