// SPDX-License-Identifier: Apache-2.0

package columnar

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/graphcloak/graphcloak/internal/must"
)

type sample struct {
	Text   string    `parquet:"text,dict"`
	Absent *string   `parquet:"absent,optional"`
	Small  int8      `parquet:"small"`
	Whole  *int64    `parquet:"whole,optional"`
	Large  uint64    `parquet:"large"`
	Double float64   `parquet:"double"`
	Single float32   `parquet:"single"`
	Truth  bool      `parquet:"truth"`
	Bytes  []byte    `parquet:"bytes"`
	When   time.Time `parquet:"when"`
	Price  int64     `parquet:"price,decimal(2:18)"`
	List   []int64   `parquet:"list"`
	Nested struct {
		A int64 `parquet:"a"`
	} `parquet:"nested"`
}

func written[T any](t testing.TB, rows []T, o ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, parquet.Write(&b, rows, o...))
	return b.Bytes()
}

// readAll reads columns of a file, all that are readable where none is given.
func readAll(file []byte, names ...string) (rows [][]string, err error) {
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	var columns []int
	for k, name := range r.Names {
		if slices.Contains(names, name) || names == nil && r.Readable(k) {
			columns = append(columns, k)
		}
	}
	if err := r.Choose(columns...); err != nil {
		return nil, err
	}
	for {
		fields, err := r.Next()
		if err != nil {
			return rows, err
		}
		rows = append(rows, slices.Clone(fields))
	}
}

func TestReader(t *testing.T) {
	minimal := int64(math.MinInt64)
	rows := []sample{
		{Text: "a\n\"", Whole: &minimal, Small: -8, Large: math.MaxUint64, Double: 0.1, Single: 0.1, Truth: true, Bytes: []byte("b")},
		{Text: "", Double: 1234567, Single: -2},
		{Text: "é", Double: 5e-324, Single: 0.5},
		{Text: "x", Double: math.Copysign(0, -1)},
		{Text: "x", Double: 1e300},
		{Text: "x", Double: math.NaN()},
	}
	want := []string{
		"a\n\"||-8|-9223372036854775808|18446744073709551615|0.1|0.10000000149011612|true|b||||", "||0||0|1234567|-2|false|||||",
		"é||0||0|5e-324|0.5|false|||||", "x||0||0|-0|0|false|||||", "x||0||0|1e+300|0|false|||||", "x||0||0|NaN|0|false|||||",
	}
	file := written(t, rows, parquet.MaxRowsPerRowGroup(2))
	got, err := readAll(file)
	if !errors.Is(err, io.EOF) || len(got) != len(want) {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	for k, fields := range got {
		if text := strings.Join(fields, "|"); text != want[k] {
			t.Errorf("row %d is %q, want %q", k+1, text, want[k])
		}
	}
	for name, kind := range map[string]string{"when": "TIMESTAMP", "price": "DECIMAL", "list": "repeated", "nested": "nested"} {
		if _, err := readAll(file, name); err == nil || !strings.Contains(err.Error(), kind) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want that it is refused for %s", name, err, kind)
		}
	}
	f := must.Get(parquet.OpenFile(bytes.NewReader(file), int64(len(file))))(t)
	page := f.Metadata().RowGroups[0].Columns[0].MetaData.DataPageOffset
	copy(file[page:], bytes.Repeat([]byte{0xff}, 8)) // of the column text
	if got, err := readAll(file, "double"); !errors.Is(err, io.EOF) || len(got) != len(want) {
		t.Errorf("a column that is not chosen is read: %v", err)
	}
	if _, err := readAll(file, "text"); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("an altered page: %v", err)
	}
}

