// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"context"
	"slices"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector/store"
	"github.com/graphcloak/graphcloak/graph"
)

// A kind of name that the database knows, with the procedure that lists them.
var (
	labelNames    = names{"node label", "CALL db.labels() YIELD label AS name RETURN name"}
	typeNames     = names{"relationship type", "CALL db.relationshipTypes() YIELD relationshipType AS name RETURN name"}
	propertyNames = names{"property", "CALL db.propertyKeys() YIELD propertyKey AS name RETURN name"}
)

type names struct{ kind, list string }

// exist checks that the database knows each name; empty ones are passed over.
func (s *Store) exist(ctx context.Context, kind names, wanted ...string) error {
	if !slices.ContainsFunc(wanted, func(w string) bool { return w != "" }) {
		return nil
	}
	var have []string
	err := s.read(ctx, "schema", func(tx *transaction) error {
		have = have[:0]
		_, err := tx.rows(kind.list, nil, func(r *neo4j.Record) error {
			n, _ := r.Values[0].(string)
			have = append(have, n)
			return nil
		})
		return err
	})
	if err != nil {
		return err
	}
	for _, w := range wanted {
		if w != "" && !slices.Contains(have, w) {
			return store.NotFound(kind.kind, w, have)
		}
	}
	return nil
}

// checkSelection refuses names that the database does not know.
func (s *Store) checkSelection(ctx context.Context, sel graph.Selection) error {
	if err := s.exist(ctx, labelNames, sel.NodeLabels...); err != nil {
		return err
	}
	if err := s.exist(ctx, typeNames, sel.RelationshipTypes...); err != nil {
		return err
	}
	wanted := []string{sel.NodeKey}
	if sel.RelationshipQuery == "" {
		wanted = append(wanted, sel.RelationshipWeightProperty, sel.LengthProperty)
	}
	return s.exist(ctx, propertyNames, wanted...)
}

// size counts the nodes of the selection's labels and the relationships of its
// types, from the database's own counters where those have them.
type size struct{ nodes, relationships int64 }

func (s *Store) size(ctx context.Context, sel graph.Selection) (n size, err error) {
	types := sel.RelationshipTypes
	if len(types) == 0 {
		types = []string{""}
	}
	err = s.read(ctx, "count", func(tx *transaction) (err error) {
		n = size{}
		if n.nodes, err = tx.count("MATCH (n"+labelled(sel.NodeLabels)+") RETURN count(n)", nil); err != nil {
			return err
		}
		for _, t := range types {
			cypher := "MATCH ()-[r]->() RETURN count(r)"
			if t != "" {
				cypher = "MATCH ()-[r:" + quote(t) + "]->() RETURN count(r)"
			}
			c, err := tx.count(cypher, nil)
			if err != nil {
				return err
			}
			n.relationships += c
		}
		return nil
	})
	return n, err
}
