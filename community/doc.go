// SPDX-License-Identifier: Apache-2.0

// Package community partitions a graph into communities, and ranks them by the
// probability that they hold the source.
//
// Start with [Leiden], whose zero value is the recommended detector, or with
// [FromStrings] where a node property names the communities; then [Rank].
//
// A detector maximises over partitions
//
//	Σ_c [ W_c − g·K_c²/2 ]
//
// which is modularity at the resolution γ: W_c is the weight of the edges inside c, K_c
// the sum of its nodes' weighted degrees and g = γ/2m, with m the total weight. The
// graph is public: nothing here sees a signal, so communities cost no privacy.
package community
