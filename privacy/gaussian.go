// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// logDelta returns the logarithm of the least δ for which the Gaussian mechanism
// with μ = Δ/σ is (ε, δ)-private, up to an absolute error of logDeltaError.
//
// With t = ε/μ − μ/2 and Mills' ratio R(t) = (1 − Φ(t))/φ(t), the profile of
// Balle and Wang (ICML 2018, theorem 8), Φ(−t) − e^ε·Φ(−t−μ), equals
//
//	φ(t)·(R(t) − R(t+μ)) = φ(t)·∫₀^∞ e^{−ts−s²/2}(1 − e^{−μs}) ds,
//
// since φ(t) = e^ε·φ(t+μ). Neither e^ε nor a difference of tiny tails remains,
// and the integral, taken for small μ, is of one sign.
func logDelta(eps, mu float64) float64 {
	t := eps/mu - mu/2
	logPhi := -t*t/2 - logSqrt2Pi
	switch {
	case mu < 1:
		return logPhi + math.Log(millsDrop(t, mu))
	case t > 0:
		return logPhi + math.Log(mills(t)-mills(t+mu))
	default:
		return math.Log(math.Erfc(t/math.Sqrt2)/2 - math.Exp(logPhi)*mills(t+mu))
	}
}

const (
	logSqrt2Pi = 0.918938533204672741780329736405617639861

	// logDeltaError holds for ε and δ of a valid Budget, and for any ε at μ ≤ 1000: t
	// is known to 2⁻⁵²·ε/μ and multiplied by t ≤ 38 in the exponent, t²/2 ≤ 700 has its
	// own rounding, and R(t) − R(t+μ) loses a factor t + 1 + √2 ≤ 41. Together below
	// 2e-12, and 5e-12 where ε > 1000.
	logDeltaError = 1e-11
)

// mills returns R(t) = (1 − Φ(t))/φ(t) for t ≥ 0.
func mills(t float64) float64 {
	if t < 4 {
		return math.Sqrt(math.Pi/2) * math.Exp(t*t/2) * math.Erfc(t/math.Sqrt2)
	}
	// Laplace's continued fraction 1/(t + 1/(t + 2/(t + 3/(t + …)))). At t = 4 and
	// 100 terms the remainder is below 2⁻⁵³, and it falls as t grows.
	r := t
	for k := 100.0; k > 0; k-- {
		r = t + k/r
	}
	return 1 / r
}

// millsDrop returns R(t) − R(t+μ) for t ≥ −½ and 0 < μ < 1. Beyond the end of the
// interval the integrand is below e⁻⁴⁰ of its mass.
func millsDrop(t, mu float64) float64 {
	end := 10.0
	if t > 0 {
		end = min(end, 48/t)
	}
	return quad.Fixed(func(s float64) float64 {
		return -math.Exp(-s*(t+s/2)) * math.Expm1(-mu*s)
	}, 0, end, 64, nil, 0)
}

// deltaBound returns an upper bound on the least δ at ε for this μ.
func deltaBound(eps, mu float64) float64 {
	if mu == 0 {
		return 0
	}
	return min(1, up(math.Exp(logDelta(eps, mu)+logDeltaError), 4))
}

// private reports whether μ is certainly (ε, δ)-private.
func private(b Budget, mu float64) bool {
	return logDelta(b.Epsilon, mu)+logDeltaError <= math.Log(b.Delta)
}
