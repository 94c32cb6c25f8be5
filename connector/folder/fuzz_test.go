// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// FuzzCSV reads any bytes as nodes.csv: the error is the data's or there is none,
// and a rewrite that changes nothing gives the same bytes, one that adds a column
// the same fields and the new one.
func FuzzCSV(f *testing.F) {
	for _, nodes := range []string{
		"id,x\n1,a\n2,b\n", "\ufeffid,x\r\n1,\"a\r\nb\"\r\n\r\n2,\r\n", "id\n\n1\n\n", "id,x\n1,\"a\rb\"\n2,c\r\r\n", "id,x\n1,b\r",
		"\"id\",\"x\"\"y\"\n\"1\",\"\"\n", "id\n\"\"\n1", "id,x\n1,\"a\n", "id,\xff\n", "\xff\xfeid", "id,x\n1,\x00\n",
		",id\n,1\n", "", "\ufeff",
	} {
		f.Add([]byte(nodes))
	}
	f.Fuzz(func(t *testing.T, nodes []byte) {
		c := CSV{FS: fstest.MapFS{nodesFile: {Data: nodes}, relationshipsFile: {Data: []byte("source,target\n")}}}
		if _, err := c.Graph(t.Context(), graph.Selection{}); err != nil && !errors.Is(err, connector.ErrInput) &&
			!errors.Is(err, connector.ErrNotFound) {
			t.Errorf("%v, want an error of the data", err)
		}
		if same, err := copied(t, &c, nil); err == nil && !bytes.Equal(same, nodes) {
			t.Errorf("copied to %q", same)
		}
		const added = "=1,\"\n"
		more, err := copied(t, &c, []string{added})
		if err != nil {
			return
		}
		was := must.Get(rows(nodes, nodes))(t)
		now, err := rows(more, nodes)
		if err != nil || !slices.EqualFunc(was, now, func(a, b []string) bool { return slices.Equal(append(a, added), b) }) {
			t.Errorf("%q became %q (%v)", was, now, err)
		}
	})
}

// rows parses text with the delimiter of like.
func rows(text, like []byte) ([][]string, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte(byteOrderMark))))
	r.Comma = delimiter(bytes.TrimPrefix(like, []byte(byteOrderMark)))
	return r.ReadAll()
}

// copied rewrites nodes.csv with further fields at the end of each row.
func copied(t *testing.T, c *CSV, further []string) ([]byte, error) {
	table, err := c.openTable(nodesFile, true)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	err = table.copyTo(t.Context(), w, slices.Concat(table.header, further), nil, nil, func(fields []string) []string {
		return slices.Concat(fields, further)
	})
	return out.Bytes(), err
}
