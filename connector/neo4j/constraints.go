// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
)

// constraint makes a property identify the nodes of a label.
type constraint struct {
	name            cypher
	label, property string
}

// constraints are what runs and the ledger need: without them two clients could
// each create the same record.
var constraints = []constraint{
	{"graphcloak_run", connector.RunLabel, "runId"},
	{"graphcloak_lock", lockLabel, "name"},
	{"graphcloak_budget", budgetLabel, "scope"},
	{"graphcloak_entry", entryLabel, "key"},
}

func (c constraint) statement() cypher {
	if c.name != "" {
		c.name += " "
	}
	return "CREATE CONSTRAINT " + c.name + "IF NOT EXISTS FOR (n:" + quote(c.label) + ") REQUIRE n." + quote(c.property) + " IS UNIQUE"
}

// lacking returns the constraints that the database does not have.
func (s *Store) lacking(ctx context.Context, wanted []constraint) ([]constraint, error) {
	have := map[[2]string]bool{}
	err := s.read(ctx, "constraints", func(tx *transaction) error {
		clear(have)
		_, err := tx.rows("SHOW CONSTRAINTS YIELD type, labelsOrTypes, properties WHERE type IN ['UNIQUENESS', 'NODE_KEY', 'NODE_PROPERTY_UNIQUENESS'] "+
			"AND size(labelsOrTypes) = 1 AND size(properties) = 1 RETURN labelsOrTypes[0], properties[0]", nil, func(r *neo4j.Record) error {
			label, _ := r.Values[0].(string)
			property, _ := r.Values[1].(string)
			have[[2]string{label, property}] = true
			return nil
		})
		return err
	})
	var missing []constraint
	for _, c := range wanted {
		if !have[[2]string{c.label, c.property}] {
			missing = append(missing, c)
		}
	}
	return missing, err
}

// constrainOnce makes sure of the constraints of runs and the ledger.
func (s *Store) constrainOnce(ctx context.Context) error {
	s.constrained.Lock()
	defer s.constrained.Unlock()
	if s.constraintsHold {
		return nil
	}
	err := s.constrain(ctx, constraints)
	s.constraintsHold = err == nil
	return err
}

// constrain creates the constraints that are lacking.
func (s *Store) constrain(ctx context.Context, wanted []constraint) error {
	missing, err := s.lacking(ctx, wanted)
	if err != nil {
		return err
	}
	for _, c := range missing {
		err := s.write(ctx, "constraints", func(tx *transaction) error { return tx.do(c.statement(), nil) })
		if errors.Is(err, connector.ErrAuth) {
			return fmt.Errorf("the constraint on :%s(%s) is missing; have an administrator run graphcloak doctor --print-setup: %w", c.label, c.property, err)
		}
		if err != nil {
			return fmt.Errorf("create the constraint on :%s(%s): %w", c.label, c.property, err)
		}
	}
	return nil
}

// SetupConstraints returns the statements that an administrator runs once, on any
// edition: the constraints of runs and the ledger, and those of the selection's key.
func SetupConstraints(sel graph.Selection) []string {
	var statements []string
	for _, c := range slices.Concat(constraints, keyConstraints(sel)) {
		statements = append(statements, string(c.statement()))
	}
	return statements
}

// SetupRole returns the statements that make the least role that GraphCloak works
// with, on Enterprise and Aura: Community has no roles. Properties are those that
// runs write.
func SetupRole(database string, properties []string) []string {
	var labels []string
	for _, c := range constraints {
		labels = append(labels, Quote(c.label))
	}
	var names []string
	for _, p := range properties {
		names = append(names, Quote(p))
	}
	own, graph := strings.Join(labels, ", "), " ON GRAPH "+Quote(database)
	return []string{
		"CREATE ROLE graphcloak IF NOT EXISTS",
		"GRANT ACCESS ON DATABASE " + Quote(database) + " TO graphcloak",
		"GRANT SHOW CONSTRAINT ON DATABASE " + Quote(database) + " TO graphcloak",
		"GRANT CREATE NEW NAME ON DATABASE " + Quote(database) + " TO graphcloak",
		"GRANT MATCH {*}" + graph + " ELEMENTS * TO graphcloak",
		"GRANT SET PROPERTY {" + strings.Join(names, ", ") + "}" + graph + " NODES * TO graphcloak",
		"GRANT CREATE" + graph + " NODES " + own + " TO graphcloak",
		"GRANT SET LABEL " + own + graph + " TO graphcloak",
		"GRANT SET PROPERTY {*}" + graph + " NODES " + own + " TO graphcloak",
	}
}
