// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"math"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// lemmas evaluates the paper's bounds, and the sharper ones, on the bracket. They are
// about relationships of length 1 and a sensor at every node.
func (in *Inspection) lemmas(m sensitivity.Model, s *expm.Spectrum) {
	in.Bounds = []Bound{}
	if s == nil || !symmetric(m) || !m.Graph.UnitLengths() {
		in.note("the bounds of the paper's lemmas need all eigenpairs, hops, and a sensor at every node")
		return
	}
	a := alpha(m)
	lambda, first := s.Lambda(), s.Nullity()
	lower := func(statement string, v float64) {
		in.Bounds = append(in.Bounds, Bound{statement, v, v <= in.Sensitivity.Upper})
	}
	upper := func(statement string, v float64) {
		in.Bounds = append(in.Bounds, Bound{statement, v, v >= in.Sensitivity.Lower})
	}
	inverse := math.Exp(-m.Tau * lambda[len(lambda)-1])
	lower("Δ₂ ≥ α/κ₂", a*inverse)
	lower("Δ₂ ≥ √2·α/κ₂", math.Sqrt2*a*inverse)
	rows, all := 0.0, 0.0
	v := s.Vectors()
	for e := range m.Graph.Edges() {
		weighted, plain := 0.0, 0.0
		for k := first; k < len(lambda); k++ {
			d := math.Abs(v.At(k, e.U) - v.At(k, e.V))
			weighted += math.Exp(-m.Tau*lambda[k]) * d
			plain += d
		}
		rows, all = max(rows, weighted), max(all, plain)
	}
	decay := math.Exp(-m.Tau * lambda[first])
	upper("Δ₂ ≤ α·Σ e^{-τλ_k}|v_k(i) − v_k(j)|", a*rows)
	upper("Δ₂ ≤ α·e^{-τλ₂}·‖U_i − U_j‖₁", a*decay*all)
	upper("Δ₂ ≤ √2·α·e^{-τλ₂}", math.Sqrt2*a*decay)
}
