// SPDX-License-Identifier: Apache-2.0

package community_test

import (
	"testing"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph"
)

func BenchmarkLeiden(b *testing.B) {
	for _, c := range []struct {
		name string
		make func() (*graph.Graph, error)
	}{
		{"sbm-1000/n=1e5/m=1e6", func() (*graph.Graph, error) {
			g, _, err := graph.SBM(1e5, 1000, 0.16, 4e-5, 1)
			return g, err
		}},
		{"rmat/n=1e5/m=1e6", func() (*graph.Graph, error) { return graph.RMAT(1e5, 1e6, graph.Quadrants{}, 1) }},
		{"road-like/n=1e6", func() (*graph.Graph, error) { g, _, err := graph.RoadLike(1e6, 1); return g, err }},
		{"sbm-1000/n=1e6/m=1e7", func() (*graph.Graph, error) {
			g, _, err := graph.SBM(1e6, 1000, 0.016, 4e-6, 1)
			return g, err
		}},
		{"barabasi-albert/n=1e6/m=1e7", func() (*graph.Graph, error) { return graph.BarabasiAlbert(1e6, 10, 1) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			g, err := c.make()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				p, err := community.Leiden{}.Detect(b.Context(), g)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(p.Modularity, "Q")
				b.ReportMetric(float64(p.Count), "communities")
			}
		})
	}
}
