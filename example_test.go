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
	"github.com/graphcloak/graphcloak/privacy"
)

// The whole tool as a library, on a graph that ships with it. The noise is fresh,
// so what the answer says differs from run to run.
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
		Settings: graphcloak.Settings{Tau: 2},
		Plan:     graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: 4, Delta: 0.1}, Alpha: 1},
		Signal:   graphcloak.Signal{SourceProperty: "source"},
		Recover:  graphcloak.RecoverOptions{Communities: community.Options{Property: "club"}},
		Write:    graphcloak.WriteOptions{Enabled: true},
	}, graphcloak.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.NodeCount, "nodes,", report.CommunityCount, "communities, ε spent:", report.EpsilonSpent)
	// Output: 34 nodes, 2 communities, ε spent: 4
}
