// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
)

// A plan whose answer would be a guess: the program can ask before it spends.
func ExampleRefuseAtChance() {
	ctx := context.Background()
	ring, err := graph.Cycle(24)
	if err != nil {
		log.Fatal(err)
	}
	model, err := run.Load(ctx, memory.FromGraph(ring), plan.Settings{Tau: tau.At(1)}, plan.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := model.Plan(ctx, plan.Options{Budget: privacy.Budget{Epsilon: 0.001, Delta: 1e-5}})
	if err != nil {
		log.Fatal(err)
	}
	err = study.RefuseAtChance(ctx, model.Model, plan, analyst.Options{})
	fmt.Println(errors.Is(err, study.ErrAtChance))
	// Output: true
}