// No cut file is read to an end, and no altered byte makes a panic.
func TestAltered(t *testing.T) {
	type row struct {
		Source int64   `parquet:"source"`
		Target string  `parquet:"target,dict,zstd"`
		Weight float64 `parquet:"weight,optional,snappy"`
	}
	file := written(t, []row{{1, "b", 0.5}, {2, "c", 0}, {3, "c", 2}, {4, "b", 0.25}}, parquet.MaxRowsPerRowGroup(2))
	for n := range file {
		if _, err := readAll(file[:n]); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%d of %d bytes are read", n, len(file))
		}
	}
	for k := range file {
		for _, flip := range []byte{1, 0x10, 0x80, 0xff} {
			altered := slices.Clone(file)
			altered[k] ^= flip
			if rows, err := readAll(altered); err == nil || errors.Is(err, io.EOF) && len(rows) != 4 {
				t.Errorf("byte %d ^ %#x: %d rows, %v", k, flip, len(rows), err)
			}
		}
	}
}

// FuzzReader: whatever a file holds, it is read or refused.
func FuzzReader(f *testing.F) {
	type row struct {
		Source int64   `parquet:"source,delta"`
		Target string  `parquet:"target,dict,zstd"`
		Weight float64 `parquet:"weight,optional,snappy"`
		Open   *bool   `parquet:"open,optional,gzip"`
	}
	open := true
	for version := 1; version <= 2; version++ {
		f.Add(written(f, []row{{1, "b", 0.5, &open}, {2, "c", 0, nil}, {3, "c", 2, &open}}, parquet.MaxRowsPerRowGroup(2),
			parquet.DataPageVersion(version)))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		for k := range r.Names {
			if r.Readable(k) {
				must.Do(t, r.Choose(k))
			}
		}
		for range 1000 {
			if fields, err := r.Next(); err != nil {
				return
			} else if len(fields) != len(r.Names) {
				t.Fatalf("%d fields of %d columns", len(fields), len(r.Names))
			}
		}
	})
}

// long is the end of a file with a footer of a gigabyte.
type long struct{}

func (long) ReadAt(p []byte, _ int64) (int, error) { return copy(p, "\x00\x00\x00\x40PAR1"), nil }

// What a file states of lengths is checked before memory is taken for it.
func TestLengths(t *testing.T) {
	p := new(thrift.CompactProtocol)
	for name, head := range map[string]format.PageHeader{
		"packed":   {CompressedPageSize: maxPage + 1},
		"unpacked": {UncompressedPageSize: maxPage + 1},
		"values":   {DataPageHeader: thrift.New(format.DataPageHeader{NumValues: maxValues + 1})},
	} {
		data := must.Get(thrift.Marshal(p, &head))(t)
		column := format.ColumnMetaData{TotalCompressedSize: int64(len(data))}
		err := checkPages(bytes.NewReader(data), int64(len(data)), &column, format.Uncompressed, false)
		if err == nil || !strings.Contains(err.Error(), "smaller") {
			t.Errorf("%s: %v", name, err)
		}
	}
	outside := format.ColumnMetaData{DataPageOffset: 1, TotalCompressedSize: math.MaxInt64}
	if err := checkPages(bytes.NewReader(nil), 1, &outside, 0, false); err == nil || !strings.Contains(err.Error(), "outside") {
		t.Errorf("a column beyond the file: %v", err)
	}
	if err := checkFooter(long{}, 1<<40); err == nil || !strings.Contains(err.Error(), "want at most") {
		t.Errorf("a footer of a gigabyte: %v", err)
	}
	type row struct{ A string }
	if rows, err := readAll(written(t, []row{{strings.Repeat("a", 1<<20)}})); len(rows) != 1 || !errors.Is(err, io.EOF) {
		t.Errorf("a text of a megabyte: %v", err)
	}
	file := written(t, []row{{"a"}, {"b"}})
	fewer := must.Get(NewReader(bytes.NewReader(file), int64(len(file))))(t)
	must.Do(t, fewer.Choose(0))
	fewer.file.Metadata().RowGroups[0].NumRows = 1
	must.Get(fewer.Next())(t)
	if _, err := fewer.Next(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a group of two values in one row: %v", err)
	}
	text := func(b []byte, v parquet.Value) []byte { return append(b, v.ByteArray()...) }
	wide := Reader{left: 1, fields: make([]string, 1), chosen: []*chunk{{text: text, rest: []parquet.Value{
		parquet.ByteArrayValue(make([]byte, maxRow+1)),
	}}}}
	if _, err := wide.Next(); err == nil || !strings.Contains(err.Error(), "a row of more") {
		t.Errorf("a row of %d bytes: %v", maxRow+1, err)
	}
	list := []byte{0x15, 2, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 7} // version 1, and a schema of 2^31−1 elements
	file = slices.Concat([]byte("PAR1"), list, binary.LittleEndian.AppendUint32(nil, uint32(len(list))), []byte("PAR1"))
	if err := checkFooter(bytes.NewReader(file), int64(len(file))); err == nil || !strings.Contains(err.Error(), "beyond") {
		t.Errorf("a list of 2^31−1: %v", err)
	}
}

