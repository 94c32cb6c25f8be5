// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/graph"
)

// Columns of a folder that become names.
const (
	labelsColumn = "labels"
	typeColumn   = "type"
)

// ImportOptions names what a folder becomes.
type ImportOptions struct {
	NodeLabel        string // "": Node
	NodeKey          string // property that takes the column id; "": id
	RelationshipType string // where no column type names another; "": CONNECTED_TO
	Replace          bool   // delete the nodes that have the label first
}

// Imported counts what an import created, and what it deleted first.
type Imported struct{ Nodes, Relationships, Deleted int64 }

// Import creates the nodes and relationships of a folder, one transaction per batch, with
// a uniqueness constraint on the key. The files are checked before anything is written.
// A label that has nodes already is an ErrConflict unless Replace is set; after an
// interruption, import again with Replace. No import touches the nodes of the ledger and
// of runs: their labels are an ErrInput. It returns the errors of [New] too, those of
// [folder.CSV.Graph], [connector.ErrConflict] also where another process writes meanwhile,
// and [connector.ErrReadOnly].
func (s *Store) Import(ctx context.Context, csv *folder.CSV, o ImportOptions) (done Imported, err error) {
	o.setDefaults()
	g, err := csv.Graph(ctx, graph.Selection{})
	if err != nil {
		return done, err
	}
	if err := o.checkNames(ctx, csv, s.options.BatchSize); err != nil {
		return done, err
	}
	if done.Deleted, err = s.clearLabel(ctx, o); err != nil {
		return done, err
	}
	if err := s.constrain(ctx, []constraint{{label: o.NodeLabel, properties: []string{o.NodeKey}}}); err != nil {
		return done, err
	}
	for _, file := range []struct {
		stage string
		rows  func(context.Context, int, func([]folder.Row) error) error
		text  cypher
		param func(folder.Row) map[string]any
		done  *int64
		total int
	}{
		{"import nodes", csv.Nodes, o.mergeNode(), o.node, &done.Nodes, g.Order()},
		{"import relationships", csv.Relationships, o.createRelationship(), o.relationship, &done.Relationships, 0},
	} {
		err := file.rows(ctx, s.options.BatchSize, func(rows []folder.Row) error {
			params := make([]map[string]any, len(rows))
			for i, row := range rows {
				params[i] = file.param(row)
			}
			n, err := s.importBatch(ctx, file.stage, file.text, params)
			*file.done += n
			s.options.Progress(file.stage, *file.done, int64(file.total))
			return err
		})
		if err != nil {
			return done, fmt.Errorf("%s: %w", file.stage, err)
		}
	}
	return done, nil
}

func (o *ImportOptions) setDefaults() {
	for _, d := range []struct {
		field *string
		value string
	}{{&o.NodeLabel, "Node"}, {&o.NodeKey, "id"}, {&o.RelationshipType, "CONNECTED_TO"}} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
}

// checkNames refuses names that the database would refuse in the middle of the import, and labels of its own. What a file
// names is text that can be one.
func (o ImportOptions) checkNames(ctx context.Context, csv *folder.CSV, batch int) error {
	labels := []string{o.NodeLabel}
	err := csv.Nodes(ctx, batch, func(rows []folder.Row) error {
		for _, row := range rows {
			for _, l := range labelsOf(row) {
				if !slices.Contains(labels, l) {
					labels = append(labels, l)
				}
			}
		}
		return nil
	})
	if k := slices.IndexFunc(labels, func(l string) bool { return slices.Contains(ownLabels, l) }); k >= 0 {
		return fmt.Errorf("%w: the label %s is that of GraphCloak's own records; choose another", connector.ErrInput, labels[k])
	}
	return cmp.Or(err, checkName("node label", o.NodeLabel), checkName("property", o.NodeKey),
		checkName("relationship type", o.RelationshipType))
}

