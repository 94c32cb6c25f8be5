// SPDX-License-Identifier: Apache-2.0

// Package recovery finds where a diffusion started, from private measurements
//
//	ỹ = M f₀ + ν,  ν_s ~ N(0, 1/u_s) for each sensor s,
//
// where M is m × n and 0 ≤ f₀ ≤ 1 is sparse.
//
// Start with [Whiten], which scales the sensors to unit noise and drops the
// silent ones. [Data.Posterior] then gives the probability of every node to be
// the single source, which is the answer that the noise allows. [Data.Problem]
// sets up basis pursuit denoising,
//
//	p* = min 1ᵀf  subject to  0 ≤ f ≤ U, ‖A f − y‖₂ ≤ η,
//
// with the radius η of a [Rule], and a [Solver] solves it. Every [Result] carries
// a proof: a dual vector whose bound meets the objective, or one that shows that
// no f fits. Nothing is called optimal without it.
//
// Reference: Gilbert and McMillan, "Local Differential Privacy for Physical
// Sensor Data and Sparse Recovery". Its radius σ√m makes the program infeasible
// about half the time, see [Rule].
package recovery
