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

// Readings reads a private property of every node, NaN where a node has none.
type Readings struct {
	property string
	values   []float64
	bad      int
}

// NewReadings returns an empty reading of a property.
func NewReadings(g *graph.Graph, property string) *Readings {
	return &Readings{property: property, values: make([]float64, g.Order())}
}

// Add takes the value of node i; nil is missing.
func (r *Readings) Add(i int, v any) {
	x, ok := Reading(v)
	if !ok {
		r.bad++
	}
	r.values[i] = x
}

// Result returns the values, or an [ErrInput] that counts what is no finite number
// and names neither node nor value.
func (r *Readings) Result() ([]float64, error) {
	if r.bad > 0 {
		return nil, fmt.Errorf("%w: %w", ErrInput,
			&privacy.ReadingsError{Property: r.property, Wrong: "is not a finite number", Count: r.bad})
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

// Sensors returns the numbers of the kept nodes, or an [ErrNotFound] where the
// selection keeps none.
func Sensors(keep []bool, sel graph.SensorSelection) ([]int, error) {
	sensors := []int{}
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
