// SPDX-License-Identifier: Apache-2.0

package operatorfile_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/graphcloak/graphcloak/connector/operatorfile"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/response"
)

// line is a path 1–2–3.
func line(t *testing.T) *graph.Graph {
	t.Helper()
	var b graph.Builder
	must.Do(t, b.AddEdge("1", "2", 1))
	must.Do(t, b.AddEdge("2", "3", 1))
	return must.Get(b.Graph())(t)
}

// read returns the operator of a file of this name and content.
func read(t *testing.T, ctx context.Context, name string, content []byte, beside map[string]string) (*response.Operator, error) {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	for end, text := range beside {
		must.Do(t, os.WriteFile(filepath.Join(dir, name+end), []byte(text), 0o600))
	}
	b := response.NewBuilder(line(t), nil)
	if err := operatorfile.Read(ctx, filepath.Join(dir, name), b, nil); err != nil {
		return nil, err
	}
	list, err := b.Build()
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func parquetOf[T any](t *testing.T, rows []T) []byte {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, parquet.Write(&out, rows))
	return out.Bytes()
}

// The same entries are one operator in every format: text and numbers as ids and times, columns in any order.
func TestFormats(t *testing.T) {
	type text struct {
		Time     string  `parquet:"time"`
		Response float64 `parquet:"response"`
		Node     string  `parquet:"node"`
		Sensor   string  `parquet:"sensor"`
	}
	type number struct {
		Sensor   int64   `parquet:"sensor"`
		Node     int64   `parquet:"node"`
		Response float32 `parquet:"response"`
		Time     float64 `parquet:"time"`
		Comment  string  `parquet:"comment"`
	}
	csv := "\uFEFFresponse,sensor,node,time\n0.5,1,1,6\n0.25,1,2,6\n2,3,2,12.5\n"
	want := must.Get(read(t, t.Context(), "flow.csv", []byte(csv), nil))(t)
	if want.Name != "flow.csv" || len(want.Readings) != 2 || len(want.Value) != 3 {
		t.Fatalf("%q: %v with %d entries", want.Name, want.Readings, len(want.Value))
	}
	for name, x := range map[string]struct {
		file    string
		content []byte
		beside  map[string]string
	}{
		"texts":   {"a.parquet", parquetOf(t, []text{{"6", .5, "1", "1"}, {"6", .25, "2", "1"}, {"12.5", 2, "2", "3"}}), nil},
		"numbers": {"b.parquet", parquetOf(t, []number{{1, 1, .5, 6, "x"}, {1, 2, .25, 6, ""}, {3, 2, 2, 12.5, ""}}), nil},
		"a matrix": {
			"c.mtx", []byte("%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 0.5\n1 2 2.5e-1\n2 2 2\n"),
			map[string]string{".sensors": "1\t6\r\n3\t12.5\r\n", ".nodes": "1\n2\n3"},
		},
	} {
		if got := must.Get(read(t, t.Context(), x.file, x.content, x.beside))(t); got.Digest != want.Digest {
			t.Errorf("%s: another operator: %v", name, got.Readings)
		}
	}
}

func TestRefusals(t *testing.T) {
	type whole struct {
		Sensor   string `parquet:"sensor"`
		Node     string `parquet:"node"`
		Response int64  `parquet:"response,decimal(2:9)"`
	}
	type missing struct {
		Sensor   string   `parquet:"sensor"`
		Node     string   `parquet:"node"`
		Response *float64 `parquet:"response,optional"`
	}
	names := map[string]string{".sensors": "1\n3\n", ".nodes": "1\n2\n3\n"}
	const head = "%%MatrixMarket matrix coordinate real general\n"
	for name, x := range map[string]struct {
		file    string
		content []byte
		beside  map[string]string
	}{
		"no header":            {"a.csv", nil, nil},
		"no column":            {"a.csv", []byte("sensor,node\n1,2\n"), nil},
		"a text":               {"a.csv", []byte("sensor,node,response\n1,2,much\n"), nil},
		"fields":               {"a.csv", []byte("sensor,node,response\n1,2\n"), nil},
		"no Parquet":           {"a.parquet", []byte("PAR1 and more"), nil},
		"decimals":             {"a.parquet", parquetOf(t, []whole{{"1", "1", 50}}), nil},
		"a missing response":   {"a.parquet", parquetOf(t, []missing{{"1", "1", nil}}), nil},
		"another matrix":       {"a.mtx", []byte("%%MatrixMarket matrix array real general\n1 1\n1\n"), names},
		"another size":         {"a.mtx", []byte(head + "3 3 1\n1 1 1\n"), names},
		"fewer entries":        {"a.mtx", []byte(head + "2 3 2\n1 1 1\n"), names},
		"more entries":         {"a.mtx", []byte(head + "2 3 1\n1 1 1\n2 2 1\n"), names},
		"outside":              {"a.mtx", []byte(head + "2 3 1\n3 1 1\n"), names},
		"no size":              {"a.mtx", []byte(head), names},
		"two fields":           {"a.mtx", []byte(head + "2 3 1\n1 1\n"), names},
		"a word in the matrix": {"a.mtx", []byte(head + "2 3 1\n1 1 x\n"), names},
	} {
		if _, err := read(t, t.Context(), x.file, x.content, x.beside); !errors.Is(err, response.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	if _, err := read(t, t.Context(), "a.mtx", []byte(head+"2 3 1\n1 1 1\n"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no names: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := read(t, ended, "a.csv", []byte("sensor,node,response\n1,2,1\n"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
