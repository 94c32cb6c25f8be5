// SPDX-License-Identifier: Apache-2.0

// Package graph holds an undirected weighted graph in memory, in compressed
// sparse row (CSR) form.
//
// Build one with a [Builder]; a [Graph] never changes afterwards and is safe for
// concurrent use. Nodes are numbered 0 … n−1 in shortlex order of their ids
// (shorter first, then bytewise, so that decimal numbers count upwards), and
// each row is sorted by neighbour. The same nodes and relationships therefore
// give the same bits from any source, whatever order they arrived in.
//
// A relationship has a weight w > 0, which diffusion uses, and a length ℓ > 0,
// which the earth mover's distance uses. Both are 1 unless given.
package graph
