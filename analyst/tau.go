// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/report"
)

// tauPoints is the number of values of τ that an interval is summed over.
const tauPoints = 9

// TauGrid returns the τ that a posterior over a range sums: the middles of equal parts on
// a logarithmic scale, the grid of a prior that is flat in log τ.
func TauGrid(r tau.Range) []float64 {
	out := make([]float64, tauPoints)
	for k := range out {
		out[k] = r.From * math.Pow(r.To/r.From, (float64(k)+.5)/tauPoints)
	}
	return out
}

// learnt says which of some, each as likely beforehand, is the likeliest, where one stands out as a community does.
func learnt(names []string, share []float64) string {
	best, chance := floats.MaxIdx(share), 1/float64(len(share))
	p := min(1, share[best])
	if p*(1-chance) < report.MinBayesFactor*chance*(1-p) {
		return "the measurements hardly tell which"
	}
	return fmt.Sprintf("%s is the likeliest, with probability %s, which was %s before the measurements", names[best],
		report.Percent(p), report.Percent(chance))
}
