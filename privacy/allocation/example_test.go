// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"context"
	"fmt"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/allocation"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// The guarantee is the same as that of equal noise at all nine sensors.
func ExampleOptimize() {
	ctx := context.Background()
	g, _ := graph.Path(9)
	communities := []int{0, 0, 0, 1, 1, 1, 2, 2, 2}
	l := laplacian.New(g, laplacian.Combinatorial)
	d, _ := expm.New(ctx, l, 1, expm.Options{})
	m := sensitivity.Model{Graph: g, Laplacian: l, Diffusion: d, Tau: 1}

	r, _ := allocation.Optimize(ctx, m, d, communities, allocation.Options{})
	b, _ := sensitivity.Bound(ctx, m, r.Weights, sensitivity.Options{})
	fmt.Printf("certified: %.6f\n", b.Upper)
	// Output:
	// certified: 1.000000
}
