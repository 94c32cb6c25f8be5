// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"context"
	"fmt"
	"log"

	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/graph"
)

// A store with properties, which graphcloak.Run reads as it reads a database.
func ExampleNew() {
	store, err := memory.New(
		[]memory.Node{{ID: "ann"}, {ID: "bob", Properties: memory.Properties{"heard": 1}}},
		[]memory.Relationship{{Source: "ann", Target: "bob"}})
	if err != nil {
		log.Fatal(err)
	}
	g, err := store.Graph(context.Background(), graph.Selection{})
	if err != nil {
		log.Fatal(err)
	}
	heard, err := store.Signal(context.Background(), g, "heard")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Order(), "nodes", heard)
	// Output: 2 nodes [NaN 1]
}
