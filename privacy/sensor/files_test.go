// SPDX-License-Identifier: Apache-2.0

package sensor

import (
	"regexp"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
)

// Every id gets a file name that every system takes, and no two the same one
// where case does not count.
func TestFileNames(t *testing.T) {
	ids := []string{
		"17", "J-10", "j-10", "a/b", `a\b`, "..", ".", "", "a:b", "CON", "con", "nul", "NUL.txt", "COM1", "lpt9", "aux ", "a.", "a ",
		"\x00", "\n", "a*?\"<>|", "ü", "Ü", "%2F", "/", "a%3Ab", strings.Repeat("x", 200), strings.Repeat("ü", 80), "~", "$MFT",
	}
	people := make([]graph.ID, len(ids))
	for i, id := range ids {
		people[i] = graph.ID(id)
	}
	plain := regexp.MustCompile(`^[A-Za-z0-9_%-]{1,120}\.json$`)
	reserved := regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)
	seen := map[string]string{}
	for i, name := range fileNames(people) {
		if !plain.MatchString(name) || reserved.MatchString(name) {
			t.Errorf("%q is written to %q", ids[i], name)
		}
		if other, ok := seen[strings.ToLower(name)]; ok {
			t.Errorf("%q and %q are written to %q", ids[i], other, name)
		}
		seen[strings.ToLower(name)] = ids[i]
	}
	if names := fileNames(people[:2]); names[0] != "17.json" || names[1] != "J-10.json" {
		t.Errorf("%q, want readable names", names)
	}
}
