// SPDX-License-Identifier: Apache-2.0

package privacy_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// Plan from public numbers, pay, draw, publish. The second release finds the
// budget spent.
func Example() {
	ctx := context.Background()
	plan, err := privacy.NewPlan(privacy.Spec{
		Public: privacy.Public{
			NodeCount: 2, RelationshipCount: 1, ComponentCount: 1, Tau: 1, Laplacian: "combinatorial",
			Metric: "hops", Alpha: 1,
		},
		Budget:      privacy.Budget{Epsilon: 1, Delta: 1e-5},
		Sensors:     []privacy.Sensor{{Node: 0, ID: "hall"}, {Node: 1, ID: "stairs"}},
		Sensitivity: privacy.Sensitivity{Lower: 0.19, Upper: 0.2, Edge: [2]graph.ID{"hall", "stairs"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("σ = %.6f, lattice 2^%d, ρ = %.4f\n", plan.Sigma(), plan.Sensors[0].Exponent, plan.Cost().Rho())

	var ledger privacy.MemoryLedger // a store's ledger in earnest
	if _, err := privacy.SetCap(ctx, &ledger, "building", privacy.Budget{Epsilon: 1, Delta: 1e-5}); err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range []string{"monday", "tuesday"} {
		charge, err := plan.Charge("building", id, privacy.NewAttempt())
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := privacy.Spend(ctx, &ledger, charge); err != nil {
			fmt.Println(id, "exhausted:", errors.Is(err, privacy.ErrExhausted))
			return
		}
		release, err := plan.Perturb([]float64{0.3, 0.7}, id, privacy.System{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(id, "released:", len(release.Values()), "values; verified:", privacy.Verify(release, plan) == nil)
	}
	// Output:
	// σ = 0.746126, lattice 2^-35, ρ = 0.0359
	// monday released: 2 values; verified: true
	// tuesday exhausted: true
}

// Seven releases at (1, 1e-5) are together far better than ε = 7.
func ExampleCost_Epsilon() {
	sigma, err := privacy.Analytic{}.Sigma(privacy.Budget{Epsilon: 1, Delta: 1e-5}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	cost, err := privacy.CostOf(1 / sigma)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range []privacy.Cost{1, 7, 365} {
		eps, err := (n * cost).Epsilon(1e-5)
		fmt.Printf("%d: ε = %.3f %v\n", n, eps, err)
	}
	// Output:
	// 1: ε = 1.000 <nil>
	// 7: ε = 2.953 <nil>
	// 365: ε = 34.229 <nil>
}
