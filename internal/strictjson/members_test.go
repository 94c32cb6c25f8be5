// SPDX-License-Identifier: Apache-2.0

package strictjson_test

import (
	"encoding/json"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/strictjson"
)

// Members that are joined are what encoding/json writes.
func TestObject(t *testing.T) {
	for _, text := range []string{`{}`, `{"a":1}`, `{"b":"x,\"}{][:\\","aa":{"c":[1,{"d":2}],"e":"}"},"z":[],"n":null}`} {
		var members map[string]json.RawMessage
		must.Do(t, json.Unmarshal([]byte(text), &members))
		want := must.Get(json.Marshal(members))(t)
		if got := string(strictjson.Object(members).Join()); got != string(want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
