// SPDX-License-Identifier: Apache-2.0

// Package privacy turns a certified sensitivity into a private release, and
// accounts for it.
//
// Start with [NewPlan], which holds public numbers only; spend its
// [Plan.Charge] with [Spend]; then call [Plan.Perturb], which returns the only
// thing that may be published, a [Release]. A sensor that adds its own noise uses
// package sensor, and [Plan.FromSensors] assembles what the sensors sent.
//
// # Mechanism
//
// Sensor s clips its reading to a public interval, rounds it to a multiple of
// g_s = 2^k and publishes the integer
//
//	X_s = round(y_s/g_s) + N_s,  N_s = ⌊S_s·Φ⁻¹(U_s) + ½⌋,  σ_s = S_s·g_s,
//
// where U_s is an endless stream of uniform bits, read only as far as N_s needs.
// X_s is the rounding of round(y_s/g_s) + S_s·Z with Z ~ N(0,1) exactly, hence
// post-processing of the continuous Gaussian mechanism, and inherits its tight
// (ε, δ) [BW18], its ρ-zCDP [BS16] and its μ-GDP [DRS22] with
// μ = ‖diag(1/σ)(y − y')‖₂ + rounding. No floating-point artefact can leak: the
// output is an integer.
//
// # Neighbours
//
// Two sources f, f' of equal total mass are neighbours when the earth mover's
// distance on the public graph between them is at most α. The certified
// sensitivity is α·max ‖diag(√u)·M(e_i − e_j)‖₂/d(i,j) over the edges, computed by
// package sensitivity from public data alone.
//
// [BW18] Balle and Wang, Improving the Gaussian mechanism for differential
// privacy, ICML 2018. [BS16] Bun and Steinke, Concentrated differential privacy,
// TCC 2016. [DRS22] Dong, Roth and Su, Gaussian differential privacy, J. R. Stat.
// Soc. B 84 (2022).
package privacy
