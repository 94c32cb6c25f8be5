// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
)

// BenchmarkBuilder takes a million nodes in the order of their ids, as a database
// gives them, and five relationships with a weight from each.
func BenchmarkBuilder(b *testing.B) {
	const n, degree = 1_000_000, 5
	ids := make([]graph.ID, n)
	for i := range ids {
		ids[i] = graph.ID(strconv.Itoa(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		var g graph.Builder
		for _, id := range ids {
			if _, err := g.AddNode(id); err != nil {
				b.Fatal(err)
			}
		}
		for i := range n {
			for j := range degree {
				if err := g.Connect(i, (i*7919+j*104729+1)%n, float64(j)+.5, 1); err != nil {
					b.Fatal(err)
				}
			}
		}
		if _, err := g.Graph(); err != nil {
			b.Fatal(err)
		}
	}
}
