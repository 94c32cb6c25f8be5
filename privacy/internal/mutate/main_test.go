// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestMutationsApply: every fault still has the text that it changes, once, changes
// it, has a name of its own, and names tests that exist. Anyone who changes a line that a
// fault is planted in moves the fault along.
func TestMutationsApply(t *testing.T) {
	t.Chdir("../../..")
	names := make(map[string]bool)
	for _, m := range slices.Concat(fast, slow) {
		if names[m.name] {
			t.Errorf("two faults are named %q", m.name)
		}
		names[m.name] = true
		if _, err := m.files(); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		for _, c := range m.changes {
			if c.old == c.new {
				t.Errorf("%s changes nothing in %s", m.name, c.file)
			}
		}
		paths := must.Get(filepath.Glob(filepath.Join(m.in(), "*_test.go")))(t)
		var text []byte
		for _, path := range paths {
			data := must.Get(os.ReadFile(path))(t)
			text = append(text, data...)
		}
		for _, name := range m.tests() {
			if !regexp.MustCompile(`(?m)^func ` + name + `\(t \*testing\.T\)`).Match(text) {
				t.Errorf("%s: package %s has no test %s", m.name, m.in(), name)
			}
		}
	}
}
