// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
)

// A kind of name that the database knows, with the procedure that lists them.
var (
	labelNames    = names{"node label", "CALL db.labels() YIELD label AS name RETURN name"}
	typeNames     = names{"relationship type", "CALL db.relationshipTypes() YIELD relationshipType AS name RETURN name"}
	propertyNames = names{"property", "CALL db.propertyKeys() YIELD propertyKey AS name RETURN name"}
)

type names struct {
	kind string
	list cypher
}

// exist checks that the database knows each name; empty ones are passed over.
func (s *Store) exist(ctx context.Context, kind names, wanted ...string) error {
	if !slices.ContainsFunc(wanted, func(w string) bool { return w != "" }) {
		return nil
	}
	have, err := s.known(ctx, kind)
	if err != nil {
		return err
	}
	for _, w := range wanted {
		if w != "" && !slices.Contains(have, w) {
			return connector.NotFound(kind.kind, w, have)
		}
	}
	return nil
}

// known lists the names of a kind.
func (s *Store) known(ctx context.Context, kind names) (have []string, err error) {
	err = s.read(ctx, "schema", func(tx *transaction) error {
		have = nil
		_, err := tx.rows(kind.list, nil, func(r *neo4j.Record) error {
			n, _ := r.Values[0].(string)
			have = append(have, n)
			return nil
		})
		return err
	})
	return have, err
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

// check refuses more nodes than a graph holds, before any is read.
func (n size) check() error {
	if n.nodes > math.MaxInt32 {
		return fmt.Errorf("%w: the labels select %d", graph.ErrTooLarge, n.nodes)
	}
	return nil
}

func (s *Store) size(ctx context.Context, sel graph.Selection) (n size, err error) {
	err = s.read(ctx, "count", func(tx *transaction) (err error) {
		if n.nodes, err = tx.count("MATCH (n"+labelled(sel.NodeLabels)+") RETURN count(n)", nil); err != nil {
			return err
		}
		n.relationships, err = tx.relationships(sel.RelationshipTypes)
		return err
	})
	return n, err
}

// relationships counts those of some types, or of all.
func (t *transaction) relationships(types []string) (n int64, err error) {
	if len(types) == 0 {
		return t.count("MATCH ()-[r]->() RETURN count(r)", nil)
	}
	for i, kind := range types {
		if slices.Contains(types[:i], kind) {
			continue
		}
		c, err := t.count("MATCH ()-[r:"+quote(kind)+"]->() RETURN count(r)", nil)
		if err != nil {
			return 0, err
		}
		n += c
	}
	return n, nil
}
