// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"strings"
)

// bins is the number of colours that probabilities are shown in.
const bins = 10

// Colours from unlikely to likely on a light and on a dark page. The first are a piece of
// Moreland's black-body scale, whose lightness in CIELAB is even: the order is seen
// without telling hues apart. Moreland, Electronic Imaging (2016) 1–20. On a dark page they
// go from a slate little lighter than the ground to the same pale yellow: red would warn of what is unlikely.
var (
	light = []string{"#fff1bf", "#f5da50", "#eebd0f", "#eb9d09", "#e67b05", "#d95c11", "#c5401c", "#ae2221", "#87201c", "#621c17"}
	dark  = []string{"#3a4652", "#50585a", "#666a62", "#7c7c6a", "#928e72", "#a7a17a", "#bdb382", "#d3c58a", "#e9d792", "#ffe99a"}
)

type swatch struct{ Class, Fill string }

// bin is the colour of a probability where the largest is highest.
func bin(p, highest float64) int {
	if highest <= 0 {
		return 0
	}
	return min(bins-1, int(p/highest*bins))
}

func class(k int) string { return fmt.Sprintf("p%d", k) }

func swatches() []swatch {
	out := make([]swatch, bins)
	for k := range out {
		out[k] = swatch{class(k), light[k]}
	}
	return out
}

// darkRules recolour the marks on a dark page.
func darkRules() string {
	var b strings.Builder
	for k, c := range dark {
		fmt.Fprintf(&b, ".%s{fill:%s}", class(k), c)
	}
	return b.String()
}
