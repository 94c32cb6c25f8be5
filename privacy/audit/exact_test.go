// SPDX-License-Identifier: Apache-2.0

package audit_test

import (
	"fmt"
	"math"
	"math/big"

	"github.com/graphcloak/graphcloak/privacy/internal/normal"
)

// probabilities returns P(N = n) of N = ⌊steps·Z + ½⌋ for |n| ≤ radius, at index n + radius,
// each within a relative 2⁻⁵² of the truth or an absolute 2⁻¹⁹⁰.
func probabilities(steps int64, radius int) []float64 {
	const bits = 192
	pmf := make([]float64, 2*radius+1)
	last := normal.CDF(int64(-2*radius-1), 2*steps, bits)
	for i := range pmf {
		next := normal.CDF(int64(2*(i-radius)+1), 2*steps, bits)
		p, _ := new(big.Float).SetInt(last.Sub(next, last)).Float64()
		pmf[i], last = math.Ldexp(p, -bits), next
	}
	return pmf
}

// maxCells bounds the work of exactDelta.
const maxCells = 1 << 26

// exactDelta returns an upper bound, tight to about 1e-12, on the least δ at which
// the release X = a + N of len(shift) sensors, S = steps each, is (ε, δ)-private
// between a and a + shift, by enumeration:
//
//	δ = Σ_x max(0, P(x) − e^ε·P(x − shift)).
func exactDelta(steps int64, shift []int64, eps float64) (float64, error) {
	radius := int(9 * steps) // beyond lies less than 2e-19 a coordinate
	var furthest int64
	cells := 1.0
	for _, k := range shift {
		furthest = max(furthest, k, -k)
		cells *= float64(2*radius + 1)
	}
	if steps < 1 || len(shift) == 0 || cells > maxCells || furthest > 1<<20 || !(eps >= 0 && eps < 700) {
		return 0, fmt.Errorf("audit: cannot enumerate %d sensors at S = %d, shift %v, ε = %v", len(shift), steps, shift, eps)
	}
	pmf := probabilities(steps, radius+int(furthest))
	centre := radius + int(furthest)
	grow := math.Exp(eps)
	var sum func(dim int, p, q float64) float64
	sum = func(dim int, p, q float64) float64 {
		if dim == len(shift) {
			return max(0, p-grow*q)
		}
		var total float64
		for n := -radius; n <= radius; n++ {
			total += sum(dim+1, p*pmf[centre+n], q*pmf[centre+n-int(shift[dim])])
		}
		return total
	}
	const tail = 2e-19
	return sum(0, 1, 1)*(1+1e-12) + tail*float64(len(shift)), nil
}
