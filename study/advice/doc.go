// SPDX-License-Identifier: Apache-2.0

// Package advice says before anything is spent what will disappoint about a graph and the
// choices for it, and proposes choices from a store's schema.
//
// Start with [Warnings], which turns [Facts] into sentences, or with [Propose]. All that it
// sees is public: the graph, names of labels, types and properties, and simulated accuracy.
package advice
