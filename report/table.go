// SPDX-License-Identifier: Apache-2.0

package report

// Column is one node property of a run.
type Column struct {
	Name  string
	Nodes []int // numbers of the nodes that have a value, ascending; nil: all
	// Exactly one of the following is set; entry k belongs to Nodes[k], or to node k.
	Floats  []float64 // finite
	Ints    []int64
	Strings []string
}

// Property is one property of a run's record. Value is a string, bool, int64,
// float64, []string, []int64 or []float64, and no number in it is NaN or infinite.
type Property struct {
	Name  string
	Value any
}

// Table is what a store writes: node properties, and the record of the run that
// made them. Only [NewTable] makes one, and only from a release, so that nothing
// but private values and what was computed from them can be written.
type Table struct {
	runID   string
	columns []Column
	record  []Property
}

// RunID returns the id that ties the written properties to the run's record.
func (t Table) RunID() string { return t.runID }

// Columns returns the node properties. The column that holds the run's id
// ("gcRunId" under the default prefix) is among them and covers every node that
// another column covers. The caller must not change it.
func (t Table) Columns() []Column { return t.columns }

// Record returns the properties of the run's node, apart from its status, which
// the store keeps. The caller must not change it.
func (t Table) Record() []Property { return t.record }

// RunIDColumn returns the name of the column that holds the run's id.
func (t Table) RunIDColumn() string { return t.columns[len(t.columns)-1].Name }
