// SPDX-License-Identifier: Apache-2.0

package columnar

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// Reader reads the rows of a Parquet file as texts, a page of each chosen column at a time. What is wrong with a file follows its name
// in the text of an error.
type Reader struct {
	Names []string // of the columns

	input  io.ReaderAt
	file   *parquet.File
	group  int   // of rows, that comes next
	left   int64 // rows of the group before it that are to come
	chosen []*chunk
	fields []string
	text   []byte
}

// chunk reads a column in a group of rows.
type chunk struct {
	place, leaf int // among the columns, and among those that hold values
	text        func([]byte, parquet.Value) []byte
	end         int // in the texts of the row
	values      parquet.ColumnChunkValueReader
	block, rest []parquet.Value
}

// NewReader reads the names of the columns.
func NewReader(input io.ReaderAt, size int64) (r *Reader, err error) {
	defer recovered(&err)
	if err := checkFooter(input, size); err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(input, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
		parquet.FileSchema(parquet.NewSchema("", parquet.Group{}))) // no use is made of it
	if err != nil {
		return nil, damaged(err)
	}
	r = &Reader{input: input, file: file}
	for _, c := range file.Root().Columns() {
		r.Names = append(r.Names, c.Name())
	}
	r.fields = make([]string, len(r.Names))
	return r, nil
}

// Readable reports whether a column has texts, numbers or truth values.
func (r *Reader) Readable(column int) bool { return textOf(r.file.Root().Columns()[column]) != nil }

// Choose says which columns are read before the first row is; −1 is none. The fields of others are empty.
func (r *Reader) Choose(columns ...int) error {
	for _, k := range columns {
		if k < 0 {
			continue
		}
		c := r.file.Root().Columns()[k]
		text := textOf(c)
		if text == nil {
			kind := "nested or repeated values"
			if c.Leaf() && !c.Repeated() {
				kind = fmt.Sprintf("the type %.80q", c.Type().String())
			}
			return fmt.Errorf("has %s in the column %q; write texts, whole numbers, numbers (double) or truth values", kind, c.Name())
		}
		r.chosen = append(r.chosen, &chunk{place: k, leaf: c.Index(), text: text, block: make([]parquet.Value, 1024)})
	}
	return nil
}

// textOf returns what appends a value of a column as text, nil where it holds others.
func textOf(c *parquet.Column) func([]byte, parquet.Value) []byte {
	if !c.Leaf() || c.Repeated() {
		return nil
	}
	switch c.Type().String() {
	case "STRING", "ENUM", "BYTE_ARRAY":
		return func(b []byte, v parquet.Value) []byte { return append(b, v.ByteArray()...) }
	case "BOOLEAN":
		return func(b []byte, v parquet.Value) []byte { return strconv.AppendBool(b, v.Boolean()) }
	case "DOUBLE":
		return func(b []byte, v parquet.Value) []byte { return appendFloat(b, v.Double()) }
	case "FLOAT":
		return func(b []byte, v parquet.Value) []byte { return appendFloat(b, float64(v.Float())) }
	case "INT32", "INT(8,true)", "INT(16,true)", "INT(32,true)":
		return func(b []byte, v parquet.Value) []byte { return strconv.AppendInt(b, int64(v.Int32()), 10) }
	case "INT64", "INT(64,true)":
		return func(b []byte, v parquet.Value) []byte { return strconv.AppendInt(b, v.Int64(), 10) }
	case "INT(8,false)", "INT(16,false)", "INT(32,false)":
		return func(b []byte, v parquet.Value) []byte { return strconv.AppendUint(b, uint64(v.Uint32()), 10) }
	case "INT(64,false)":
		return func(b []byte, v parquet.Value) []byte { return strconv.AppendUint(b, v.Uint64(), 10) }
	}
	return nil
}

// appendFloat appends the shortest text that reads back as x. A whole number has no exponent, as ids are written.
func appendFloat(b []byte, x float64) []byte {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.AppendFloat(b, x, 'f', -1, 64)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}

// Next returns the fields of the next row, [io.EOF] after the last. A missing value is an empty field. The slice is valid until the next
// call.
func (r *Reader) Next() (fields []string, err error) {
	defer recovered(&err)
	for r.left == 0 {
		if err := r.endGroup(); err != nil {
			return nil, err
		}
		if r.group == len(r.file.RowGroups()) {
			return nil, io.EOF
		}
		if err := r.beginGroup(); err != nil {
			return nil, err
		}
	}
	r.left--
	r.text = r.text[:0]
	for _, c := range r.chosen {
		v, err := c.next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("is damaged: a column has fewer values than there are rows")
		}
		if err != nil {
			return nil, err
		}
		if !v.IsNull() {
			r.text = c.text(r.text, v)
		}
		if c.end = len(r.text); c.end > maxRow {
			return nil, fmt.Errorf("has a row of more than %d bytes", maxRow)
		}
	}
	text, begin := string(r.text), 0
	for _, c := range r.chosen {
		r.fields[c.place], begin = text[begin:c.end], c.end
	}
	return r.fields, nil
}

func (r *Reader) beginGroup() error {
	group := r.file.RowGroups()[r.group]
	for _, c := range r.chosen {
		groups := r.file.Metadata().RowGroups
		if err := checkPages(r.input, r.file.Size(), &groups[r.group].Columns[c.leaf].MetaData,
			groups[0].Columns[c.leaf].MetaData.Codec, r.file.Root().Columns()[c.place].Optional()); err != nil {
			return err
		}
		c.values = parquet.NewColumnChunkValueReader(group.ColumnChunks()[c.leaf])
	}
	r.left = group.NumRows()
	r.group++
	return nil
}

// endGroup checks that no value is left.
func (r *Reader) endGroup() error {
	for _, c := range r.chosen {
		if c.values == nil {
			continue
		}
		if _, err := c.next(); !errors.Is(err, io.EOF) {
			return errors.Join(errors.New("is damaged: a column has more values than there are rows"), err)
		}
		if err := c.values.Close(); err != nil {
			return damaged(err)
		}
	}
	return nil
}

// next returns a value that is valid until the next call.
func (c *chunk) next() (v parquet.Value, err error) {
	if len(c.rest) == 0 {
		n, err := c.values.ReadValues(c.block)
		if n == 0 {
			if errors.Is(err, io.EOF) {
				return v, io.EOF
			}
			return v, damaged(err)
		}
		c.rest = c.block[:n]
	}
	v, c.rest = c.rest[0], c.rest[1:]
	return v, nil
}
