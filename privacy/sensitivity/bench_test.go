// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sensitivity_test

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// BenchmarkBound closes Δ₂ to 5 %. Metrics: the two ends, and their ratio.
func BenchmarkBound(b *testing.B) {
	sbm := func(n int) func() (*graph.Graph, error) {
		return func() (*graph.Graph, error) {
			g, _, err := graph.SBM(n, 10, 180/float64(n), 20*10.0/9/10/float64(n), 1)
			return g, err
		}
	}
	road := func(n int) func() (*graph.Graph, error) {
		return func() (*graph.Graph, error) { g, _, err := graph.RoadLike(n, 1); return g, err }
	}
	knn := func(n int) func() (*graph.Graph, error) {
		return func() (*graph.Graph, error) { g, _, err := graph.KNN(n, 10, 1); return g, err }
	}
	for _, c := range []struct {
		name string
		make func() (*graph.Graph, error)
		tau  float64
		tol  float64
	}{
		{"sbm2e3tol1e-9", sbm(2000), 1, 1e-9},
		{"sbm5e3", sbm(5000), 1, 0.05},
		{"sbm1e5", sbm(100000), 1, 0.05},
		{"ba1e5", func() (*graph.Graph, error) { return graph.BarabasiAlbert(100000, 10, 1) }, 1, 0.05},
		{"rmat1e5", func() (*graph.Graph, error) { return graph.RMAT(100000, 1000000, graph.Quadrants{}, 1) }, 1, 0.05},
		{"ba1e4", func() (*graph.Graph, error) { return graph.BarabasiAlbert(10000, 10, 1) }, 1, 0.05},
		{"rmat1e4", func() (*graph.Graph, error) { return graph.RMAT(10000, 100000, graph.Quadrants{}, 1) }, 1, 0.05},
		{"road1e5tau10", road(100000), 10, 0.05},
		{"knn1e5tau10", knn(100000), 10, 0.05},
		{"road1e6", road(1000000), 1, 0.05},
		{"knn1e6", knn(1000000), 1, 0.05},
		{"sbm1e6", sbm(1000000), 1, 0.05},
	} {
		b.Run(c.name, func(b *testing.B) {
			g := must[*graph.Graph](b)(c.make())
			m := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: c.tau}
			var r sensitivity.Bracket
			begin := cpu()
			for b.Loop() {
				r = must[sensitivity.Bracket](b)(sensitivity.Bound(context.Background(), m, nil, sensitivity.Options{
					Tolerance: c.tol, Seed: [32]byte{1}, Progress: progress(b),
				}))
			}
			b.ReportMetric((cpu()-begin).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(r.Lower, "lower")
			b.ReportMetric(r.Upper, "upper")
			b.ReportMetric(r.Upper/r.Lower, "ratio")
		})
	}
}

// BenchmarkPerSensor bounds every reading of a block model without rows. Metric: the
// median upper end as a share of the joint Δ₂.
func BenchmarkPerSensor(b *testing.B) {
	for _, n := range []int{20000, 100000} {
		b.Run(fmt.Sprintf("sbm%d", n), func(b *testing.B) {
			g, _, err := graph.SBM(n, 10, 180/float64(n), 20*10.0/9/10/float64(n), 1)
			g = must[*graph.Graph](b)(g, err)
			m := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 1}
			opts := sensitivity.Options{Tolerance: 0.05, Seed: [32]byte{1}, Progress: progress(b)}
			var up []float64
			begin := cpu()
			for b.Loop() {
				up = up[:0]
				for _, r := range must[[]sensitivity.Bracket](b)(sensitivity.BoundWithoutRows(context.Background(), m, opts)) {
					up = append(up, r.Upper)
				}
			}
			b.ReportMetric((cpu()-begin).Seconds()/float64(b.N), "cpu-s/op")
			slices.Sort(up)
			b.ReportMetric(up[len(up)/2]/up[len(up)-1], "median/joint")
		})
	}
}

// progress logs how the bracket closes under -v.
func progress(b *testing.B) func(string, int64, int64) {
	if !testing.Verbose() {
		return nil
	}
	return func(stage string, done, total int64) { b.Logf("%v %s: %d of %d", b.Elapsed(), stage, done, total) }
}

// cpu returns the processor time of this process, which a busy machine disturbs
// less than the clock.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
