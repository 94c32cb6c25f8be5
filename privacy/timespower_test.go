// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"math"
	"testing"
)

// TestTimesPower: a number times a power of two has the bits that math.Ldexp gives it, at both ends of the
// exponents too.
func TestTimesPower(t *testing.T) {
	for _, x := range []float64{0, 1, 3, 1 << 40, 1<<53 - 1, 0x1.fffffffffffffp0, 0x1.8p-1022, 0x1p1023} {
		for k := -1100; k <= 1100; k++ {
			if got, want := timesPower(x, k), math.Ldexp(x, k); math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("%x times 2^%d is %x, want %x", x, k, got, want)
			}
		}
	}
}
