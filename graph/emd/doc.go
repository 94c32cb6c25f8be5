// SPDX-License-Identifier: Apache-2.0

// Package emd computes the earth mover's distance (Wasserstein-1) from a distribution to a node:
// start with [ToNode].
//
// The ground distance d on a graph is the shortest-path metric of its lengths, and by duality the distance of p and q of equal
// mass is max Σ_v (p_v − q_v) π_v over the potentials with |π_u − π_v| ≤ ℓ_uv on every relationship.
//
// Masses must be equal. The partial form of Rubner, Tomasi & Guibas, The earth
// mover's distance as a metric for image retrieval, International Journal of
// Computer Vision 40 (2000), leaves surplus mass unmoved at no cost: under it (1, 0) and
// (1, 1) would be at distance 0.
package emd
