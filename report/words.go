// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
)

// certain is the probability from which a percentage is "over 99 %".
const certain = .995

// Percent writes a probability in words that never round up to certainty.
func Percent(p float64) string {
	switch {
	case p >= certain:
		return "over 99 %"
	case p > 0 && p < 0.005:
		return "under 1 %"
	}
	return fmt.Sprintf("%.0f %%", math.Floor(100*p+0.5))
}

// Count says how many there are of a thing, such as "1 node" or "2 nodes".
func Count[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
