// SPDX-License-Identifier: Apache-2.0

// Package inspect computes the quantities that the paper studies on a graph: its
// spectrum, the condition number and coherence of M = S e^{-τL}, and an explanation of
// the sensitivity.
//
// Start with [Inspect]. Up to [ExactNodes] nodes everything comes from all eigenpairs;
// above, eigenvalues are bounded by Ritz values and a certified bound, the density is
// estimated by stochastic Lanczos quadrature, and quantities that need all columns are
// omitted. Inspection.Notes says which.
//
// Only the public graph is read.
package inspect
