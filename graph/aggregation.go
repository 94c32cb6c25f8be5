// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"errors"
	"fmt"
	"slices"
)

// Errors of a [Builder].
var (
	ErrDuplicateNode = errors.New("graph: node id given twice")
	ErrUnknownNode   = errors.New("graph: no such node")
	ErrBadWeight     = errors.New("graph: weight is not a positive finite number")
	ErrBadLength     = errors.New("graph: length is not a positive finite number")
	ErrParallel      = errors.New("graph: parallel relationships")
	ErrNoProperty    = errors.New("graph: nothing has such a property") // in its store
	ErrTooLarge      = errors.New("graph: more than 2³¹−1 nodes")
)

// Aggregation says how the weights of parallel relationships are merged (GDS parameter
// aggregation). The merged length is always the least: a shortest path takes the
// shortest of them.
type Aggregation int

// The aggregations of GDS.
const (
	Sum    Aggregation = iota // add the weights
	Min                       // least weight
	Max                       // largest weight
	Single                    // any one of them; here the least, so that order does not matter
	Count                     // number of relationships, weights ignored
	None                      // refuse parallel relationships
)

var aggregationNames = []string{"SUM", "MIN", "MAX", "SINGLE", "COUNT", "NONE"}

func (a Aggregation) String() string { return aggregationNames[a] }

// MarshalText writes the GDS name.
func (a Aggregation) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads a GDS name.
func (a *Aggregation) UnmarshalText(text []byte) (err error) {
	*a, err = ParseAggregation(string(text))
	return err
}

// ParseAggregation reads a GDS name such as SUM.
func ParseAggregation(s string) (Aggregation, error) {
	if i := slices.Index(aggregationNames, s); i >= 0 {
		return Aggregation(i), nil
	}
	return 0, fmt.Errorf("graph: aggregation is %q, want one of %v", s, aggregationNames)
}
