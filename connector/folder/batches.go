// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"slices"

	"github.com/graphcloak/graphcloak/connector"
)

// Batch is some rows of a file, as columns. Every column holds values of one
// type: int64, float64, bool or string, or nil where a field is empty.
type Batch struct {
	Names   []string
	Columns [][]any
}

// Len returns the number of rows.
func (b Batch) Len() int {
	if len(b.Columns) == 0 {
		return 0
	}
	return len(b.Columns[0])
}

// Column returns the column with this name, or nil.
func (b Batch) Column(name string) []any {
	if k := slices.Index(b.Names, name); k >= 0 {
		return b.Columns[k]
	}
	return nil
}

// maxBatch bounds the memory of a batch in bytes, and with it a transaction of an
// import: rows may be wide. A value takes valueSize beside its text.
const (
	maxBatch  = 32 << 20
	valueSize = 32
)

// NodeBatches hands over nodes.csv, at most size rows at a time and fewer where they are
// wide, each batch on its own. The file is read twice: a column's type is the narrowest that
// takes all its fields. It returns the errors of [CSV.Columns].
func (c *CSV) NodeBatches(ctx context.Context, size int, take func(Batch) error) error {
	return c.batches(ctx, nodesFile, size, take)
}

// RelationshipBatches hands over relationships. The types of source and target are
// those of the column id of nodes.csv, so that they meet. It returns the errors of
// [CSV.Columns].
func (c *CSV) RelationshipBatches(ctx context.Context, size int, take func(Batch) error) error {
	return c.batches(ctx, relationshipsFile, size, take)
}

// kind is the type of a column, from narrow to wide; whole numbers widen to
// numbers, all else to text.
type kind int

const (
	empty kind = iota
	whole
	number
	truth
	text
)

func kindOf(field string) kind {
	switch connector.Parse(field).(type) {
	case nil:
		return empty
	case int64:
		return whole
	case float64:
		return number
	case bool:
		return truth
	}
	return text
}

func (k kind) widen(field string) kind {
	f := kindOf(field)
	switch {
	case f == empty || f == k:
		return k
	case k == empty:
		return f
	case k == whole && f == number, k == number && f == whole:
		return number
	}
	return text
}

func (k kind) parse(field string) any {
	if field == "" {
		return nil
	}
	if k == text {
		return string([]byte(field))
	}
	v := connector.Parse(field)
	if i, ok := v.(int64); ok && k == number {
		return float64(i)
	}
	return v
}

func (c *CSV) batches(ctx context.Context, name string, size int, take func(Batch) error) error {
	kinds, rows, err := c.kinds(ctx, name)
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
	next := func() Batch { return Batch{Names: names, Columns: make([][]any, len(names))} }
	b, held := next(), 0
	return t.each(ctx, nil, func(_ int, fields []string) error {
		for j, k := range named {
			b.Columns[j] = append(b.Columns[j], kinds[names[j]].parse(fields[k]))
			held += valueSize + len(fields[k])
		}
		if rows--; b.Len() < size && held < maxBatch && rows > 0 {
			return nil
		}
		full := b
		b, held = next(), 0
		return take(full)
	})
}

// kinds returns the type of each column, by its name, and the number of rows.
func (c *CSV) kinds(ctx context.Context, name string) (kinds map[string]kind, rows int, err error) {
	t, err := c.open(name, needs[name]...)
	if err != nil {
		return nil, 0, err
	}
	found := make([]kind, len(t.header))
	err = t.each(ctx, nil, func(_ int, fields []string) error {
		for k, f := range fields {
			found[k] = found[k].widen(f)
		}
		rows++
		return nil
	})
	kinds = make(map[string]kind, len(found))
	for k, name := range t.header {
		kinds[name] = found[k]
	}
	return kinds, rows, err
}
