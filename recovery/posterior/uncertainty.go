// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// uncertainty is the error of the posterior that bounds on the norms permit.
type uncertainty struct {
	exact      []bool    // nodes of exact norms
	logShare   []float64 // error of each posterior probability, at the other nodes
	candidates []int     // nodes of the largest shares, largest first
	logTotal   float64   // of all shares, those of exact norms too
	odds       float64   // error of the log odds of the first two

	leastTotal, leastOdds float64 // that exact norms would leave, if known
}

// measure updates the uncertainty from the weights, their bounds, and the logarithm of the sum
// of the weights.
func (u *uncertainty) measure(weight, low, high []float64, logZ float64) {
	u.logShare = logShareErrors(low, high, logZ)
	u.logTotal, u.odds = logSum(u.logShare), logOddsError(weight, low, high)
}

// rank leaves the shares of exact norms out, and lists k candidates.
func (u *uncertainty) rank(k int) {
	for i, exact := range u.exact {
		if exact {
			u.logShare[i] = math.Inf(-1)
		}
	}
	u.candidates = largest(u.logShare, u.exact, k)
}

// nearly is how near the error of the posterior has to come to what exact norms would leave.
const nearly = 1.05

func (u *uncertainty) totalGoal() float64 { return math.Log(max(posteriorTol, nearly*u.leastTotal)) }

func (u *uncertainty) oddsGoal() float64 { return max(posteriorTol, nearly*u.leastOdds) }

// largestOpen returns at least the k largest values but those of exact norms, or all of these, ascending.
func largestOpen(x []float64, exact []bool, k int) []float64 {
	var lock sync.Mutex
	var all []float64
	parallel.Rows(len(x), 1, func(lo, hi int) {
		own := make([]float64, 0, hi-lo)
		for i := lo; i < hi; i++ {
			if !exact[i] {
				own = append(own, x[i])
			}
		}
		slices.Sort(own)
		lock.Lock()
		defer lock.Unlock()
		all = append(all, own[max(0, len(own)-k):]...)
	})
	slices.Sort(all)
	return all
}

// largest returns the k largest values but those of exact norms, largest first; of equal
// ones those of lower nodes come first.
func largest(x []float64, exact []bool, k int) []int {
	if k == 0 {
		return nil
	}
	open := largestOpen(x, exact, k)
	if k = min(k, len(open)); k == 0 {
		return nil
	}
	least := open[len(open)-k]
	above, _ := slices.BinarySearch(open, math.Nextafter(least, math.Inf(1)))
	equal := k - (len(open) - above)
	out := make([]int, 0, k)
	for i, v := range x {
		switch {
		case exact[i] || v < least:
			continue
		case v == least && equal == 0:
			continue
		case v == least:
			equal--
		}
		out = append(out, i)
	}
	slices.SortStableFunc(out, func(i, j int) int { return cmp.Compare(x[j], x[i]) })
	return out
}

func (u *uncertainty) settled() bool {
	return u.logTotal <= u.totalGoal() && u.odds <= u.oddsGoal()
}

// concentrated reports whether the k nodes of the largest shares account for half of the error
// of the posterior, which is above its goal.
func (u *uncertainty) concentrated(k int) bool {
	if len(u.candidates) == 0 || u.logTotal <= u.totalGoal() {
		return false
	}
	mass := make([]float64, 0, k)
	for _, i := range u.candidates[:min(k, len(u.candidates))] {
		mass = append(mass, u.logShare[i])
	}
	return logSum(mass) >= u.logTotal-math.Ln2
}

// unclear reports whether the error of the log odds is above its goal, and fell by a tenth from
// its value before the last step.
func (u *uncertainty) unclear(before float64) bool {
	return u.odds > u.oddsGoal() && u.odds < 0.9*before
}

// weights returns the shares relative to the largest, or nil where none is finite.
func (u *uncertainty) weights() []float64 {
	if u.logShare == nil {
		return nil
	}
	w, largest := make([]float64, len(u.logShare)), floats.Max(u.logShare)
	if math.IsInf(largest, 0) || math.IsNaN(largest) {
		return nil
	}
	parallel.Rows(len(w), logWork/16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			w[i] = math.Exp(u.logShare[i] - largest)
		}
	})
	return w
}
