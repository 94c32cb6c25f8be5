// SPDX-License-Identifier: Apache-2.0

package graph

// Selection says which part of a store becomes the graph. The names are those of
// the projection parameters of GDS. The zero value takes every node and every
// relationship, unweighted, in hops.
type Selection struct {
	NodeLabels        []string `json:"nodeLabels,omitempty"`        // none: all
	RelationshipTypes []string `json:"relationshipTypes,omitempty"` // none: all

	// NodeQuery and RelationshipQuery replace labels and types by read-only
	// Cypher. The first returns a column id; the second source, target, and weight
	// and length where those properties are asked for. A node is named by itself, by
	// its elementId() or, where NodeKey is set, by that property instead.
	NodeQuery         string `json:"nodeQuery,omitempty"`
	RelationshipQuery string `json:"relationshipQuery,omitempty"`

	// property that identifies a node; "": the store's own id
	NodeKey                    string `json:"nodeKey,omitempty"`
	RelationshipWeightProperty string `json:"relationshipWeightProperty,omitempty"` // "": every weight is 1
	LengthProperty             string `json:"lengthProperty,omitempty"`             // "": every length is 1, distance counts hops

	Aggregation Aggregation `json:"aggregation"`
	Isolated    Isolated    `json:"isolated,omitempty"` // nodes without a relationship
}

// Isolated says what becomes of nodes without a relationship: heat stays where it is there,
// so that no noise hides a source.
type Isolated string

const (
	DropIsolated  Isolated = "drop"  // they are no part of the graph
	AllowIsolated Isolated = "allow" // a source there is not protected
)

// SensorSelection says which nodes carry sensors. The zero value takes all.
type SensorSelection struct {
	Property string `json:"property,omitempty"` // nodes whose property is true or a number other than 0
}
