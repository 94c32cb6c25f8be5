// SPDX-License-Identifier: Apache-2.0

package recovery

import "fmt"

// Normal is ColumnGeneration by normal equations at any size, whose columns may take
// some bytes.
func Normal(memory int) ColumnGeneration { return ColumnGeneration{memory: memory} }

// Resized returns the ball with the radius that the noise exceeds with probability beta.
func (b Ball) Resized(beta float64) Ball {
	b.resize(beta)
	return b
}

// Iterations is ColumnGeneration of so many outer steps at most.
func Iterations(g ColumnGeneration, most int) ColumnGeneration {
	g.most = most
	return g
}

// Room is ColumnGeneration whose basis has so many vectors at most.
func Room(g ColumnGeneration, vectors int) ColumnGeneration {
	g.room = vectors
	return g
}

// LowerBound returns the dual value g(z) ≤ p* that [dualPoint] defines.
func (p Problem) LowerBound(z []float64) (float64, error) {
	v, err := p.evaluateDual(z)
	if err != nil {
		return 0, err
	}
	return v.gain + v.penalty(1), nil
}

// Distance returns a lower bound, by z, on ‖M f − y‖₂ over all 0 ≤ f ≤ 1. Beyond the radius it proves the problem
// infeasible (Farkas).
func (p Problem) Distance(z []float64) (float64, error) {
	v, err := p.evaluateDual(z)
	if err != nil || v.norm == 0 {
		return 0, err
	}
	return p.Radius + v.farkas()/v.norm, nil
}

func (p Problem) evaluateDual(z []float64) (dualPoint, error) {
	if err := p.check(); err != nil {
		return dualPoint{}, err
	}
	if len(z) != len(p.Y) {
		return dualPoint{}, fmt.Errorf("%w: %d dual values for %d sensors", ErrInvalid, len(z), len(p.Y))
	}
	if err := checkFinite("dual value", z); err != nil {
		return dualPoint{}, err
	}
	_, n := p.A.Dims()
	c := make([]float64, n)
	along := multiplyAlong(p.A, c, z)
	return p.dualPoint(z, c, 0, along), nil
}
