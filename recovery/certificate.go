// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// dualPoint holds the dual direction r with the product Mᵀr, from which bounds follow: the dual value of any z is at most p*,
//
//	g(z) = yᵀz − η‖z‖₂ + Σ_i min(0, 1 − (Mᵀz)_i).
//
// Where M is known within d, (Mᵀz)_i is increased by its [operatorError],
// at most d‖z‖₂.
//
// Proof: docs/proofs/recovery.md.
type dualPoint struct {
	c     []float64     // Mᵀr
	norm  float64       // ‖r‖₂
	gain  float64       // yᵀr − η‖r‖₂, rounded down
	opErr operatorError // of M along r
	unit  float64       // what rounding of the product adds to each entry
}

// dualPoint returns the bounds of r from c = Mᵀr and the error of M along r. scale estimates ‖M‖₂
// from below.
func (p Problem) dualPoint(r, c []float64, scale float64, along operatorError) dualPoint {
	norm := math.Sqrt(dot2(r, r))
	yr := dot2(p.Y, r)
	if norm > 0 {
		scale = max(scale, floats.Norm(c, 2)/norm)
	}
	return dualPoint{
		c: c, norm: norm, opErr: along, unit: 2 * unit * scale * norm,
		gain: yr - p.Radius*norm - 4*unit*(math.Abs(yr)+p.Radius*norm),
	}
}

// upperEntry is an upper bound on (M'ᵀr)_i for the exact M'.
func (v dualPoint) upperEntry(i int) float64 { return v.c[i] + (v.opErr.entry(i) + v.unit) }

// maxEntry is the largest of them.
func (v dualPoint) maxEntry() float64 {
	top := math.Inf(-1)
	for i := range v.c {
		top = max(top, v.upperEntry(i))
	}
	return top
}

// collect returns f(i) for those i, ascending, where it is not 0.
func (v dualPoint) collect(f func(i int) float64) (out []float64) {
	for i := range v.c {
		if x := f(i); x != 0 {
			out = append(out, x)
		}
	}
	return out
}

// penalty is Σ min(0, 1 − t·high_i), rounded down: each term by its four roundings.
func (v dualPoint) penalty(t float64) float64 {
	return v.sum(func(i int) float64 {
		x := t * v.upperEntry(i)
		return min(0, 1-x-4*unit*(1+math.Abs(x)))
	}) * (1 + few*unit)
}

// sum adds f(i), all of one sign, with the rounding of each addition carried along: its
// relative error is at most 2⁻⁵² + n²2⁻¹⁰⁶. Zeros, which change no bit of it, are left out.
func (v dualPoint) sum(f func(i int) float64) float64 {
	terms := v.collect(f)
	if k := slices.IndexFunc(terms, func(x float64) bool { return math.IsInf(x, 0) }); k >= 0 {
		return terms[k]
	}
	return floats.SumCompensated(terms)
}

// best returns max over t ≥ 0 of g(t·r) and its t. With the positive c descending,
// p₀ ≥ p₁ ≥ …, and s_k = p₀ + … + p_k, the slope in t changes sign at the first k
// with s_k ≥ gain: t = 1/p_k. No such k means that the bound is unbounded, the
// problem infeasible: then infeasible is true.
func (v dualPoint) best() (bound, t float64, infeasible bool) {
	if v.gain <= 0 {
		return 0, 0, false
	}
	top := max(0, v.maxEntry())
	for floor := top / 2; ; floor /= 4 {
		if !(floor >= top/(1<<8)) || math.IsInf(top, 1) { // also where rounding or an overflow leaves NaN
			floor = 0
		}
		if t, ok := v.crossing(floor); ok {
			return v.gain*t + v.penalty(t), t, false
		}
		if floor == 0 {
			return math.Inf(1), 0, true
		}
	}
}

// crossing looks for the t of best among the entries above a floor: the largest decide
// most cases, and are sorted in no time.
func (v dualPoint) crossing(floor float64) (t float64, ok bool) {
	pos := v.collect(func(i int) float64 {
		if x := v.upperEntry(i); x > floor {
			return x
		}
		return 0
	})
	slices.SortFunc(pos, cmp.Compare)
	taken := 0.0
	for k := len(pos) - 1; k >= 0; k-- {
		taken += pos[k]
		if taken >= v.gain {
			return 1 / pos[k], true
		}
	}
	return 0, false
}

// errorCost is by how much the operator error lowers the best bound, which is with.
func (v dualPoint) errorCost(with float64) float64 {
	v.opErr, v.unit = operatorError{along: []float64{0}, norm: []float64{0}}, 0
	without, _, infeasible := v.best()
	if infeasible {
		return 0
	}
	return max(0, without-with)
}

// farkas returns F with rᵀ(y − M f) − η‖r‖ ≥ F for all 0 ≤ f ≤ 1; F > 0 proves the problem infeasible.
func (v dualPoint) farkas() float64 {
	plain := v.sum(func(i int) float64 { return max(0, v.c[i]) })
	shifted := v.sum(func(i int) float64 { return max(0, v.upperEntry(i)) })
	// ‖f_b‖₂ ≤ √n_b bounds the error of the operator as a whole.
	whole := v.opErr.bilinear(v.opErr.onesNorms(len(v.c))) + v.unit*math.Sqrt(float64(len(v.c)))
	loss := min(shifted, plain+whole)
	return v.gain - loss*(1+few*unit)
}

// gapOf is the relative gap of objective and bound.
func gapOf(objective, bound float64) float64 {
	if objective <= bound {
		return 0
	}
	return (objective - bound) / max(objective, bound)
}

// dot2 is xᵀy as if computed in twice the precision, then rounded: its error is
// about 2⁻⁵³·|xᵀy| + len²·2⁻¹⁰⁶·|x|ᵀ|y|.
// Reference: Ogita, Rump and Oishi (2005), SIAM J. Sci. Comput. 26(6), Algorithm 5.3.
func dot2(x, y []float64) float64 {
	var s, c float64
	for i, a := range x {
		p := a * y[i]
		e := math.FMA(a, y[i], -p)
		t := s + p
		z := t - s
		c += ((s - (t - z)) + (p - z)) + e
		s = t
	}
	return s + c
}
