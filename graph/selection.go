// SPDX-License-Identifier: Apache-2.0

package graph

// Selection says which part of a store becomes the graph. The names are those of
// the projection parameters of GDS. The zero value takes every node and every
// relationship, unweighted, in hops.
type Selection struct {
	NodeLabels        []string // none: all
	RelationshipTypes []string // none: all

	// NodeQuery and RelationshipQuery replace labels and types by read-only
	// Cypher. The first returns a column id; the second source, target, and weight
	// and length where those properties are asked for.
	NodeQuery, RelationshipQuery string

	NodeKey                    string  // property that identifies a node; "": the store's own id
	RelationshipWeightProperty string  // "": every weight is 1
	DefaultWeight              float64 // weight where the property is missing; 0: missing is an error
	LengthProperty             string  // "": every length is 1, distance counts hops

	Aggregation   Aggregation
	DropBadWeight bool // leave out relationships with a bad weight or length instead of refusing
}

// SensorSelection says which nodes carry sensors. The zero value takes all.
type SensorSelection struct {
	Label    string // nodes with this label
	Property string // nodes whose property is true or a number other than 0
}
