// SPDX-License-Identifier: Apache-2.0

package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/strictjson"
)

// Members that are joined are what encoding/json writes.
func TestObject(t *testing.T) {
	for _, text := range []string{`{}`, `{"a":1}`, `{"\",\\":1,"a\n":2}`, `{"b":"x,\"}{][:\\","aa":{"c":[1,{"d":2}],"e":"}"},"z":[],"n":null}`} {
		var members map[string]json.RawMessage
		must.Do(t, json.Unmarshal([]byte(text), &members))
		want := must.Get(json.Marshal(members))(t)
		if got := string(strictjson.Object(strictjson.InPieces(members)).Join()); got != string(want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// White space between tokens does not count, and within strings it does, behind whatever is escaped; however the text is cut.
func TestIsSpaced(t *testing.T) {
	const want = `{"a":"\"  \\","b":[" ",1]}`
	for document, same := range map[string]bool{
		want: true, "\n" + `{"a" : "\"  \\" ,"b":[ " ",1 ]}` + " ": true, `{"a":"\"  \\", "b":[" ", 1]}`: true,
		`{"a":"\" \\","b":[" ",1]}`: false, `{"a":"\"  \\","b":["  ",1]}`: false, `{"a":"\"  \\","b":["",1]}`: false,
		`{"a":"\"  \\ ","b":[" ",1]}`: false, `{"a":"\"  \\","b":[" ",1]`: false, want + "}": false,
	} {
		for cut := range len(want) + 1 {
			pieces := strictjson.Pieces{nil, []byte(want[:cut]), nil, []byte(want[cut:]), nil}
			if got := strictjson.IsSpaced([]byte(document), pieces); got != same {
				t.Errorf("%s, cut at %d: %v", document, cut, got)
			}
		}
	}
}

// A long object is written as Canonical returns it: order, numbers and escapes at every depth.
func TestWriteCanonical(t *testing.T) {
	list := func(element string, n int) string { return "[" + strings.Repeat(element+",", n) + element + "]" }
	long := list(`{"b":1.50,"a":"é\u003c","c":[]}`, 5000)
	for name, text := range map[string]string{
		"short": `{"b":[1e2,{"z":1,"y":2}],"a":null}`, "empty": `{}`,
		"long": `{"z":` + long + `,"b":{"y":` + long + `,"x":{"q":1,"p":` + list(`2.0`, 50000) + `}},"s":"` + strings.Repeat("x", 1<<17) +
			`"}`,
		"digits": `{"n":` + list(`9007199254740993`, 20000) + `}`,
		"quotes": `{"q":` + list(`"],\\\",[\\"`, 30000) + `,"l":[` + strings.Repeat(" ", 1<<17) + `],"w":` + list(" [1 , 2]\n", 30000) + `}`,
	} {
		var members map[string]json.RawMessage
		must.Do(t, json.Unmarshal([]byte(text), &members))
		var got bytes.Buffer
		must.Do(t, strictjson.WriteCanonical(&got, members))
		if want := must.Get(strictjson.Canonical([]byte(text)))(t); !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: %d bytes, want %d: it is not the canonical form", name, got.Len(), len(want))
		}
	}
	for _, wrong := range []string{
		"[" + long + "}", long + "x", `{"a":` + long + "]", `{"a":` + long + "}{}", "[]]", `"`, "",
		"[" + strings.Repeat("1,", 1<<16) + "]", "[" + strings.Repeat("1,", 1<<15) + strings.Repeat(" ", 1<<16) + ",1]",
		"[" + strings.Repeat(`"a`, 1<<16) + "]",
	} {
		err := strictjson.WriteCanonical(io.Discard, map[string]json.RawMessage{"a": json.RawMessage(wrong)})
		if !errors.Is(err, strictjson.ErrInvalid) {
			t.Errorf("%d bytes that are no JSON: %v", len(wrong), err)
		}
	}
	for _, wrong := range []string{`["a",1]`, `{} x`, `{}{}`, `{"a":1`, `1`, ``} {
		if _, err := strictjson.Members([]byte(wrong)); err == nil {
			t.Errorf("%s was read as an object", wrong)
		}
	}
}

// A list is written as encoding/json writes it, whatever its length; what fails is said.
func TestWriteList(t *testing.T) {
	for _, n := range []int{0, 1, 1023, 1024, 1025, 5000, 16 << 10, 40_000} {
		list := make([]string, n)
		for i := range list {
			list[i] = strings.Repeat("<é", i%7)
		}
		want := must.Get(json.Marshal(list))(t)
		write := func(w io.Writer) error { return strictjson.WriteList(w, n, func(i int) string { return list[i] }) }
		if got := must.Get(strictjson.Text(write))(t); string(got) != string(want) || cap(got) != len(got) {
			t.Errorf("%d elements: another text, or %d bytes for %d", n, cap(got), len(got))
		}
		if _, err := strictjson.Text(func(w io.Writer) error { return errors.Join(write(w), io.EOF) }); !errors.Is(err, io.EOF) {
			t.Errorf("a failed write: %v", err)
		}
	}
	for _, n := range []int{2, 20_000} {
		_, err := strictjson.Text(func(w io.Writer) error {
			return strictjson.WriteList(w, n, func(i int) float64 { return 1 / float64(n-1-i) })
		})
		if err == nil {
			t.Error("a number that JSON has not was written")
		}
	}
}
