// SPDX-License-Identifier: Apache-2.0

package columnar

import (
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// WriteParquet writes a file of Parquet, compressed by Snappy, in groups of 65,536 rows.
func (t *Table) WriteParquet(w io.Writer) error {
	group := inOrder{Group: parquet.Group{}}
	for _, c := range t.columns {
		group.names = append(group.names, c.name)
		group.Group[c.name] = parquet.Optional(parquetNode(c.kind))
	}
	out := parquet.NewWriter(w, parquet.NewSchema("rows", group), parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(batch))
	row := make(parquet.Row, len(t.columns))
	for i := range t.rows {
		for k, c := range t.columns {
			row[k] = c.parquetValue(i, k)
		}
		if _, err := out.WriteRows([]parquet.Row{row}); err != nil {
			return err
		}
	}
	return out.Close()
}

// inOrder is a group whose fields stand as they were named, not by the alphabet.
type inOrder struct {
	parquet.Group
	names []string
}

func (g inOrder) Fields() []parquet.Field {
	fields := g.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return slices.Index(g.names, a.Name()) - slices.Index(g.names, b.Name())
	})
	return fields
}

func parquetNode(k kind) parquet.Node {
	switch k {
	case boolean:
		return parquet.Leaf(parquet.BooleanType)
	case integer:
		return parquet.Int(64)
	case float:
		return parquet.Leaf(parquet.DoubleType)
	default:
		return parquet.String()
	}
}

// parquetValue is the value of row i as one of column k; a missing one is defined at level 0.
func (c *column) parquetValue(i, k int) parquet.Value {
	var v parquet.Value
	switch x := c.cells[i].(type) {
	case nil:
		return parquet.NullValue().Level(0, 0, k)
	case bool:
		v = parquet.BooleanValue(x)
	case int64:
		v = parquet.Int64Value(x)
		if c.kind == float {
			v = parquet.DoubleValue(float64(x))
		}
	case float64:
		v = parquet.DoubleValue(x)
	}
	if c.kind == text {
		v = parquet.ByteArrayValue([]byte(fmt.Sprint(c.cells[i])))
	}
	return v.Level(0, 1, k)
}
