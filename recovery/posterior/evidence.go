// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// ErrInvalid marks an input that is not well defined: the caller must change it.
var ErrInvalid = measurement.ErrInvalid

// Amplitude is the prior of a source's amplitude a.
type Amplitude int

// The priors.
const (
	// MixedAmplitude is a = 1 with probability ½, else a ~ U[0,1]: sources of full strength
	// have almost the evidence that they have where a = 1 is known, and weaker ones are not
	// ruled out.
	MixedAmplitude Amplitude = iota
	// UniformAmplitude is a ~ U[0,1].
	UniformAmplitude
	// UnitAmplitude is a = 1.
	UnitAmplitude
)

// String returns mixed, uniform or one.
func (a Amplitude) String() string {
	return [...]string{"mixed", "uniform", "one"}[a]
}

// unit returns the prior probability of a = 1 itself; the rest is uniform.
func (a Amplitude) unit() float64 {
	switch a {
	case UniformAmplitude:
		return 0
	case UnitAmplitude:
		return 1
	default:
		return 0.5
	}
}

// legendreLimit and shortLimit bound |c| + N for which 20 and 10 Gauss–Legendre
// nodes are exact to rounding: the error of k nodes on e^{ct} is below
// (c/2)^{2k}·√π/(2^{2k}·Γ(2k+½)) of the largest value: 1e-20 at c = 20 with k = 20,
// 1e-17 at c = 4 with k = 10.
const (
	legendreLimit = 20
	shortLimit    = 4
)

// evidence integrates the likelihood of one amplitude.
type evidence struct {
	unit      float64   // probability of amplitude 1 itself; the rest is uniform
	at, w     []float64 // Gauss–Legendre on [0, 1]
	at10, w10 []float64 // the same with 10 nodes
}

func newEvidence(a Amplitude) evidence {
	e := evidence{
		unit: a.unit(), at: make([]float64, 20), w: make([]float64, 20), at10: make([]float64, 10), w10: make([]float64, 10),
	}
	quad.Legendre{}.FixedLocations(e.at, e.w, 0, 1)
	quad.Legendre{}.FixedLocations(e.at10, e.w10, 0, 1)
	return e
}

// log returns log ∫ e^{ac − a²N/2} dP(a), the evidence for a source over none.
func (e evidence) log(c, n float64) float64 {
	switch {
	case math.IsInf(n, 1):
		return math.Inf(-1)
	case e.unit == 1:
		return c - n/2
	case e.unit == 0:
		return e.uniform(c, n)
	}
	return e.mix(c-n/2, e.uniform(c, n))
}

// mix returns the logarithm of the mean of e^one, of amplitude 1, and e^uniform under the
// prior.
func (e evidence) mix(one, uniform float64) float64 {
	return logAdd(math.Log(e.unit)+one, math.Log1p(-e.unit)+uniform)
}

// logAdd returns log(e^x + e^y).
func logAdd(x, y float64) float64 {
	if x < y {
		x, y = y, x
	}
	if math.IsInf(y, -1) {
		return x
	}
	return x + math.Log1p(math.Exp(y-x))
}

// uniform is log for a ~ U[0,1] and finite N: c²/2N + ½log(2π/N) + log(Φ((N−c)/√N) − Φ(−c/√N)),
// taken by the Mills ratio in the tails and by quadrature where that cancels.
func (e evidence) uniform(c, n float64) float64 {
	switch {
	case math.Abs(c)+n <= legendreLimit:
		at, w, sum := e.at, e.w, 0.0
		if math.Abs(c)+n <= shortLimit {
			at, w = e.at10, e.w10
		}
		for i, a := range at {
			sum += w[i] * math.Exp(a*(c-a*n/2))
		}
		return math.Log(sum)
	case c > n: // a → 1 − a puts the peak at 0
		return c - n/2 + e.uniform(n-c, n)
	case c < 0:
		if n == 0 {
			return math.Log(math.Expm1(c) / c)
		}
		root := math.Sqrt(n)
		return math.Log((mills(-c/root) - math.Exp(c-n/2)*mills((n-c)/root)) / root)
	default:
		root := math.Sqrt(n)
		inside := 1 - tail((n-c)/root) - tail(c/root)
		return c*c/(2*n) + math.Log(2*math.Pi/n)/2 + math.Log(inside)
	}
}

// tail returns P(X > x) for X ~ N(0, 1).
func tail(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }

// mills returns P(X > x)/φ(x) for x ≥ 0 and X ~ N(0, 1): by definition near 0 and
// by Laplace's continued fraction 1/(x + 1/(x + 2/(x + …))) beyond 5, where 60
// terms leave a remainder below rounding.
func mills(x float64) float64 {
	if math.IsInf(x, 1) {
		return 0
	}
	if x < 5 {
		return tail(x) * math.Exp(x*x/2) * math.Sqrt(2*math.Pi)
	}
	f := x
	for k := 60; k >= 1; k-- {
		f = x + float64(k)/f
	}
	return 1 / f
}

// likeliest returns the amplitude of the largest likelihood that the prior allows.
func (e evidence) likeliest(c, n float64) float64 {
	switch {
	case e.unit == 1 || c >= n:
		return 1
	case c <= 0:
		return 0
	}
	return c / n
}
