// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
)

// Signal reads a numeric property of every node: NaN where a node has none. A stored NaN,
// an infinity, a text or a list is an ErrInput with their number. It returns the errors of
// [New], [connector.ErrNotFound], [connector.ErrInput] for values that are no numbers, and
// [connector.ErrConflict] where the graph has changed.
func (s *Store) Signal(ctx context.Context, g *graph.Graph, property string) ([]float64, error) {
	return s.Series(ctx, g, property, 1)
}

// Series is [Store.Signal] for a property that lists so many numbers: those of node i are from i·times on.
func (s *Store) Series(ctx context.Context, g *graph.Graph, property string, times int) ([]float64, error) {
	r := connector.NewReadings(g, property, times)
	if err := s.property(ctx, g, property, r.Add); err != nil {
		return nil, err
	}
	return r.Result()
}

// Members returns the Cypher that lists the members of a community as a run wrote them,
// the likeliest node first. It is shown, never run.
func Members(prefix, runID string, community int) string {
	property := func(name string) string { return "n." + Quote(prefix+name) }
	return fmt.Sprintf("MATCH (n) WHERE %s = %s AND %s = %d RETURN n, %s AS sourceProbability ORDER BY sourceProbability DESC LIMIT 25",
		property("RunId"), quoteText(runID), property("Community"), community, property("SourceProbability"))
}

// quoteText makes a string literal.
func quoteText(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// Labels reads a property that names a category: "" where a node has none. Whole numbers
// are written in decimal; a mixture of kinds is an ErrInput. It returns the errors of
// [New], [connector.ErrNotFound], [connector.ErrInput] for values that are no names, and
// [connector.ErrConflict] where the graph has changed.
func (s *Store) Labels(ctx context.Context, g *graph.Graph, property string) ([]string, error) {
	c := connector.NewCategories(g, property)
	if err := s.property(ctx, g, property, c.Add); err != nil {
		return nil, err
	}
	return c.Result()
}

// Points reads a property of type POINT: x and y of every node, NaN where it has none or
// has no point. geographic says that they are degrees, as in WGS 84. It returns the errors
// of [New], and [connector.ErrConflict] where the graph has changed.
func (s *Store) Points(ctx context.Context, g *graph.Graph, property string) (x, y []float64, geographic bool, err error) {
	x, y = make([]float64, g.Order()), make([]float64, g.Order())
	const wgs84, wgs84In3D = 4326, 4979 // their EPSG codes
	err = s.property(ctx, g, property, func(i int, v any) {
		x[i], y[i] = math.NaN(), math.NaN()
		switch p := v.(type) {
		case neo4j.Point2D:
			x[i], y[i], geographic = p.X, p.Y, geographic || p.SpatialRefId == wgs84
		case neo4j.Point3D:
			x[i], y[i], geographic = p.X, p.Y, geographic || p.SpatialRefId == wgs84In3D
		}
	})
	return x, y, geographic, err
}

// Sensors returns, in ascending order, the nodes that carry a sensor: those with a property
// that is true or a number other than 0. It returns the errors of
// [New], [connector.ErrNotFound], [connector.ErrInput] for values that are no marks, and
// [connector.ErrConflict] where the graph has changed.
func (s *Store) Sensors(ctx context.Context, g *graph.Graph, sel graph.SensorSelection) ([]int, error) {
	return connector.Sensors(g, sel, func(property string, take func(i int, v any)) error { return s.property(ctx, g, property, take) })
}

// property hands over a property of every node, nil where it is missing.
func (s *Store) property(ctx context.Context, g *graph.Graph, property string, take func(i int, v any)) error {
	if err := s.exist(ctx, propertyNames, property); err != nil {
		return err
	}
	nodes, err := s.nodes.Get(g)
	if err != nil {
		return err
	}
	names := naming{}
	return s.each(ctx, "property "+property, nodes, names.property("n", property), names, take)
}

// each evaluates an expression on every node n.
func (s *Store) each(ctx context.Context, stage string, nodes *nodeSet, expression cypher, params map[string]any,
	take func(i int, v any),
) error {
	g := gather[*neo4j.Record]{match: nodes.match(), columns: []cypher{"i", expression}, params: params, unpack: asIs}
	n, seen := len(nodes.ids), 0
	err := g.run(ctx, s, each(stage, n), int64(s.options.BatchSize), func(at span) map[string]any {
		return nodes.params(at.each())
	}, func(at span, r *neo4j.Record) error {
		index, values := list(r, 0), list(r, 1)
		for k := range index {
			if i, _ := index[k].(int64); i >= 0 && i < at.len() {
				take(int(at.lo+i), entry(values, k))
			}
		}
		seen += len(index)
		return nil
	})
	if err == nil && seen != n {
		err = fmt.Errorf("%w: %d of %d nodes are gone since the graph was read, or are others now; run again",
			connector.ErrConflict, n-seen, n)
	}
	return err
}
