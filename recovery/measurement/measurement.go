// SPDX-License-Identifier: Apache-2.0

// Package measurement holds private measurements as a linear model with unit noise,
//
//	Y = A f₀ + N(0, I),
//
// the input of the posterior and of Basis Pursuit Denoising. [Whiten] makes it from the
// released readings,
//
//	ỹ = M f₀ + ν,  ν_s ~ N(0, 1/u_s) for each sensor s.
package measurement

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// ErrInvalid marks an invalid argument, here and in the packages that compute from
// measurements.
var ErrInvalid = errors.New("invalid input")

// Data are measurements with unit noise: Y = A f₀ + N(0, I), one row of A for
// each reporting sensor.
type Data struct {
	A linop.Operator
	Y []float64
}

// MaxLength bounds ‖Y‖₂, so that its square and products with it are finite.
const MaxLength = 1e150

// Whiten scales sensor s by √u_s, u_s = 1/σ_s², and drops the silent sensors,
// u_s = 0. M is m × n; y and u have m values. The error of the operator grows to
// max √u_s times that of M. It returns [ErrInvalid].
func Whiten(m linop.Operator, y, u []float64) (Data, error) {
	if m == nil {
		return Data{}, fmt.Errorf("%w: no operator", ErrInvalid)
	}
	rows, n := m.Dims()
	if len(y) != rows || len(u) != rows {
		return Data{}, fmt.Errorf("%w: %d measurements and %d weights for %d sensors", ErrInvalid, len(y), len(u), rows)
	}
	if n == 0 {
		return Data{}, fmt.Errorf("%w: no nodes", ErrInvalid)
	}
	for s, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Data{}, fmt.Errorf("%w: measurement %d is %v", ErrInvalid, s, v)
		}
	}
	reporting := 0
	for _, v := range u {
		if v > 0 {
			reporting++
		}
	}
	w := linop.Scaled{A: m, Rows: make([]int, 0, reporting), Scale: make([]float64, 0, reporting)}
	out := make([]float64, 0, reporting)
	for s, v := range u {
		if !(v >= 0) || math.IsInf(v, 1) {
			return Data{}, fmt.Errorf("%w: weight of sensor %d is %v, want ≥ 0 and finite", ErrInvalid, s, v)
		}
		if v > 0 {
			root := math.Sqrt(v)
			w.Rows, w.Scale, out = append(w.Rows, s), append(w.Scale, root), append(out, root*y[s])
		}
	}
	if len(out) == 0 {
		return Data{}, fmt.Errorf("%w: no sensor reports", ErrInvalid)
	}
	if norm := floats.Norm(out, 2); !(norm <= MaxLength) {
		return Data{}, fmt.Errorf("%w: the measurements are %.3g times their noise, want at most %v", ErrInvalid, norm, MaxLength)
	}
	return Data{A: w, Y: out}, nil
}

// Over returns the data that [Whiten] made, by another operator for M.
func (d Data) Over(m linop.Operator) Data {
	w := d.A.(linop.Scaled)
	w.A = m
	return Data{A: w, Y: d.Y}
}

// Uniform returns the weights of m sensors with the same σ.
func Uniform(sigma float64, m int) []float64 {
	u := make([]float64, m)
	for s := range u {
		u[s] = 1 / (sigma * sigma)
	}
	return u
}

// Chi2Above returns the x that χ²_k, for whole k the law of ‖N(0, I_k)‖², exceeds with
// probability tail. (A quantile at 1 − tail would lose the digits of a small tail.)
func Chi2Above(k float64, tail float64) float64 {
	return 2 * mathext.GammaIncRegCompInv(k/2, tail)
}
