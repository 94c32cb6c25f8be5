// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"errors"
	"fmt"
	"math"
)

// Guarantee says how much likelier an event may be under a neighbour of a signal: at
// most h(q), where it has probability q. h is concave, increases, and h(q) ≥ q.
type Guarantee interface {
	// grid returns points r in (0, 1), increasing, at which tangents are taken.
	grid() []float64
	// tangent returns h applied k times to the point at index b of the grid, and a slope
	// of the graph of that function there.
	tangent(b, k int) (value, slope float64)
}

// half is the number of points of a grid on each side of its middle.
const half = 64

// gaussian is μ-Gaussian differential privacy: h(q) = Φ(Φ⁻¹(q) + μ).
type gaussian struct{ mu float64 }

// Gaussian returns the guarantee of μ-Gaussian differential privacy. It returns
// [ErrInvalid] unless μ ≥ 0 and finite.
//
// Source: Dong, Roth & Su, Gaussian differential privacy, 2022.
func Gaussian(mu float64) (Guarantee, error) {
	if !(mu >= 0 && mu <= math.MaxFloat64) {
		return nil, fmt.Errorf("%w: μ = %v, want ≥ 0 and finite", ErrInvalid, mu)
	}
	return gaussian{mu}, nil
}

// gaussianStep is the distance of quantiles in the grid. From farthestShift on every
// point of it has the value 1 and the slope 0.
const (
	gaussianStep  = 7.0 / half
	farthestShift = 1e3
)

func (gaussian) grid() []float64 {
	points := make([]float64, 0, 2*half+1)
	for b := -half; b <= half; b++ {
		points = append(points, normalCDF(gaussianStep*float64(b)))
	}
	return points
}

func (g gaussian) tangent(b, k int) (value, slope float64) {
	a, s := gaussianStep*float64(b-half), min(float64(k)*g.mu, farthestShift)
	return normalCDF(a + s), math.Exp(-s*a - s*s/2)
}

func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// approximate is (ε, δ)-differential privacy:
// h(q) = min(1, e^ε·q + δ, 1 − e^{-ε}(1 − δ − q)).
type approximate struct {
	ratio, delta float64
	points       []float64
}

// Approximate returns the guarantee of (ε, δ)-differential privacy. It returns
// [ErrInvalid] unless ε ≥ 0 and δ in [0, 1).
func Approximate(epsilon, delta float64) (Guarantee, error) {
	if !(epsilon >= 0) || !(delta >= 0 && delta < 1) {
		return nil, fmt.Errorf("%w: ε = %v, δ = %v, want ε ≥ 0 and δ in [0, 1)", ErrInvalid, epsilon, delta)
	}
	g := approximate{ratio: math.Exp(min(epsilon, maxLogRatio)), delta: delta}
	for b := -half; b <= half; b++ {
		g.points = append(g.points, 1/(1+math.Exp(-logisticStep*float64(b))))
	}
	return g, nil
}

// logisticStep is the distance of log odds in the grid. Beyond maxLogRatio one step
// tells apart all that the grid resolves.
const (
	logisticStep = 24.0 / half
	maxLogRatio  = 100
)

func (g approximate) grid() []float64 { return g.points }

func (g approximate) tangent(b, k int) (value, slope float64) {
	value, slope = g.points[b], 1
	for range k {
		up, down := g.ratio*value+g.delta, 1-(1-g.delta-value)/g.ratio
		switch {
		case min(up, down) >= 1:
			return 1, 0
		case up <= down:
			value, slope = up, slope*g.ratio
		default:
			value, slope = down, slope/g.ratio
		}
	}
	return value, slope
}

// ErrInvalid says that an argument is out of range.
var ErrInvalid = errors.New("limit: argument refused")
