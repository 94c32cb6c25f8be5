// SPDX-License-Identifier: Apache-2.0

// Package emd computes the earth mover's distance (Wasserstein-1) between two
// distributions of equal mass.
//
// Start with [Distance] for a graph, and with
// [ToNode] where all mass goes to one node.
// On a graph the ground distance d is the shortest-path metric of its lengths,
//
//	EMD(p, q) = min Σ_e ℓ_e |x_e|   over the flows x with  div x = p − q,
//
// so that the flow runs along the graph's own edges: memory is O(n + m), and no
// n × n matrix of distances is ever formed. By duality it is also
//
//	max Σ_v (p_v − q_v) π_v   over the potentials with  |π_u − π_v| ≤ ℓ_uv.
//
// Masses must be equal. The partial form of Rubner, Tomasi & Guibas, The earth
// mover's distance as a metric for image retrieval, International Journal of
// Computer Vision 40 (2000), leaves surplus mass unmoved at no cost: under it (1, 0) and
// (1, 1) would be at distance 0.
package emd
