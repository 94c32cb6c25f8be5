// SPDX-License-Identifier: Apache-2.0

package columnar

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// WriteArrow writes the file format of Arrow IPC, which Feather's second version is too,
// uncompressed.
func (t *Table) WriteArrow(w io.Writer) error {
	fields := make([]arrow.Field, len(t.columns))
	for k, c := range t.columns {
		fields[k] = arrow.Field{Name: c.name, Type: arrowTypes[c.kind], Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	out, err := ipc.NewFileWriter(w, ipc.WithSchema(schema))
	if err != nil {
		return err
	}
	for from := 0; from < t.rows; from += batch {
		if err := t.writeRecord(out, schema, from, min(from+batch, t.rows)); err != nil {
			return err
		}
	}
	return out.Close()
}

var arrowTypes = map[kind]arrow.DataType{
	boolean: arrow.FixedWidthTypes.Boolean,
	integer: arrow.PrimitiveTypes.Int64,
	float:   arrow.PrimitiveTypes.Float64,
	text:    arrow.BinaryTypes.String,
}

func (t *Table) writeRecord(out *ipc.FileWriter, schema *arrow.Schema, from, to int) error {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for k, c := range t.columns {
		switch f := b.Field(k).(type) {
		case *array.BooleanBuilder:
			f.AppendValues(c.booleans[from:to], c.present[from:to])
		case *array.Int64Builder:
			f.AppendValues(c.integers[from:to], c.present[from:to])
		case *array.Float64Builder:
			f.AppendValues(c.floats[from:to], c.present[from:to])
		case *array.StringBuilder:
			f.AppendValues(c.texts[from:to], c.present[from:to])
		}
	}
	record := b.NewRecordBatch()
	defer record.Release()
	return out.Write(record)
}
