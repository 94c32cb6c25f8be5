// SPDX-License-Identifier: Apache-2.0

package strictjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/strictjson"
)

type inner struct {
	Deep []int `json:"deep"`
}

type colour int

func (c *colour) UnmarshalText(text []byte) error {
	if string(text) != "red" {
		return errors.New("no colour")
	}
	*c = 1
	return nil
}

type document struct {
	Name   string         `json:"name"`
	Number float64        `json:"number"`
	Pair   [2]int64       `json:"pair"`
	Colour colour         `json:"colour"`
	Inner  *inner         `json:"inner,omitempty"`
	Free   map[string]any `json:"free,omitempty"`
}

const good = `{"name":"a","number":0.5,"pair":[1,9007199254740993],"colour":"red","inner":{"deep":[1,2]},"free":{"a":{"b":1}}}`

func TestUnmarshal(t *testing.T) {
	var d document
	must.Do(t, strictjson.Unmarshal([]byte(good), &d))
	if d.Pair[1] != 9007199254740993 || d.Inner.Deep[1] != 2 || d.Colour != 1 {
		t.Errorf("read %+v", d)
	}
}

// Everything that encoding/json lets pass, or half passes, is refused and the place
// is named; no message repeats a value of the document.
func TestUnmarshalRefuses(t *testing.T) {
	const secret = "0.73"
	for name, c := range map[string]struct{ document, message string }{
		"unknown key":        {`{"name":"a","nome":"b"}`, `"/nome" is no key`},
		"unknown key inside": {`{"inner":{"depth":[0.73]}}`, `"/inner/depth" is no key`},
		"wrong case":         {`{"Name":"a"}`, `"/Name" is no key`},
		"duplicate":          {`{"name":"a","name":"b"}`, `"/name" is there twice`},
		"duplicate inside":   {`{"free":{"a":{"b":1,"b":2}}}`, `"/free/a/b" is there twice`},
		"escaped duplicate":  {`{"name":"a","n\u0061me":"b"}`, `"/name" is there twice`},
		"wrong type":         {`{"name":0.73}`, `"/name" holds a number`},
		"number as string":   {`{"number":"0.73"}`, `"/number" holds a string`},
		"fraction":           {`{"pair":[0.73,1]}`, `"/pair/0" holds a number`},
		"overflow":           {`{"pair":[99999999999999999999,1]}`, `"/pair/0" holds a number`},
		"huge":               {`{"number":1e999}`, `"/number" holds a number`},
		"short array":        {`{"pair":[1]}`, `"/pair"`},
		"long array":         {`{"pair":[1,2,3]}`, `"/pair"`},
		"own decoder":        {`{"colour":"blue"}`, `"/colour": no colour`},
		"own decoder, kind":  {`{"colour":0.73}`, `"/colour" holds a number`},
		"NaN":                {`{"number":NaN}`, `no JSON at byte 10`},
		"text behind":        {`{"name":"a"} {}`, `no JSON at byte 13`},
		"truncated":          {`{"inner":{"deep":[1,`, `ends after 20 bytes`},
		"empty":              {``, `it `},
		"not an object":      {`[]`, `the document holds a`},
		"invalid UTF-8":      {"{\"name\":\"\xff\"}", `no JSON at byte`},
		"control characters": {"{\"\x1b[2J\":1}", `no JSON at byte`},
		"escaped control":    {`{"\u001b[2J\u009b":1}`, `"/\x1b[2J\u009b" is no key`},
		"deep":               {`{"free":` + strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat(`}`, 101), `nested more than 64`},
		"very deep":          {strings.Repeat(`[`, 10_000_000), `nested more than 64`},
		"long key":           {`{"` + strings.Repeat("x", 10_000) + `":1}`, `xxx"…`},
	} {
		var d document
		err := strictjson.Unmarshal([]byte(c.document), &d)
		switch {
		case !errors.Is(err, strictjson.ErrInvalid):
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		case !strings.Contains(err.Error(), c.message):
			t.Errorf("%s: error %q, want %q in it", name, err, c.message)
		case strings.Contains(err.Error(), secret) || len(err.Error()) > 300 || strings.ContainsAny(err.Error(), "\x1b\u009b"):
			t.Errorf("%s: the message repeats the document: %q", name, err)
		}
	}
}

