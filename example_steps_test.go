// SPDX-License-Identifier: Apache-2.0

package graphcloak_test

import (
	"context"
	"fmt"
	"log"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// What [graphcloak.Run] does, in steps of which each may be taken elsewhere: only the
// second sees the signal, and the third sees the release alone.
func ExampleModel_Release() {
	ctx := context.Background()
	ring, err := graph.Cycle(12)
	if err != nil {
		log.Fatal(err)
	}
	store := memory.FromGraph(ring)
	if err := store.Set("heard", map[graph.ID]any{ring.ID(3): 1}); err != nil {
		log.Fatal(err)
	}
	model, err := graphcloak.Load(ctx, store, graphcloak.Settings{Tau: 1}, graphcloak.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}

	plan, err := model.Plan(ctx, graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: 2, Delta: 1e-5}, Alpha: 1})
	if err != nil {
		log.Fatal(err)
	}
	release, err := model.Release(ctx, plan, graphcloak.Signal{SourceProperty: "heard"},
		graphcloak.Spend{ReleaseID: "monday", Attempt: privacy.NewAttempt()})
	if err != nil {
		log.Fatal(err)
	}
	report, err := model.Recover(ctx, release, analyst.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(plan.Sensors), "sensors, release", release.ID()+",", report.CommunityCount, "communities")
	// Output: 12 sensors, release monday, 3 communities
}
