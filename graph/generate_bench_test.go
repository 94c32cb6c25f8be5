// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"testing"

	"github.com/graphcloak/graphcloak/graph"
)

// Generators at n = 1e6, most of them with about 1e7 edges.
func BenchmarkGenerate(b *testing.B) {
	const n = 1_000_000
	for _, c := range []struct {
		name string
		make func() (*graph.Graph, error)
	}{
		{"sbm/n=1e6/m=1e7", func() (*graph.Graph, error) {
			g, _, err := graph.SBM(n, 10, 180e-6, 20.0/9*1e-6, 1)
			return g, err
		}},
		{"barabasi-albert/n=1e6/m=1e7", func() (*graph.Graph, error) { return graph.BarabasiAlbert(n, 10, 1) }},
		{"rmat/n=1e6/m=1e7", func() (*graph.Graph, error) { return graph.RMAT(n, 10*n, graph.Quadrants{}, 1) }},
		{"knn/n=1e6/k=8", func() (*graph.Graph, error) { g, _, err := graph.KNN(n, 8, 1); return g, err }},
		{"road-like/n=1e6", func() (*graph.Graph, error) { g, _, err := graph.RoadLike(n, 1); return g, err }},
		{"grid/n=1e6", func() (*graph.Graph, error) { return graph.Grid(1000, 1000) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g, err := c.make()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(g.Size()), "edges")
			}
		})
	}
}
