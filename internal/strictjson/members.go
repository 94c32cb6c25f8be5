// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"encoding/json"
	"maps"
	"slices"
)

// Object joins members to an object, by ascending name, as encoding/json writes a map, but
// without a look at them: names need no escape, and members are as encoding/json writes
// them.
func Object(members map[string]json.RawMessage) []byte {
	size := 2
	for name, value := range members {
		size += len(name) + len(value) + 4
	}
	text := append(make([]byte, 0, size), '{')
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(text, `"`+name+`":`...), members[name]...)
	}
	return append(text, '}')
}
