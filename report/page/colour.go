// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot/palette/moreland"
)

// bins is the number of colours that probabilities are shown in.
const bins = 10

// Colours from unlikely to likely on a light and on a dark page. The first are a piece of
// Moreland's black-body scale, whose lightness in CIELAB is even: the order is seen
// without telling hues apart. Moreland, Electronic Imaging (2016) 1–20. On a dark page they
// go from a slate little lighter than the ground to the same pale yellow: red would warn of what is unlikely.
var (
	light = blackBody(.95, .22)
	dark  = between([3]float64{0x3a, 0x46, 0x52}, [3]float64{0xff, 0xe9, 0x9a})
)

// between blends two colours.
func between(from, to [3]float64) []string {
	out := make([]string, bins)
	for k := range out {
		t := float64(k) / (bins - 1)
		at := func(c int) int { return int(from[c] + t*(to[c]-from[c]) + .5) }
		out[k] = fmt.Sprintf("#%02x%02x%02x", at(0), at(1), at(2))
	}
	return out
}

func blackBody(from, to float64) []string {
	scale := moreland.BlackBody()
	scale.SetMax(1)
	out := make([]string, bins)
	for k := range out {
		c, err := scale.At(from + (to-from)*float64(k)/(bins-1))
		if err != nil {
			panic(err) // every argument is within [0, 1]
		}
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		out[k] = fmt.Sprintf("#%02x%02x%02x", n.R, n.G, n.B)
	}
	return out
}

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
