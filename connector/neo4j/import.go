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
		stage, column string
		batches       func(context.Context, int, func(folder.Batch) error) error
		statement     func(b folder.Batch, value string) (cypher, naming)
		done          *int64
		total         int
	}{
		{"import nodes", labelsColumn, csv.NodeBatches, o.nodes, &done.Nodes, g.Order()},
		{"import relationships", typeColumn, csv.RelationshipBatches, o.relationships, &done.Relationships, 0},
	} {
		err := file.batches(ctx, s.options.BatchSize, func(b folder.Batch) error {
			for _, part := range split(b, file.column) {
				text, names := file.statement(part.Batch, part.value)
				n, err := s.importBatch(ctx, file.stage, text, names, part.Batch, 0, part.Len())
				*file.done += n
				if err != nil {
					return err
				}
			}
			s.options.Progress(file.stage, *file.done, int64(file.total))
			return nil
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
	err := csv.NodeBatches(ctx, batch, func(b folder.Batch) error {
		for _, part := range split(b, labelsColumn) {
			labels = append(labels, splitLabels(part.value)...)
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

// importBatch runs a statement on the rows [lo, hi), or on each half of them
// where the server is short of memory.
func (s *Store) importBatch(ctx context.Context, phase string, text cypher, names naming, b folder.Batch, lo, hi int) (n int64, err error) {
	params := map[string]any{}
	maps.Copy(params, names)
	for k, column := range b.Columns {
		params[fmt.Sprintf("c%d", k)] = column[lo:hi]
	}
	err = s.writeOnce(ctx, phase, func(tx *transaction) error {
		n, err = tx.count(text, params)
		return err
	})
	if isTooLarge(err) && hi-lo > 1 {
		mid := (lo + hi) / 2
		first, err := s.importBatch(ctx, phase, text, names, b, lo, mid)
		if err != nil {
			return first, err
		}
		second, err := s.importBatch(ctx, phase, text, names, b, mid, hi)
		return first + second, err
	}
	if err == nil && n != int64(hi-lo) {
		err = fmt.Errorf("%w: %d of %d rows of a batch found their nodes; does another process write?", connector.ErrConflict, n, hi-lo)
	}
	return n, err
}

// nodes merges by key, so that a transaction that is repeated creates no second
// node, and gives the nodes the further labels, which semicolons separate.
func (o ImportOptions) nodes(b folder.Batch, labels string) (text cypher, names naming) {
	id, names := numbered("$c", slices.Index(b.Names, "id")), naming{}
	return "UNWIND range(0, size(" + id + ") - 1) AS i MERGE (n:" + quote(o.NodeLabel) + " {" + quote(o.NodeKey) + ": " + id + "[i]})" +
		assignments(names, "n", b, "id", labelsColumn) + names.labels("n", splitLabels(labels)) + " RETURN count(n)", names
}

// splitLabels reads a value of the column labels.
func splitLabels(value string) []string {
	return slices.DeleteFunc(strings.Split(value, ";"), func(label string) bool { return label == "" })
}

// relationships creates one for each row, of the type that the column type names, else that of the options.
func (o ImportOptions) relationships(b folder.Batch, kind string) (text cypher, names naming) {
	names = naming{}
	source, target := slices.Index(b.Names, "source"), slices.Index(b.Names, "target")
	end := func(name cypher, k int) cypher {
		return "MATCH (" + name + ":" + quote(o.NodeLabel) + " {" + quote(o.NodeKey) + ": " + numbered("$c", k) + "[i]}) "
	}
	return "UNWIND range(0, size(" + numbered("$c", source) + ") - 1) AS i " + end("a", source) + end("b", target) +
		"CREATE (a)-[r" + names.kind(cmp.Or(kind, o.RelationshipType)) + "]->(b)" +
		assignments(names, "r", b, "source", "target", typeColumn) +
		" RETURN count(r)", names
}

// assignments sets the property of x for every column but those to skip.
func assignments(names naming, x cypher, b folder.Batch, skip ...string) cypher {
	var set []cypher
	for k, name := range b.Names {
		if !slices.Contains(skip, name) {
			set = append(set, names.property(x, name)+" = "+numbered("$c", k)+"[i]")
		}
	}
	if len(set) == 0 {
		return ""
	}
	return " SET " + join(set, ", ")
}

// part of a batch: the rows with one value of a column.
type part struct {
	folder.Batch
	value string
}

// split parts a batch by the text of a column, in order of first appearance.
// Without the column there is one part, of value "".
func split(b folder.Batch, column string) []part {
	values := b.Column(column)
	if values == nil {
		return []part{{b, ""}}
	}
	var parts []part
	at := map[string]int{}
	for row, v := range values {
		value := ""
		if v != nil {
			value = fmt.Sprint(v)
		}
		k, ok := at[value]
		if !ok {
			k = len(parts)
			at[value] = k
			parts = append(parts, part{folder.Batch{Names: b.Names, Columns: make([][]any, len(b.Names))}, value})
		}
		for c := range b.Columns {
			parts[k].Columns[c] = append(parts[k].Columns[c], b.Columns[c][row])
		}
	}
	return parts
}
