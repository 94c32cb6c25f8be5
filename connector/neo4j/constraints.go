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

// constraint makes properties identify the nodes of a label.
type constraint struct {
	name       cypher
	label      string
	properties []string
}

// String is the constraint as :Label(property).
func (c constraint) String() string {
	return ":" + c.label + "(" + strings.Join(c.properties, ", ") + ")"
}

// constraints are what runs, the ledger and jobs need: without them two clients could
// each create the same record.
var constraints = []constraint{
	{"graphcloak_run", connector.RunLabel, []string{"runId"}},
	{"graphcloak_lock", lockLabel, []string{"name"}},
	{"graphcloak_budget", budgetLabel, []string{"scope"}},
	{"graphcloak_entry", entryLabel, []string{"key"}},
	{"graphcloak_tick", tickLabel, []string{"jobName", "nominalTime"}},
}

func (c constraint) statement() cypher {
	if c.name != "" {
		c.name += " "
	}
	var properties []cypher
	for _, p := range c.properties {
		properties = append(properties, "n."+quote(p))
	}
	return "CREATE CONSTRAINT " + c.name + "IF NOT EXISTS FOR (n:" + quote(c.label) + ") REQUIRE (" + join(properties, ", ") + ") IS UNIQUE"
}

// uniques returns what the database keeps unique.
func (s *Store) uniques(ctx context.Context) (have []constraint, err error) {
	records, err := s.readAll(ctx, "constraints", "SHOW CONSTRAINTS YIELD type, labelsOrTypes, properties WHERE type IN "+
		"['UNIQUENESS', 'NODE_KEY', 'NODE_PROPERTY_UNIQUENESS'] AND size(labelsOrTypes) = 1 RETURN labelsOrTypes[0], properties", nil)
	for _, r := range records {
		c := constraint{properties: texts(list(r, 1))}
		c.label, _ = r.Values[0].(string)
		have = append(have, c)
	}
	return have, err
}

// missingConstraints returns those of the constraints that the database does not have.
func (s *Store) missingConstraints(ctx context.Context, wanted []constraint) ([]constraint, error) {
	have, err := s.uniques(ctx)
	return slices.DeleteFunc(slices.Clone(wanted), func(w constraint) bool {
		return slices.ContainsFunc(have, func(c constraint) bool { return c.label == w.label && slices.Equal(c.properties, w.properties) })
	}), err
}

// constrainOnce makes sure of the constraints until it has succeeded once.
func (s *Store) constrainOnce(ctx context.Context) error {
	s.constraining.Lock()
	defer s.constraining.Unlock()
	if s.constrained {
		return nil
	}
	err := s.constrain(ctx, constraints)
	s.constrained = err == nil
	return err
}

// constrain creates the constraints that are missing.
func (s *Store) constrain(ctx context.Context, wanted []constraint) error {
	missing, err := s.missingConstraints(ctx, wanted)
	if err != nil {
		return err
	}
	for _, c := range missing {
		err := s.write(ctx, "constraints", func(tx *transaction) error { return tx.do(c.statement(), nil) })
		if errors.Is(err, connector.ErrAuth) {
			return fmt.Errorf("the constraint on %v is missing; have an administrator run graphcloak doctor --print-setup: %w", c, err)
		}
		if err != nil {
			return fmt.Errorf("create the constraint on %v: %w", c, err)
		}
	}
	return nil
}

// missingKey is a constraint of the selection's key that the database does not have.
type missingKey struct {
	constraint
	index string // that exists on the same property, and would be the constraint's; "": none
	found bool   // a node of the label has the property
}

// missingKeys are the constraints of the selection's key that the database does not have, and what stands in their way.
func (s *Store) missingKeys(ctx context.Context, sel graph.Selection) ([]missingKey, error) {
	missing, err := s.missingConstraints(ctx, keyConstraints(sel))
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	keys := make([]missingKey, len(missing))
	err = s.read(ctx, "constraints", func(tx *transaction) error {
		for i, c := range missing {
			keys[i] = missingKey{constraint: c}
			_, err := tx.rows("SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties WHERE type = 'RANGE' AND "+
				"entityType = 'NODE' "+
				"AND labelsOrTypes = $labels AND properties = $properties RETURN name",
				map[string]any{"labels": []string{c.label}, "properties": c.properties},
				func(r *neo4j.Record) error { keys[i].index, _ = r.Values[0].(string); return nil })
			if err != nil {
				return err
			}
			n, err := tx.count("MATCH (n:"+quote(c.label)+") WHERE n."+quote(c.properties[0])+
				" IS NOT NULL WITH n LIMIT 1 RETURN count(n)", nil)
			if err != nil {
				return err
			}
			keys[i].found = n > 0
		}
		return nil
	})
	return keys, err
}

// SetupConstraints returns the statements that an administrator runs once, on any
// edition: the constraints of runs, the ledger and jobs, and those of the selection's key.
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
	var labels, names []string
	for _, l := range ownLabels {
		labels = append(labels, Quote(l))
	}
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
		// history that is pruned
		"GRANT DELETE" + graph + " NODES " + Quote(connector.RunLabel) + ", " + Quote(tickLabel) + " TO graphcloak",
	}
}

// keyConstraints keep the key unique for each selected label.
func keyConstraints(sel graph.Selection) (wanted []constraint) {
	if sel.NodeKey == "" {
		return nil
	}
	for _, l := range sel.NodeLabels {
		wanted = append(wanted, constraint{label: l, properties: []string{sel.NodeKey}})
	}
	return wanted
}
