// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// unmoved is the share of the weights from which a gap that is an estimate holds for all of them.
const unmoved = .98

// losses is F of [Energy] as a function of the share of the weights that noise leaves.
type losses struct {
	prior, odds, energies []float64
	blank                 float64 // F without measurements
	missed, rounded       float64 // what F may be more by, at all the weights: it goes with the root of the share, and with the share
	certified             bool    // F is no more, beside the rounding of φ
}

// at returns F at a share of the weights, at most where that is certified.
func (l *losses) at(share float64) float64 {
	loss := make([]float64, len(l.energies))
	each(len(loss), 256*width, func(i int) {
		v, _ := quadrature(share*l.energies[i], l.odds[i], fineStep)
		loss[i] = l.prior[i] * v
	})
	return floats.Sum(loss) + lossError + math.Sqrt(share)*l.missed + share*l.rounded
}

// GapAt returns Gap at the weights share·Weights: those of noise σ_s ≤ r/√(share·u_s) at every
// sensor, as it is calibrated to a certified sensitivity, and whether the gap is proven. Where
// that share is the certified one, share·Weights satisfy all constraints.
// For [Separation], [MaxMin] and [Location], which are linear, and for [Energy] it is proven where Limit is. For [Bound] and [Information] it is Gap, an
// estimate, down to a share of .98, and NaN below.
func (r *Result) GapAt(share float64) (gap float64, proven bool) {
	switch {
	case r.Objective == Energy && r.losses != nil:
		most := r.losses.blank - 2*lossError - r.Limit // F without measurements from below: at() is from above
		if !(most > 0) {
			return 0, false
		}
		return min(1, max(0, (r.losses.at(share)-r.Limit)/most)), r.losses.certified
	case r.Objective.Linear():
		return max(0, 1-(1-r.Gap)*share), r.Proven
	case share < unmoved:
		return math.NaN(), false
	}
	return r.Gap, false
}

// Linear reports whether the objective is linear in the weights, or a least of such, so that
// no noise changes which are best, and a share of the weights has that share of the value.
func (o Objective) Linear() bool { return o == Separation || o == MaxMin || o == Location }
