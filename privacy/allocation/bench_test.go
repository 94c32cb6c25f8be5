// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/allocation"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// BenchmarkOptimize allocates over block models of mean degree 20 in ten
// communities, the rows of M by Chebyshev's method included.
func BenchmarkOptimize(b *testing.B) {
	for _, n := range []int{1000, 5000, 20000, 100000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			size := float64(n) / 10
			g, labels, err := graph.SBM(n, 10, 19/size, 1/(float64(n)-size), 1)
			if err != nil {
				b.Fatal(err)
			}
			m := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 1}
			d, err := expm.New(context.Background(), m.Laplacian, 1, expm.Options{Method: expm.Chebyshev})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				r, err := allocation.Optimize(context.Background(), m, d, labels,
					allocation.Options{Objective: allocation.Separation, Gap: .01})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(1-r.Value/r.Limit, "gap")
				b.ReportMetric(float64(r.Reporting), "sensors")
			}
		})
	}
}