// clearLabel refuses a label with nodes, or deletes them.
func (s *Store) clearLabel(ctx context.Context, o ImportOptions) (deleted int64, err error) {
	match := "MATCH (n:" + quote(o.NodeLabel) + ")"
	var n, ours int64
	err = s.read(ctx, "import", func(tx *transaction) (err error) {
		if n, err = tx.count(match+" RETURN count(n)", nil); err != nil || n == 0 {
			return err
		}
		ours, err = tx.count(match+" WHERE "+reservedNodes()+" RETURN count(n)", nil)
		return err
	})
	switch {
	case err != nil || n == 0:
		return 0, err
	case !o.Replace:
		return 0, fmt.Errorf("%w: %d nodes have the label %s already; choose another with --label, or replace them with --replace",
			connector.ErrConflict, n, o.NodeLabel)
	case ours > 0:
		return 0, fmt.Errorf("%w: %d nodes with the label %s are GraphCloak's own records; take the label off them, or choose another",
			connector.ErrInput, ours, o.NodeLabel)
	}
	return s.deleteLabel(ctx, match)
}

// deleteLabel deletes the nodes of a match, one transaction per batch, and counts them.
func (s *Store) deleteLabel(ctx context.Context, match cypher) (total int64, err error) {
	for deleted, size := int64(1), s.options.BatchSize; deleted > 0; {
		err := s.write(ctx, "import", func(tx *transaction) (err error) {
			deleted, err = tx.count(match+" WHERE NOT ("+reservedNodes()+") WITH n LIMIT $limit DETACH DELETE n RETURN count(*)",
				map[string]any{"limit": size})
			return err
		})
		if isTooLarge(err) && size > 1 {
			size /= 2
			continue
		}
		if err != nil {
			return total, err
		}
		total += deleted
	}
	return total, nil
}

// importBatch runs a statement on rows, or on each half of them where the server is short of memory.
func (s *Store) importBatch(ctx context.Context, phase string, text cypher, rows []map[string]any) (n int64, err error) {
	err = s.writeOnce(ctx, phase, func(tx *transaction) error {
		n, err = tx.count(text, map[string]any{"rows": rows})
		return err
	})
	if isTooLarge(err) && len(rows) > 1 {
		first, err := s.importBatch(ctx, phase, text, rows[:len(rows)/2])
		if err != nil {
			return first, err
		}
		second, err := s.importBatch(ctx, phase, text, rows[len(rows)/2:])
		return first + second, err
	}
	if err == nil && n != int64(len(rows)) {
		err = fmt.Errorf("%w: %d of %d rows of a batch found their nodes; does another process write?", connector.ErrConflict, n, len(rows))
	}
	return n, err
}

// mergeNode merges by key, so that a transaction that is repeated creates no second node.
func (o ImportOptions) mergeNode() cypher {
	return "UNWIND $rows AS row MERGE (n:" + quote(o.NodeLabel) + " {" + quote(o.NodeKey) + ": row.key}) SET n += row.properties " +
		"SET n:$(row.labels) RETURN count(n)"
}

func (o ImportOptions) node(row folder.Row) map[string]any {
	return map[string]any{"key": row["id"], "labels": labelsOf(row), "properties": without(row, "id", labelsColumn)}
}

// labelsOf are the further labels of a node, which semicolons separate.
func labelsOf(row folder.Row) []string {
	text := ""
	if v := row[labelsColumn]; v != nil {
		text = fmt.Sprint(v)
	}
	return slices.DeleteFunc(strings.Split(text, ";"), func(label string) bool { return label == "" })
}

func (o ImportOptions) createRelationship() cypher {
	end := func(name, column cypher) cypher {
		return "MATCH (" + name + ":" + quote(o.NodeLabel) + " {" + quote(o.NodeKey) + ": row." + column + "}) "
	}
	return "UNWIND $rows AS row " + end("a", "source") + end("b", "target") +
		"CREATE (a)-[r:$(row.type)]->(b) SET r = row.properties RETURN count(r)"
}

// relationship is of the type that the column type names, else of that of the options.
func (o ImportOptions) relationship(row folder.Row) map[string]any {
	kind := o.RelationshipType
	if v := row[typeColumn]; v != nil {
		kind = fmt.Sprint(v)
	}
	return map[string]any{
		"source": row["source"], "target": row["target"], "type": kind, "properties": without(row, "source", "target", typeColumn),
	}
}

// without is a row without some columns.
func without(row folder.Row, columns ...string) map[string]any {
	left := maps.Clone(map[string]any(row))
	for _, c := range columns {
		delete(left, c)
	}
	return left
}
