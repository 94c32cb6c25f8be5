// SPDX-License-Identifier: Apache-2.0

package graphcloak_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/privacy"
)

// A graph that the program has already: two groups of three, and one who has heard.
// The noise is fresh, so what the answer says differs from run to run.
func Example() {
	store, err := memory.New(
		[]memory.Node{{ID: "ann"}, {ID: "bob", Properties: memory.Properties{"heard": 1}}, {ID: "cid"}, {ID: "dan"}, {ID: "eve"}, {ID: "fay"}},
		[]memory.Relationship{
			{Source: "ann", Target: "bob"},
			{Source: "bob", Target: "cid"},
			{Source: "cid", Target: "ann"},
			{Source: "cid", Target: "dan"},
			{Source: "dan", Target: "eve"},
			{Source: "eve", Target: "fay"},
			{Source: "fay", Target: "dan"},
		})
	if err != nil {
		log.Fatal(err)
	}
	report, err := graphcloak.Run(context.Background(), store, graphcloak.Job{
		Settings: graphcloak.Settings{Tau: 1},
		Plan:     graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: 2, Delta: 1e-5}, Alpha: 1},
		Signal:   graphcloak.Signal{SourceProperty: "heard"},
	}, graphcloak.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.NodeCount, "nodes,", report.CommunityCount, "communities, ε spent:", report.EpsilonSpent)
	// Output: 6 nodes, 2 communities, ε spent: 2
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
		Settings: graphcloak.Settings{Tau: 2, Public: graphcloak.Public{Communities: community.Options{Property: "club"}}},
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
