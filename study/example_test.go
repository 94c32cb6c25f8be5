// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/study"
)

// A plan whose answer would be a guess: the program can ask before it spends.
func ExampleRefuseAtChance() {
	ctx := context.Background()
	ring, err := graph.Cycle(24)
	if err != nil {
		log.Fatal(err)
	}
	model, err := graphcloak.Load(ctx, memory.FromGraph(ring), graphcloak.Settings{Tau: 1}, graphcloak.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := model.Plan(ctx, graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: 0.001, Delta: 1e-5}})
	if err != nil {
		log.Fatal(err)
	}
	err = study.RefuseAtChance(ctx, model, plan, analyst.Options{})
	fmt.Println(errors.Is(err, study.ErrAtChance))
	// Output: true
}
