// SPDX-License-Identifier: Apache-2.0

//go:build unix

package expm_test

import (
	"fmt"
	"math"
	"syscall"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// cpu returns the processor time of this process, which a busy machine disturbs
// less than the clock.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func report(b *testing.B, begin time.Duration, cost float64) {
	b.ReportMetric((cpu()-begin).Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(cost, "estimated-s")
}

// BenchmarkReadColumns reads every column of 20,000 nodes from its ball, beside what that is expected to take.
func BenchmarkReadColumns(b *testing.B) {
	const n, width = 20_000, 16
	sbm := func() (*graph.Graph, error) { g, _, err := graph.SBM(n, 10, 90./n, 1./n, 1); return g, err }
	road := func() (*graph.Graph, error) { g, _, err := graph.RoadLike(n, 1); return g, err }
	knn := func() (*graph.Graph, error) { g, _, err := graph.KNN(n, 8, 1); return g, err }
	js, in, out := make([]int, n), make([]float64, n*width), make([]float64, n*width)
	for i := range js {
		js[i], in[i] = i, 1
	}
	for _, c := range []struct {
		name     string
		make     func() (*graph.Graph, error)
		tau, tol float64
	}{
		{"knn", knn, .5, 1e-2},
		{"knn", knn, 2, 1e-4},
		{"knn", knn, 8, 1e-2},
		{"road", road, 2, 1e-4},
		{"road", road, 16, 1e-2},
		{"road", road, 64, 1e-2},
		{"sbm", sbm, .1, 1e-2},
	} {
		l := laplacian.New(must.Get(c.make())(b), laplacian.Combinatorial)
		d := must.Get(expm.New(background, l, c.tau, expm.Options{Method: expm.Chebyshev}))(b)
		b.Run(fmt.Sprintf("%stau%vtol%v", c.name, c.tau, c.tol), func(b *testing.B) {
			begin := cpu()
			for range 4 {
				d.MulBlockTo(out, false, in, width)
			}
			product := (cpu() - begin).Seconds() / (4 * width)
			products := expm.BallProducts(d, js, c.tol)
			begin = cpu()
			for b.Loop() {
				read, ok := d.ReadColumns(js, c.tol, math.MaxInt)
				if !ok {
					b.Fatal("columns are not read")
				}
				for _, j := range js {
					read(j, func([]int32, []float64, float64) {})
				}
			}
			report(b, begin, product*products)
			b.ReportMetric(products, "products")
		})
	}
}
