// SPDX-License-Identifier: Apache-2.0

package graphcloak_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// A graph and a signal that the program has already: two groups of three, and bob has heard.
// The noise is fresh, so what the answer says differs from run to run.
func Example() {
	ctx := context.Background()
	var b graph.Builder
	for _, e := range [][2]graph.ID{
		{"ann", "bob"},
		{"bob", "cid"},
		{"cid", "ann"},
		{"cid", "dan"},
		{"dan", "eve"},
		{"eve", "fay"},
		{"fay", "dan"},
	} {
		_ = b.AddEdge(e[0], e[1], 1) // fails for an empty id or a weight ≤ 0
	}
	g, err := b.Graph()
	check(err)
	heard := make([]float64, g.Order())
	bob, _ := g.Index("bob")
	heard[bob] = 1

	model, err := graphcloak.Load(ctx, memory.FromGraph(g), graphcloak.Settings{Tau: tau.At(1)}, graphcloak.LoadOptions{})
	check(err)
	plan, err := model.Plan(ctx, graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: 2, Delta: 1e-5}})
	check(err)
	release, err := model.Release(ctx, plan, graphcloak.Job{Signal: graphcloak.Signal{SourceProperty: "heard", Values: heard}})
	check(err)
	report, err := model.Recover(ctx, release, analyst.Options{})
	check(err)
	fmt.Println(report.NodeCount, "nodes,", report.CommunityCount, "communities, ε =", plan.Epsilon)
	// Output: 6 nodes, 2 communities, ε = 2
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A folder of CSV files, to which the answer is written back.
func ExampleRun() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "karate")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	karate, err := builtin.Example("karate")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.CopyFS(dir, karate); err != nil {
		log.Fatal(err)
	}
	store, err := folder.New(ctx, dir, folder.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close(ctx)

	report, err := graphcloak.Run(ctx, store, graphcloak.Job{
		Settings: graphcloak.Settings{Tau: tau.At(2), Public: graphcloak.Public{Communities: community.Options{Property: "club"}}},
		Plan:     graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: 4, Delta: 0.1}, Alpha: 1},
		Signal:   graphcloak.Signal{SourceProperty: "source"},
		Write:    graphcloak.WriteOptions{Enabled: true},
	}, graphcloak.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.NodeCount, "nodes,", report.CommunityCount, "communities, ε spent:", report.EpsilonSpent)
	// Output: 34 nodes, 2 communities, ε spent: 4
}
