// SPDX-License-Identifier: Apache-2.0

// Package recovery finds a sparse f₀, 0 ≤ f₀ ≤ 1, from private measurements with unit
// noise,
//
//	y = A f₀ + N(0, I),
//
// by basis pursuit denoising. [NewProblem] sets up the programme
//
//	p* = min 1ᵀf  subject to  0 ≤ f ≤ U, ‖A f − y‖₂ ≤ η,
//
// with the radius η of a [Rule], and [ColumnGeneration] solves it. Every [Result] carries
// a proof: a dual vector whose bound equals the objective within the tolerance, or one that
// proves the problem infeasible. No result is called optimal without it.
//
// Reference: Gilbert and McMillan, "Local Differential Privacy for Physical
// Sensor Data and Sparse Recovery". Its radius σ√m makes the programme infeasible
// about half the time, see [Rule].
package recovery
