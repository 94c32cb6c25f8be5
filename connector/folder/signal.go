// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"fmt"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// Signal reads a numeric column of nodes.csv, NaN where a node has no value. A NaN that is
// written out, an infinity or a text is an ErrInput with their number, and so is the
// column of ids or of labels. It returns the errors of
// [CSV.Columns], and [connector.ErrConflict] where the graph is another.
func (c *CSV) Signal(ctx context.Context, g *graph.Graph, property string) ([]float64, error) {
	return c.Series(ctx, g, property, 1)
}

// Series is [CSV.Signal] for a column that lists so many numbers, separated by semicolons: those of node i are from i·times on.
func (c *CSV) Series(ctx context.Context, g *graph.Graph, property string, times int) ([]float64, error) {
	if property == idColumn || property == labelsColumn { // read without noise whatever a selection names
		return nil, fmt.Errorf("%w: %s of nodes.csv is public; give the numbers a column of their own", connector.ErrInput, property)
	}
	r := connector.NewReadings(g, property, times)
	if err := c.property(ctx, g, property, func(i int, text string) { r.Add(i, connector.Parse(text)) }); err != nil {
		return nil, err
	}
	return r.Result()
}

// Labels reads a column of nodes.csv that names a category, "" where a node has no value.
// Every field of a CSV file is text, so kinds cannot mix. It returns the errors of
// [CSV.Columns], and [connector.ErrConflict] where the graph is another.
func (c *CSV) Labels(ctx context.Context, g *graph.Graph, property string) ([]string, error) {
	labels := make([]string, g.Order())
	err := c.property(ctx, g, property, func(i int, text string) { labels[i] = strings.Clone(text) })
	return labels, err
}

// Sensors returns, in ascending order, the nodes that carry a sensor: those with a
// property that is true or a number other than 0. Ids that no plan takes, by [privacy.CheckID], are an ErrInput with
// their lines. It returns the errors of [CSV.Columns], and [connector.ErrConflict] where the graph is another.
func (c *CSV) Sensors(ctx context.Context, g *graph.Graph, sel graph.SensorSelection) ([]int, error) {
	sensors, err := connector.Sensors(g, sel, func(property string, take func(i int, v any)) error {
		return c.property(ctx, g, property, func(i int, text string) { take(i, connector.Parse(text)) })
	})
	if err != nil {
		return nil, err
	}
	return sensors, c.checkSensorIDs(ctx, g, sensors)
}

// checkSensorIDs names the rows of sensors with an id that no plan takes.
func (c *CSV) checkSensorIDs(ctx context.Context, g *graph.Graph, sensors []int) error {
	wrong := make(map[int]error)
	for _, i := range sensors {
		if err := privacy.CheckID("id", string(g.ID(i))); err != nil {
			wrong[i] = err
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	ids, err := c.ids.Get(g)
	if err != nil {
		return err
	}
	t, err := c.open(nodesFile, idColumn)
	if err != nil {
		return err
	}
	id := t.column(idColumn)
	var bad connector.Offenders
	err = t.each(ctx, nil, func(line int, fields []string) error {
		if i, ok := ids.of(g, fields[id]); ok && wrong[i] != nil {
			bad.Add("%s line %d: %s", nodesFile, line, strings.TrimPrefix(wrong[i].Error(), "privacy: "))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return bad.Err("nodes have an id that no sensor can have",
		"want printable text of at most 1024 bytes; fix the column, or choose another --node-key")
}
