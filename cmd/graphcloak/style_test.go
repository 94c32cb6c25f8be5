// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"strings"
	"testing"
)

// TestWarningsAreReadable: in the palettes that terminals come with, bold as brighter where
// they do so, a warning has a contrast of 3 on white and on black: what WCAG 2.2, criterion
// 1.4.3, asks of bold text that is large.
func TestWarningsAreReadable(t *testing.T) {
	palettes := map[string]map[string]int{
		"xterm":            {"33": 0xcdcd00, "1;33": 0xffff00, "35": 0xcd00cd, "1;35": 0xff00ff},
		"Tango":            {"33": 0xc4a000, "1;33": 0xfce94f, "35": 0x75507b, "1;35": 0xad7fa8},
		"Windows Terminal": {"33": 0xc19c00, "1;33": 0xf9f1a5, "35": 0x881798, "1;35": 0xb4009e},
	}
	for name, colours := range palettes {
		colour, known := colours[string(wary)]
		if !known {
			t.Fatalf("the test knows no colour of %q in %s", wary, name)
		}
		x := luminance(colour)
		if white, black := 1.05/(x+.05), (x+.05)/.05; white < 3 || black < 3 {
			t.Errorf("%s: a contrast of %.1f on white and %.1f on black", name, white, black)
		}
	}
	if got := wary.on("careful", true); !strings.Contains(got, "\x1b[1;35mcareful\x1b[0m") {
		t.Errorf("a warning is painted as %q", got)
	}
}

// luminance is the relative luminance of 0xRRGGBB in sRGB.
func luminance(colour int) (sum float64) {
	for k, weight := range []float64{.0722, .7152, .2126} {
		c := float64(colour>>(8*k)&0xff) / 255
		if c <= .04045 {
			sum += weight * c / 12.92
		} else {
			sum += weight * math.Pow((c+.055)/1.055, 2.4)
		}
	}
	return sum
}
