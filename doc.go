// SPDX-License-Identifier: Apache-2.0

// Package graphcloak hides exactly where something started on a graph and still
// tells roughly where.
//
// [Run] is the whole tool: it loads a graph from a [Source], plans, releases,
// recovers and writes back. [Load] gives a [Model] for doing the steps one by
// one: [Model.Plan], [Model.Release], [Model.Recover]. What would happen under a plan,
// package study says by simulation; how a report is computed from private values, package
// analyst. docs/ARCHITECTURE.md follows one graph and one reading through the files, and
// says what to touch to add something.
//
// # Mathematics
//
// A graph with weights W has the Laplacian L = D − W. A source vector f₀, with
// entries in [0, 1], diffuses for a time τ and is measured by m of the n nodes:
//
//	y = M f₀,  M = S e^{-τL},  S picks the rows of the sensors.
//
// Two source vectors of equal mass are neighbours when their earth mover's
// distance on the graph is at most α. Neighbouring measurements differ by at most
//
//	Δ₂ = α · max over edges (i, j) of ‖M(e_i − e_j)‖₂ / ℓ_ij,
//
// because edges suffice for a shortest-path metric. Each sensor s publishes
// ỹ_s = y_s + its own noise of standard deviation σ_s, rounded to a lattice, and
// the whole vector ỹ is (ε, δ)-differentially private for neighbours: the least σ
// is that of Balle and Wang (2018), with Δ₂ certified from above.
//
// From ỹ the sources are recovered by Basis Pursuit Denoising,
//
//	minimize 1ᵀf  subject to  0 ≤ f ≤ 1, ‖M f − ỹ‖₂ ≤ η,
//
// with a certificate of optimality or of infeasibility, and by the posterior of a
// single source, summed over communities.
//
// Gilbert and McMillan, "Local Differential Privacy for Physical Sensor Data and
// Sparse Recovery", arXiv:1706.05916, is the origin of the mechanism and of
// recovery by Basis Pursuit Denoising.
package graphcloak
