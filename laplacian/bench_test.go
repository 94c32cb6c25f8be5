// SPDX-License-Identifier: Apache-2.0

//go:build unix

package laplacian_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// BenchmarkRecur is one fused step on one worker; cpu-ns/entry counts the entries of B
// times the columns.
func BenchmarkRecur(b *testing.B) {
	for _, c := range []struct {
		name string
		make func() (*graph.Graph, error)
	}{
		{"ba1e5", func() (*graph.Graph, error) { return graph.BarabasiAlbert(100000, 10, 1) }},
		{"ba2e3", func() (*graph.Graph, error) { return graph.BarabasiAlbert(2000, 10, 1) }},
		{"knn1e5", func() (*graph.Graph, error) { g, _, err := graph.KNN(100000, 10, 1); return g, err }},
		{"knn1e6", func() (*graph.Graph, error) { g, _, err := graph.KNN(1000000, 10, 1); return g, err }},
	} {
		g := must.Get(c.make())(b)
		l := laplacian.New(g, laplacian.Combinatorial).WithWorkers(1)
		for _, k := range []int{1, 8, 16} {
			b.Run(fmt.Sprintf("%s/k=%d", c.name, k), func(b *testing.B) {
				n := g.Order()
				x, y, acc := make([]float64, n*k), make([]float64, n*k), make([]float64, n*k)
				for i := range x {
					x[i] = 1 / float64(i+1)
				}
				begin := cpu()
				for b.Loop() {
					l.Recur(y, acc, x, k, 0.1, -1, -1, 0.3)
				}
				b.ReportMetric(float64(cpu()-begin)/float64(b.N)/float64(2*g.Size()*k), "cpu-ns/entry")
			})
		}
	}
}

// cpu returns the processor time of this process in nanoseconds, which a busy
// machine disturbs less than the clock.
func cpu() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return r.Utime.Nano() + r.Stime.Nano()
}
