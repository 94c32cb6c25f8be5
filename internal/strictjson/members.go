// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Object joins members to an object, by ascending name, as encoding/json writes a map, but
// without a look at them: names need no escape, and members are as encoding/json writes
// them.
func Object(members map[string]json.RawMessage) Pieces {
	pieces := Pieces{{'{'}}
	for k, name := range slices.Sorted(maps.Keys(members)) {
		before := `"` + name + `":`
		if k > 0 {
			before = "," + before
		}
		pieces = append(pieces, []byte(before), members[name])
	}
	return append(pieces, []byte{'}'})
}

// Pieces are a text in parts, in their order: a long text is not copied to be put into another.
type Pieces [][]byte

// Join returns the text.
func (p Pieces) Join() []byte { return bytes.Join(p, nil) }
