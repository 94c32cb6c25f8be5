// SPDX-License-Identifier: Apache-2.0

package page

import (
	"math"
	"testing"
)

// TestFactor: e^ε is read in words or with a raised exponent, never as 4.85e+08, and is not
// below what it bounds.
func TestFactor(t *testing.T) {
	for eps, want := range map[float64]string{
		0.1: "1.11", 4: "54.6", 5: "149", 10: "22\u202f027", 20: "486\u00a0million", 21: "1.32·10⁹", 30: "1.07·10¹³", 1000: "1.98·10⁴³⁴",
		math.Log(9.9999e9): "1.00·10¹⁰",
	} {
		if got := factor(eps); got != want {
			t.Errorf("e^%v is %s, want %s", eps, got, want)
		}
	}
}

// TestShareIsReadable: a share that says nothing is no power of ten.
func TestShareIsReadable(t *testing.T) {
	for p, want := range map[float64]string{
		.5: "50 %", .0123: "1.2 %", 6.5e-5: "0.0065 %", 5.8e-8: "under 0.001 %",
		2e-32: "under 0.001 %",
	} {
		if got := share(p); got != want {
			t.Errorf("%v is %q, want %q", p, got, want)
		}
	}
}

func TestNodesAgreeWithTheirNumber(t *testing.T) {
	for n, want := range map[int]string{1: "1 node", 2: "2 nodes", 18065: "18\u202f065 nodes"} {
		if got := nodesOf(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
