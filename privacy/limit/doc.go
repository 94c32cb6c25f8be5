// SPDX-License-Identifier: Apache-2.0

// Package limit bounds from above how often any mechanism with a given guarantee can
// name the community of a single source: what is left to gain from other noise, and
// what only another graph, another question or a weaker guarantee gives.
//
// Neighbours are signals within an earth mover's distance of α, so sources of mass 1 at
// distance d are k = ⌈d/α⌉ steps apart: part of the mass is moved at each. What a
// guarantee says of neighbours holds k times over, and limits how much the distributions
// of answers may differ. The bound is the value of a game in which one player chooses,
// for every node, the signals that its distribution of answers is compared with, and the other those
// signals' distributions. Any choice of the first player is a certificate.
//
// Proof: docs/proofs/limit.md.
package limit