// A page that has more in it than it states is refused, and so is one that is packed or encoded by what cannot be bounded.
func TestPages(t *testing.T) {
	const large = 1 << 30
	number := func(numbers ...uint64) (b []byte) {
		for _, u := range numbers {
			b = binary.AppendUvarint(b, u)
		}
		return b
	}
	page := func(e format.Encoding, data []byte) error {
		h := format.PageHeader{DataPageHeader: thrift.New(format.DataPageHeader{NumValues: 9, Encoding: e})}
		return checkPage(&h, data, format.Uncompressed, false)
	}
	levels := append(binary.LittleEndian.AppendUint32(nil, 6), number(2*large, 1)...)
	optional := format.PageHeader{DataPageHeader: thrift.New(format.DataPageHeader{NumValues: 9})}
	v2 := format.PageHeader{
		Type:             format.DataPageV2,
		DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{NumValues: 9, DefinitionLevelsByteLength: 6}),
	}
	for name, err := range map[string]error{
		"dictionary":     page(format.RLEDictionary, number(3, 2*large, 0)),
		"packed":         page(format.RLEDictionary, number(3, 2*large+1, 0)),
		"packed, some":   page(format.RLEDictionary, append(number(1, 401), make([]byte, 200)...)),
		"wrapped round":  page(format.RLEDictionary, number(0, 1<<62|1)),
		"of no width":    page(plainDictionary, number(0, 2*large+1)),
		"of 2^64":        page(format.RLEDictionary, number(3, math.MaxUint64, 0)),
		"truth values":   page(format.RLE, append(make([]byte, 4), number(2*large, 1)...)),
		"differences":    page(format.DeltaBinaryPacked, number(128, 4, large)),
		"lengths":        page(format.DeltaLengthByteArray, number(128, 4, large)),
		"prefixes":       page(format.DeltaByteArray, number(128, 4, 9)),
		"levels":         checkPage(&optional, levels, format.Uncompressed, true),
		"levels, second": checkPage(&v2, number(2*large, 1), format.Uncompressed, true),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	type row struct {
		A string `parquet:"a,brotli"`
	}
	if _, err := readAll(written(t, []row{{"a"}})); err == nil || !strings.Contains(err.Error(), "BROTLI") {
		t.Errorf("pages by Brotli: %v", err)
	}
	for codec := range format.Lz4Raw + 1 {
		packed, err := parquet.LookupCompressionCodec(codec).Encode(nil, make([]byte, 1<<20))
		if codec == format.Uncompressed || err != nil {
			continue
		}
		bounded := codec == format.Snappy || codec == format.Gzip || codec == format.Zstd
		if _, err := unpack(codec, packed, 1<<20); (err == nil) != bounded {
			t.Errorf("%s: %v", codec, err)
		}
		if _, err := unpack(codec, packed, 1<<19); err == nil {
			t.Errorf("%s: a page unpacks to twice what it states", codec)
		}
	}
}
