// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"

	"github.com/graphcloak/graphcloak/graph"
)

// Source keeps a graph and what stands on its nodes. Nodes are addressed by their
// number in the graph that the same source returned.
type Source interface {
	// Name identifies the source without credentials, such as
	// neo4j://host:7687/neo4j or folder:DIR.
	Name() string
	// Graph reads the selected part.
	Graph(ctx context.Context, sel graph.Selection) (*graph.Graph, error)
	// Signal reads a numeric property of every node, NaN where a node has none.
	Signal(ctx context.Context, g *graph.Graph, property string) ([]float64, error)
	// Series reads a property that lists so many numbers: those of node i are from i·times on, NaN where it has none.
	Series(ctx context.Context, g *graph.Graph, property string, times int) ([]float64, error)
	// Labels reads a property that names a category, "" where a node has none.
	// Whole numbers are written in decimal; values of mixed types are refused.
	Labels(ctx context.Context, g *graph.Graph, property string) ([]string, error)
	// Sensors returns the selected nodes in ascending order.
	Sensors(ctx context.Context, g *graph.Graph, sel graph.SensorSelection) ([]int, error)
}
