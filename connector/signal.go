// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// Readings reads a private property of every node, which holds a number or a list of so many, NaN where a node has none.
type Readings struct {
	property string
	times    int
	values   []float64
	bad      int
}

// NewReadings returns an empty reading of a property of one number, or of a list of so many.
func NewReadings(g *graph.Graph, property string, times int) *Readings {
	return &Readings{property: property, times: times, values: make([]float64, times*g.Order())}
}

// Add takes the value of node i; nil is missing.
func (r *Readings) Add(i int, v any) {
	ok := false
	if to := r.values[i*r.times:][:r.times]; r.times == 1 {
		to[0], ok = Reading(v)
	} else {
		ok = readList(to, v)
	}
	if !ok {
		r.bad++
	}
}

// readList reads a list of as many numbers, or a text that separates them by semicolons.
func readList(to []float64, v any) bool {
	var list []any
	switch x := v.(type) {
	case nil:
		list = make([]any, len(to))
	case []any:
		list = x
	case string:
		for part := range strings.SplitSeq(x, ";") {
			list = append(list, Parse(strings.TrimSpace(part)))
		}
	}
	if len(list) != len(to) {
		return false
	}
	for k, v := range list {
		x, ok := Reading(v)
		if !ok {
			return false
		}
		to[k] = x
	}
	return true
}

// Result returns the values, or an [ErrInput] that counts what is no finite number, or no list of as many,
// and names neither node nor value.
func (r *Readings) Result() ([]float64, error) {
	if r.bad > 0 {
		wrong := "is not a finite number"
		if r.times > 1 {
			wrong = fmt.Sprintf("is not a list of %d finite numbers", r.times)
		}
		return nil, fmt.Errorf("%w: %w", ErrInput, &privacy.ReadingsError{Property: r.property, Wrong: wrong, Count: r.bad})
	}
	return r.values, nil
}

// Categories reads a property that names a category of each node.
type Categories struct {
	g        *graph.Graph
	property string
	text     []string
	bad      Offenders
	kinds    map[string]graph.ID // the first node of each kind
}

// NewCategories returns an empty reading of a property.
func NewCategories(g *graph.Graph, property string) *Categories {
	return &Categories{g: g, property: property, text: make([]string, g.Order()), kinds: make(map[string]graph.ID)}
}

// Add takes the value of node i; nil is missing.
func (c *Categories) Add(i int, v any) {
	text, kind, wrong := Category(v)
	id := c.g.ID(i)
	if wrong != "" {
		c.bad.Add("node %q: %s %s", id, c.property, wrong)
		return
	}
	c.text[i] = text
	if first, ok := c.kinds[kind]; kind != "" && (!ok || id < first) {
		c.kinds[kind] = id
	}
}

// Result returns the category of each node, or an [ErrInput] for values that are
// not categories or are of different kinds.
func (c *Categories) Result() ([]string, error) {
	if err := c.bad.Err("nodes have no usable category", "want text or whole numbers"); err != nil {
		return nil, err
	}
	if len(c.kinds) > 1 {
		var kinds []string
		for _, k := range slices.Sorted(maps.Keys(c.kinds)) {
			kinds = append(kinds, fmt.Sprintf("%s (node %q)", k, c.kinds[k]))
		}
		return nil, fmt.Errorf("%w: %s mixes %s", ErrInput, c.property, strings.Join(kinds, " and "))
	}
	return c.text, nil
}

// Sensors returns, in ascending order, the nodes that carry a sensor: all, or those with a property that is true or a number
// other than 0. each hands over the property of every node, nil where it is missing. It returns the errors of each,
// [ErrInput] for values that are no marks, and [ErrNotFound] where the selection keeps none.
func Sensors(g *graph.Graph, sel graph.SensorSelection, each func(property string, take func(i int, v any)) error) ([]int, error) {
	sensors := []int{}
	if sel.Property == "" {
		for i := range g.Order() {
			sensors = append(sensors, i)
		}
		return sensors, nil
	}
	var bad Offenders
	keep := make([]bool, g.Order())
	err := each(sel.Property, func(i int, v any) {
		marked, wrong := Flag(v)
		if wrong != "" {
			bad.Add("node %q: %s %s", g.ID(i), sel.Property, wrong)
		}
		keep[i] = marked
	})
	if err == nil {
		err = bad.Err("nodes have no usable sensor mark", "want true, false or a number")
	}
	if err != nil {
		return nil, err
	}
	for i, k := range keep {
		if k {
			sensors = append(sensors, i)
		}
	}
	if len(sensors) == 0 && len(keep) > 0 {
		return nil, fmt.Errorf("%w: no selected node carries a sensor (property %q)", ErrNotFound, sel.Property)
	}
	return sensors, nil
}
