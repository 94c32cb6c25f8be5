// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestEvidenceNamesFaults: every fault belongs to a claim of docs/explanation/evidence.md,
// which names one of the tests that catch it.
func TestEvidenceNamesFaults(t *testing.T) {
	t.Chdir("../../..")
	text := must.Get(os.ReadFile("docs/explanation/evidence.md"))(t)
	for _, m := range slices.Concat(fast, slow) {
		if !slices.ContainsFunc(m.tests(), func(name string) bool { return strings.Contains(string(text), "`"+name+"`") }) {
			t.Errorf("no claim of the page names a test of %q: %v", m.name, m.tests())
		}
	}
}
