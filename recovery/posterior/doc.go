// SPDX-License-Identifier: Apache-2.0

// Package posterior gives the probability of every node to be the source of a diffusion,
// from private measurements with unit noise,
//
//	Y = A f₀ + N(0, I),
//
// where A is m × n and f₀ is a source of amplitude a at one node, or two such sources.
//
// [New] is the posterior of a single source, exact where the column norms of A are, with
// bounds on its error where they are not. [NewPairs] is the exact posterior of two
// sources, and [Second] estimates how much more likely two are than one.
// With [Faults] each sensor may be broken.
// [ColumnNorms] and [ProbedNorms] compute what depends on A alone, once for all data of
// one operator.
package posterior
