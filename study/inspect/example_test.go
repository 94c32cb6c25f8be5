// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"context"
	"fmt"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
	"github.com/graphcloak/graphcloak/study/inspect"
)

// A cycle of six nodes: λ₂ = 1, λ_max = 4, and every relationship is the worst.
func ExampleInspect() {
	g, err := graph.Cycle(6)
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := inspect.Inspect(context.Background(), sensitivity.Model{
		Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 1,
	}, inspect.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("λ₂ = %.4f, λ_max = %.4f, effective rank %.2f, Δ₂ = %.4f\n", *in.Lambda2, in.LambdaMax, *in.EffectiveRank,
		in.Sensitivity.Upper)
	// Output: λ₂ = 1.0000, λ_max = 4.0000, effective rank 3.37, Δ₂ = 0.2187
}
