// SPDX-License-Identifier: Apache-2.0

package laplacian

import "math"

// unit is the unit roundoff of float64, 2⁻⁵³.
const unit = 1.0 / (1 << 53)

// countRoundings counts the rounding errors that one entry of a computed Recur may
// carry: a sum of at most segment terms, the sum of the segments, five more
// operations, and six units for the error of the stored a and B.
func (l *Laplacian) countRoundings() float64 {
	var longest int64
	for i := range l.diag {
		longest = max(longest, l.ptr[i+1]-l.ptr[i])
	}
	return float64(min(longest, segment)) + float64(longest/segment) + 12
}

// Rounding returns γ with
//
//	‖fl(a·Sx + b·x + c·y) − (a·Sx + b·x + c·y)‖₂ ≤ γ·(|a|·Bound·‖x‖₂ + |b|·‖x‖₂ + |c|·‖y‖₂)
//
// for the exact S of the graph. Entry i is off by at most γ(|a||S||x| + …)_i
// (Higham, Accuracy and Stability, 2002, §3.1), |S| = diag(a) + B, and Bound
// bounds ‖|S|‖₂.
func (l *Laplacian) Rounding() float64 {
	return l.roundingUnits * unit / (1 - l.roundingUnits*unit)
}

// collatzWielandt bounds λ_max(S) ≤ λ_max(Q), Q = |S| = diag(a) + B: for every
// x > 0, λ_max(Q) ≤ max_i (Qx)_i/x_i (L. Collatz, 1942; H. Wielandt, 1950). Each
// power step gives a bound, and the least counts. All terms are positive, so a
// computed quotient is off by its own relative rounding only.
func (l *Laplacian) collatzWielandt() float64 {
	n := len(l.diag)
	if len(l.adj) == 0 {
		return 0
	}
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	best := math.Inf(1)
	if l.kind != Combinatorial {
		best = 2 // Q √d = 2√d on every node that has neighbours
	}
	for step := range maxPowerSteps {
		l.Recur(y, nil, x, 1, -1, 0, 0, 0)
		var ratio, top float64
		for i, v := range x {
			y[i] += 2 * l.rows.diag[i] * v
			ratio = math.Max(ratio, y[i]/v)
			top = math.Max(top, y[i])
		}
		if !(ratio < math.Inf(1)) {
			break
		}
		last := best
		best = math.Min(best, ratio)
		if l.kind != Combinatorial || step > minPowerSteps && best > 0.995*last {
			break
		}
		for i, v := range y {
			x[i] = math.Max(v/top, leastEntry)
		}
	}
	return best * (1 + 4*l.Rounding())
}

const (
	minPowerSteps = 6
	maxPowerSteps = 40
	leastEntry    = 1e-100 // any positive x is valid; this keeps quotients finite
)
