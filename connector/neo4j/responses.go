// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"fmt"
	"strconv"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
)

// The properties of a relationship from a sensor to a node that hold an entry of a given operator.
const (
	responseProperty = "response"
	timeProperty     = "time"
)

// Responses hands over the relationships of a type between selected nodes, from a sensor to a node, with the reading that a unit
// source at the node causes, their property response, and its time: the property time, text or a number; "" where there is none. It
// returns [connector.ErrInput] for a response that is no number, [connector.ErrNotFound] for a type that the database does not have,
// [connector.ErrConflict] where the graph has changed, and the errors of take.
func (s *Store) Responses(ctx context.Context, g *graph.Graph, kind string,
	take func(sensor, node int, response float64, time string) error,
) error {
	if err := s.exist(ctx, typeNames, kind); err != nil {
		return err
	}
	nodes, err := s.nodes.Get(g)
	if err != nil {
		return err
	}
	places, names := newPlaces(nodes.internal), naming{}
	all := gather[*neo4j.Record]{
		match: "UNWIND range(0, size($ids) - 1) AS i MATCH (a) WHERE id(a) = $ids[i] CALL (a) { MATCH (a)-[r" +
			quoteAll([]string{kind}) + "]->(b) RETURN r, b }",
		columns: []cypher{"i", "id(b)", names.property("r", responseProperty), names.property("r", timeProperty)},
		params:  names, unpack: asIs,
	}
	err = all.run(ctx, s, each("operator", len(nodes.ids)), int64(s.options.BatchSize), func(at span) map[string]any {
		return map[string]any{"ids": nodes.internal[at.lo:at.hi]}
	}, func(at span, r *neo4j.Record) error {
		from, to, responses, times := list(r, 0), places.numbers(list(r, 1)), list(r, 2), list(r, 3)
		for k, v := range to {
			i, _ := from[k].(int64)
			if v < 0 || i < 0 || i >= at.len() {
				continue
			}
			sensor := int(at.lo + i)
			x, number := connector.Reading(entry(responses, k))
			time, known := timeOf(entry(times, k))
			if !number || !known || x != x {
				return fmt.Errorf("%w: the relationship %s from %q to %q has a %s that is no number, or a %s that is no number or text",
					connector.ErrInput, Quote(kind), g.ID(sensor), g.ID(int(v)), responseProperty, timeProperty)
			}
			if err := take(sensor, int(v), x, time); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.each(ctx, "nodes of the operator", nodes, "true", nil, func(int, any) {}) // ids were not given to other nodes meanwhile
}

// timeOf reads the time of an entry.
func timeOf(v any) (time string, ok bool) {
	switch x := v.(type) {
	case nil:
		return "", true
	case string:
		return x, true
	case int64:
		return strconv.FormatInt(x, 10), true
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64), true
	}
	return "", false
}
