// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/jobs"
)

// Obstacles classifies existing values of the properties that a run is to write: those of
// another run, whose id is on the same node, and those of the user.
type Obstacles struct {
	known   map[string][]string // what each run under the same run-id property writes
	users   map[string]int      // nodes that hold a property of the user's, by its name
	touched map[string]bool
}

// NewObstacles classifies for a run, given the runs that the store knows.
func NewObstacles(run jobs.Run, runs []jobs.Run) *Obstacles {
	o := &Obstacles{known: map[string][]string{run.RunID: run.Write.Columns}, users: map[string]int{}, touched: map[string]bool{}}
	for _, k := range runs {
		if k.Write != nil && k.Write.RunIDColumn == run.Write.RunIDColumn {
			o.known[k.RunID] = k.Write.Columns
		}
	}
	return o
}

// Add takes nodes that have the same properties under some of the run's names; owner
// is the value of their run-id property, nil where they have none. What the owner
// does not write is the user's.
func (o *Obstacles) Add(owner any, present []any, nodes int) {
	run, _ := owner.(string)
	columns := o.known[run]
	foreign := false
	for _, p := range present {
		if name, _ := p.(string); !slices.Contains(columns, name) {
			o.users[name] += nodes
			foreign = true
		}
	}
	if !foreign {
		o.touched[run] = true
	}
}

// Result returns the ids of the runs whose values were met, or an [ErrConflict]
// for values that no run wrote, unless force is set.
func (o *Obstacles) Result(force bool) ([]string, error) {
	if len(o.users) > 0 && !force {
		var held []string // on which nodes may be private
		for _, name := range slices.Sorted(maps.Keys(o.users)) {
			held = append(held, fmt.Sprintf("%s (%d)", name, o.users[name]))
		}
		return nil, fmt.Errorf("%w: nodes hold a property that no run wrote: %s; overwrite them with --force, or choose another prefix",
			ErrConflict, strings.Join(held, ", "))
	}
	return slices.Sorted(maps.Keys(o.touched)), nil
}
