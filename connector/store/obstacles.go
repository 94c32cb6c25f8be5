// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"maps"
	"slices"

	"github.com/graphcloak/graphcloak/graph"
)

// Obstacles judges what stands under a run's property names on the nodes that it
// selects: another run's values, known by the run's id beside them, or the user's.
type Obstacles struct {
	run     Run
	known   map[string][]string // what each run under the same run-id property writes
	users   Offenders
	touched map[string]bool
}

// NewObstacles prepares to judge for a run beside the runs that the store knows.
func NewObstacles(run Run, runs []Run) *Obstacles {
	o := &Obstacles{run: run, known: map[string][]string{run.ID: run.Columns}, touched: map[string]bool{}}
	for _, k := range runs {
		if k.RunIDColumn == run.RunIDColumn {
			o.known[k.ID] = k.Columns
		}
	}
	return o
}

// Add takes a node that has properties under some of the run's names; owner is the
// value of its run-id property, nil where it has none. What the owner does not
// write is the user's.
func (o *Obstacles) Add(id graph.ID, owner any, present []any) {
	run, _ := owner.(string)
	columns := o.known[run]
	for _, p := range present {
		if name, _ := p.(string); !slices.Contains(columns, name) {
			o.users.Add("%s of node %q", name, id)
			return
		}
	}
	o.touched[run] = true
}

// Result returns the ids of the runs whose values were met, or an [ErrConflict]
// for values that no run wrote, unless force is set.
func (o *Obstacles) Result(force bool) ([]string, error) {
	if o.users.Count() > 0 && !force {
		return nil, fmt.Errorf("%w: %s; overwrite them with --force, or choose another prefix", ErrConflict,
			o.users.list("nodes hold a property that no run wrote"))
	}
	return slices.Sorted(maps.Keys(o.touched)), nil
}
