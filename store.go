// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// Store keeps a graph, takes the properties of a run, and holds the ledger of
// what was spent. The connectors implement it; package storetest is its contract.
//
// Nodes are addressed by their number in the graph that the same store returned.
type Store interface {
	// Name identifies the store without credentials, such as
	// neo4j://host:7687/neo4j or folder:DIR.
	Name() string
	// Graph reads the selected part.
	Graph(ctx context.Context, sel graph.Selection) (*graph.Graph, error)
	// Signal reads a numeric property of every node, NaN where a node has none.
	Signal(ctx context.Context, g *graph.Graph, property string) ([]float64, error)
	// Labels reads a property that names a category, "" where a node has none.
	// Whole numbers are written in decimal; values of mixed types are refused.
	Labels(ctx context.Context, g *graph.Graph, property string) ([]string, error)
	// Sensors returns the selected nodes in ascending order.
	Sensors(ctx context.Context, g *graph.Graph, sel graph.SensorSelection) ([]int, error)
	// Check refuses a table whose properties would overwrite the user's, unless
	// force is set, and a store that holds an unfinished run. Nothing is written.
	Check(ctx context.Context, g *graph.Graph, t report.Table, force bool) error
	// Reserve checks as Check does and makes sure of what Write will need: rights,
	// constraints, room. It records the run, so that no other begins on the same graph
	// until this one is written, undone or cancelled.
	Reserve(ctx context.Context, g *graph.Graph, t report.Table, force bool) error
	// Cancel gives up a reservation for which nothing was spent. It leaves a run that
	// has come further, and one that it does not know, as they are.
	Cancel(ctx context.Context, runID string) error
	// Write writes the table. Called again with the same table it completes an
	// interrupted write.
	Write(ctx context.Context, g *graph.Graph, t report.Table, force bool) error
	// Undo removes the properties that a run wrote and returns the number of
	// nodes. The record of the run stays, for what it spent stays spent.
	Undo(ctx context.Context, runID string) (nodes int64, err error)
	// Ledger returns the ledger that is kept beside the graph.
	Ledger() privacy.Ledger
	Close(ctx context.Context) error
}