func TestCompare(t *testing.T) {
	for name, c := range map[string]struct{ document, message string }{
		"same":         {good, ""},
		"order":        {`{"number":5e-1,"name":"\u0061","pair":[1,9007199254740993],"free":{"a":{"b":1.0}},"colour":"red", "inner":{"deep":[1,2]}}`, ""},
		"spaced":       {" " + strings.NewReplacer(",", " ,\n\t", ":", "\r: ", "[", "[ ", "}", " }").Replace(good) + "\n", ""},
		"last":         {strings.Replace(good, `"a",`, `"b",`, 1), `"/name" is not that`},
		"a space":      {strings.Replace(good, `"a",`, `"a ",`, 1), `"/name" is not that`},
		"cut off":      {strings.Replace(good, `"a",`, `"",`, 1), `"/name" is not that`},
		"before last":  {strings.Replace(strings.Replace(good, `"a",`, `"b",`, 1), "0.5", "0.25", 1), `"/number" is not`},
		"value":        {strings.Replace(good, "0.5", "0.25", 1), `"/number" is not`},
		"last bit":     {strings.Replace(good, "0993", "0992", 1), `"/pair/1" is not`},
		"missing":      {strings.Replace(good, `"name":"a",`, "", 1), `"/name" is missing`},
		"missing last": {strings.Replace(good, `"pair":[1,9007199254740993],`, "", 1), `"/pair" is missing`},
		"more":         {strings.Replace(good, `{"name"`, `{"a":1,"name"`, 1), `"/a" is no key`},
		"more at last": {strings.Replace(good, `{"name"`, `{"z":1,"name"`, 1), `"/z" is no key`},
		"more inside":  {strings.Replace(good, `{"deep"`, `{"z":1,"deep"`, 1), `"/inner/z" is no key`},
		"longer":       {strings.Replace(good, `[1,2]`, `[1,2,3]`, 1), `"/inner/deep`},
		"shorter":      {strings.Replace(good, `[1,2]`, `[1]`, 1), `"/inner/deep`},
		"null":         {strings.Replace(good, `"a",`, `null,`, 1), `"/name" is not`},
		"kind":         {strings.Replace(good, `[1,2]`, `{"a":"b"}`, 1), `"/inner/deep" is not`},
	} {
		err := strictjson.Compare([]byte(c.document), []byte(good), "/name")
		switch {
		case c.message == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.message != "" && (!errors.Is(err, strictjson.ErrInvalid) || !strings.Contains(err.Error(), c.message)):
			t.Errorf("%s: error %v, want %q in it", name, err, c.message)
		}
	}
}

// What is decoded and written again says the same, so that Compare after Unmarshal
// holds a document against itself.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"name":"a","Name":"b"}`))
	f.Add([]byte(`{"free":{"a":[[[1e400]]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d document
		if err := strictjson.Unmarshal(data, &d); err != nil {
			if !errors.Is(err, strictjson.ErrInvalid) {
				t.Fatalf("error %v, want ErrInvalid", err)
			}
			return
		}
		var lenient document
		if err := json.Unmarshal(data, &lenient); err != nil {
			t.Fatalf("encoding/json refuses what is taken here: %v", err)
		}
		canonical, err := strictjson.Canonical(data)
		if err != nil {
			t.Fatalf("no canonical form of what is taken here: %v", err)
		}
		if err := strictjson.Compare(data, canonical, ""); err != nil {
			t.Fatalf("a document differs from its canonical form: %v", err)
		}
	})
}
