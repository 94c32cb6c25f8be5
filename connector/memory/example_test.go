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
func ExampleFromGraph() {
	g, err := graph.Path(2)
	if err != nil {
		log.Fatal(err)
	}
	store := memory.FromGraph(g)
	if err := store.Set("heard", map[graph.ID]any{g.ID(1): 1}); err != nil {
		log.Fatal(err)
	}
	if g, err = store.Graph(context.Background(), graph.Selection{}); err != nil {
		log.Fatal(err)
	}
	heard, err := store.Signal(context.Background(), g, "heard")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Order(), "nodes", heard)
	// Output: 2 nodes [NaN 1]
}
