// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"context"
	"fmt"
	"log"

	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/graph"
)

// A graph that was built, with a property of its nodes.
func ExampleFromGraph() {
	ctx := context.Background()
	path, err := graph.Path(4)
	if err != nil {
		log.Fatal(err)
	}
	store := memory.FromGraph(path)
	if err := store.Set("heat", map[graph.ID]any{path.ID(0): 0.5, path.ID(3): 1}); err != nil {
		log.Fatal(err)
	}
	g, err := store.Graph(ctx, graph.Selection{})
	if err != nil {
		log.Fatal(err)
	}
	heat, err := store.Signal(ctx, g, "heat")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Order(), "nodes,", g.Size(), "relationships, heat", heat)
	// Output: 4 nodes, 3 relationships, heat [0.5 NaN NaN 1]
}
