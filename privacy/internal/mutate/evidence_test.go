// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEvidenceNamesFaults: docs/explanation/evidence.md lists every fault beside a
// claim, in a row whose tests are among those that catch it, and none that is not
// planted.
func TestEvidenceNamesFaults(t *testing.T) {
	t.Chdir("../../..")
	text, err := os.ReadFile("docs/explanation/evidence.md")
	if err != nil {
		t.Fatal(err)
	}
	planted := make(map[string]mutation)
	for _, m := range slices.Concat(fast, slow) {
		planted[m.name] = m
	}
	named := make(map[string]bool)
	quoted, code := regexp.MustCompile(`“([^”]*)”`), regexp.MustCompile("`([^`]*)`")
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) != 4 {
			continue
		}
		var tests []string
		for _, c := range code.FindAllStringSubmatch(cells[2], -1) {
			tests = append(tests, c[1])
		}
		for _, q := range quoted.FindAllStringSubmatch(cells[3], -1) {
			m, ok := planted[q[1]]
			if !ok {
				t.Errorf("%q is no planted fault", q[1])
				continue
			}
			named[m.name] = true
			if !slices.ContainsFunc(m.tests(), func(name string) bool { return slices.Contains(tests, name) }) {
				t.Errorf("%q turns %v red, and its row names %v", m.name, m.tests(), tests)
			}
		}
	}
	for name := range planted {
		if !named[name] {
			t.Errorf("the page names no claim for %q", name)
		}
	}
}
