// SPDX-License-Identifier: Apache-2.0

package document

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/strictjson"
)

// The pieces of long texts are the canonical form, whatever their strings hold.
func TestCanonical(t *testing.T) {
	type element struct {
		Z string  `json:"z"`
		A float64 `json:"a"`
		M []int   `json:"m,omitempty"`
	}
	for _, n := range []int{0, 1, 3, 5000} {
		elements := make([]element, n)
		for k := range elements {
			elements[k] = element{fmt.Sprintf(`],{"%d\<é`, k), float64(k) * 1e-7, make([]int, k%3)}
		}
		text := must.Get(json.Marshal(map[string]any{
			"ab": elements, "a": map[string]any{"values": elements, "plan": []any{elements, nil}}, "b": strings.Repeat("x", 2*long),
		}))(t)
		pieces := must.Get(canonical(text))(t)
		if want := must.Get(strictjson.Canonical(text))(t); string(pieces.Join()) != string(want) {
			t.Errorf("%d elements: %.200s, want %.200s", n, pieces.Join(), want)
		}
	}
	if _, err := canonical([]byte(`[` + strings.Repeat(`1,`, long) + `x]`)); err == nil {
		t.Error("no error for what is no JSON")
	}
}
