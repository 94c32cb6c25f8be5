// SPDX-License-Identifier: Apache-2.0

package term

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Fields are the numbers, texts and lists of texts of an object under their names in JSON, but for some: a line each.
func Fields(v any, but ...string) Section {
	var rows [][]any
	data, err := JSON(v, false)
	d := json.NewDecoder(bytes.NewReader(data))
	for _, _ = d.Token(); err == nil && d.More(); {
		var x any
		name, _ := d.Token()
		err = d.Decode(&x)
		list, isList := x.([]any)
		if _, nested := x.(map[string]any); nested || slices.Contains(but, name.(string)) {
			continue
		}
		if isList {
			texts := make([]string, len(list))
			for k, item := range list {
				texts[k], isList = item.(string)
			}
			if x = strings.Join(texts, " "); !isList || x == "" {
				continue
			}
		}
		rows = append(rows, []any{name, Cell(x, Digits)})
	}
	return Section{Columns: []string{"name", "value"}, Rows: slices.Values(rows)}
}
