// SPDX-License-Identifier: Apache-2.0

// Package inspect answers the paper's questions of a graph: its spectrum, how
// ill-conditioned and how coherent M = S e^{-τL} is, and why the sensitivity is what
// it is.
//
// [Inspect] is all of it. Up to [ExactNodes] nodes everything comes from all
// eigenpairs; beyond, eigenvalues are bounded by Ritz values and a certified bound,
// the density is estimated by stochastic Lanczos quadrature, and what would take all
// columns is left out. The result says which.
//
// Only the public graph is read.
package inspect
