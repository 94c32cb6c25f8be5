// SPDX-License-Identifier: Apache-2.0

package privacy

import "fmt"

// ReadingsError says how many nodes hold values under a private property that no
// sensor can have. It never says which nodes or what values: either may be the
// secret, and errors are logged, sent and kept.
type ReadingsError struct {
	Property string
	Wrong    string // such as "is missing"; no value stands in it
	Count    int
}

func (e *ReadingsError) Error() string {
	nodes := "nodes"
	if e.Count == 1 {
		nodes = "node"
	}
	return fmt.Sprintf("%q %s on %d %s", e.Property, e.Wrong, e.Count, nodes)
}
