// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestNamedTestsExist: a test, fuzz target or example that a page names is there.
func TestNamedTestsExist(t *testing.T) {
	const top = "../.."
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example|Benchmark)\w*)\(`)
	named := regexp.MustCompile("`((?:Test|Fuzz|Example|Benchmark)[A-Z]\\w*)`")
	there := make(map[string]bool)
	pages := make(map[string]string)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		test, page := strings.HasSuffix(path, "_test.go"), strings.HasSuffix(path, ".md")
		if !d.Type().IsRegular() || !test && !page {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if page {
			pages[path] = string(text)
		}
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			there[m[1]] = there[m[1]] || test
		}
		return nil
	})
	must.Do(t, err)
	found := 0
	for path, text := range pages {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			found++
			if !there[m[1]] {
				t.Errorf("%s names %s, which no package has", strings.TrimPrefix(path, top+"/"), m[1])
			}
		}
	}
	if found < 50 {
		t.Errorf("%d names of tests were found in %d pages", found, len(pages))
	}
}
