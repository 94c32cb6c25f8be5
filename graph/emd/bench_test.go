// SPDX-License-Identifier: Apache-2.0

package emd_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/emd"
)

func BenchmarkDistance(b *testing.B) {
	for _, n := range []int{2_000, 20_000, 100_000} {
		for _, c := range []struct {
			name     string
			generate func() (*graph.Graph, error)
		}{
			{"sbm", func() (*graph.Graph, error) {
				g, _, err := graph.SBM(n, 10, 180/float64(n), 20.0/9/float64(n), 1)
				return g, err
			}},
			{"barabasi-albert", func() (*graph.Graph, error) { return graph.BarabasiAlbert(n, 10, 1) }},
			{"knn", func() (*graph.Graph, error) { g, _, err := graph.KNN(n, 8, 1); return g, err }},
			{"road-like", func() (*graph.Graph, error) { g, _, err := graph.RoadLike(n, 1); return g, err }},
		} {
			b.Run(fmt.Sprintf("%s-%d", c.name, n), func(b *testing.B) {
				g, p, q := instance(b, n, c.generate)
				b.ReportAllocs()
				for b.Loop() {
					d, err := emd.Distance(b.Context(), g, p, q)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(d, "distance")
				}
			})
		}
	}
}

// instance draws two random distributions of equal mass in every component.
func instance(b *testing.B, n int, generate func() (*graph.Graph, error)) (g *graph.Graph, p, q []float64) {
	g, err := generate()
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 0))
	p, q = make([]float64, n), make([]float64, n)
	labels, sizes := g.Components()
	massP, massQ := make([]float64, len(sizes)), make([]float64, len(sizes))
	for i := range p {
		p[i], q[i] = r.Float64(), r.Float64()
		massP[labels[i]] += p[i]
		massQ[labels[i]] += q[i]
	}
	for i := range q {
		q[i] *= massP[labels[i]] / massQ[labels[i]]
	}
	return g, p, q
}
