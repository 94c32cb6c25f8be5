// SPDX-License-Identifier: Apache-2.0

package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/strictjson"
)

// Members that are joined are what encoding/json writes.
func TestObject(t *testing.T) {
	for _, text := range []string{`{}`, `{"a":1}`, `{"b":"x,\"}{][:\\","aa":{"c":[1,{"d":2}],"e":"}"},"z":[],"n":null}`} {
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &members); err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(strictjson.Object(members).Join()); got != string(want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Long text is made canonical in parts to the same bytes as at once, and what is no JSON is
// refused.
func TestWriteCanonical(t *testing.T) {
	type element struct {
		Name  string    `json:"z"`
		Value float64   `json:"a"`
		List  []float64 `json:"m,omitempty"`
	}
	var elements []element
	for k := range 5000 {
		elements = append(elements, element{fmt.Sprintf("\"],}%d\\\u2028é", k), math.Exp(float64(k%700)) / 3, nil})
	}
	elements = append(elements, element{"long", 1, make([]float64, 80_000)})
	for name, v := range map[string]any{
		"small": map[string]any{"b": 1, "a": []int{}}, "array": elements, "empty": []int{}, "no members": map[string]any{},
		"object":     map[string]any{"z": elements, "A": 1e30, "a": map[string]any{"q": elements, "b": nil}},
		"odd names":  map[string]any{"é": elements, "\"": 1},
		"long value": strings.Repeat("x", 1<<18), "one element": [][]element{elements},
	} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		want, err := strictjson.Canonical(text)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := strictjson.WriteCanonical(&got, text); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: %d bytes, want %d; %v", name, got.Len(), len(want), err)
		}
		if _, ok := v.(map[string]any); !ok || name == "odd names" { // which Object does not take
			continue
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatal(err)
		}
		got.Reset()
		if err := strictjson.WriteCanonicalMembers(&got, members); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("members of %s: %d bytes, want %d; %v", name, got.Len(), len(want), err)
		}
	}
	long, err := json.Marshal(elements)
	if err != nil {
		t.Fatal(err)
	}
	for room := 1; room < len(long)/2; room = 3*room + 1<<15 { // refused at once, and on the way
		if err := strictjson.WriteCanonical(&small{room}, long); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("room for %d of %d bytes: %v", room, len(long), err)
		}
	}
	for _, text := range []string{string(long[:len(long)-1]) + ",]", "[" + string(long), `{"a":` + string(long) + `,"a":1}`} {
		if err := strictjson.WriteCanonical(io.Discard, []byte(text)); !errors.Is(err, strictjson.ErrInvalid) {
			t.Errorf("%.20s…: %v", text, err)
		}
	}
}

// small takes so many bytes.
type small struct{ room int }

func (s *small) Write(p []byte) (int, error) {
	if s.room -= len(p); s.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}
