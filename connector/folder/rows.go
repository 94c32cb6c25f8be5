// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
)

// Row holds the values of a row by the names of their columns: int64, float64, bool or string,
// one type a column. An empty field has none.
type Row map[string]any

// maxBatch bounds the memory of a batch in bytes, and with it a transaction of an
// import: rows may be wide. A value takes valueSize beside its text.
const (
	maxBatch  = 32 << 20
	valueSize = 32
)

// Nodes hands over the rows of nodes.csv, at most size at a time and fewer where they are
// wide. The file is read twice: a column's type is the narrowest that
// takes all its fields. It returns the errors of [CSV.Columns].
func (c *CSV) Nodes(ctx context.Context, size int, take func([]Row) error) error {
	return c.rows(ctx, nodesFile, size, take)
}

// Relationships hands over those of relationships.csv. The types of source and target are
// those of the column id of nodes.csv, so that they meet. It returns the errors of
// [CSV.Columns].
func (c *CSV) Relationships(ctx context.Context, size int, take func([]Row) error) error {
	return c.rows(ctx, relationshipsFile, size, take)
}

// parse is the value of a field in a column of a type: whole numbers beside others are numbers, and all else that is mixed is text.
func parse(field string, of connector.PropertyType) any {
	v := connector.Parse(field)
	switch i, whole := v.(int64); {
	case of == connector.TextType || of == connector.OtherType:
		return strings.Clone(field)
	case whole && of == connector.NumberType:
		return float64(i)
	}
	return v
}

func (c *CSV) rows(ctx context.Context, name string, size int, take func([]Row) error) error {
	kinds, left, err := c.kinds(ctx, name)
	if err != nil {
		return err
	}
	if name == relationshipsFile {
		nodes, _, err := c.kinds(ctx, nodesFile)
		if err != nil {
			return err
		}
		kinds[sourceColumn], kinds[targetColumn] = nodes[idColumn], nodes[idColumn]
	}
	t, err := c.open(name, needs[name]...)
	if err != nil {
		return err
	}
	named, names := t.named()
	var batch []Row
	held := 0
	return t.each(ctx, nil, func(_ int, fields []string) error {
		row := make(Row, len(names))
		for j, k := range named {
			if fields[k] != "" {
				row[names[j]] = parse(fields[k], kinds[names[j]])
			}
			held += valueSize + len(fields[k])
		}
		batch = append(batch, row)
		if left--; len(batch) < size && held < maxBatch && left > 0 {
			return nil
		}
		full := batch
		batch, held = nil, 0
		return take(full)
	})
}

// kinds returns the type of each column, by its name, and the number of rows.
func (c *CSV) kinds(ctx context.Context, name string) (kinds map[string]connector.PropertyType, rows int, err error) {
	t, err := c.open(name, needs[name]...)
	if err != nil {
		return nil, 0, err
	}
	found := make([]connector.PropertyType, len(t.header))
	err = t.each(ctx, nil, func(_ int, fields []string) error {
		for k, f := range fields {
			found[k] = found[k].Merge(typeOf(connector.Parse(f)))
		}
		rows++
		return nil
	})
	kinds = make(map[string]connector.PropertyType, len(found))
	for k, name := range t.header {
		kinds[name] = found[k]
	}
	return kinds, rows, err
}
