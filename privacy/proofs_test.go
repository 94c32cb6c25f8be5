// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestProofsExist: every page that a comment names is there, and every test that a
// page names.
func TestProofsExist(t *testing.T) {
	named, tests := regexp.MustCompile(`docs/proofs/[\w-]+\.md`), regexp.MustCompile("`((?:Test|Fuzz|Example)\\w+)`")
	var source strings.Builder
	pages := 0
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		source.Write(text)
		for _, page := range named.FindAllString(string(text), -1) {
			pages++
			if _, err := os.Stat(filepath.Join("..", page)); err != nil {
				t.Errorf("%s names %s: %v", path, page, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 10 {
		t.Errorf("%d proofs are named, want at least 10", pages)
	}
	for _, name := range []string{
		"mechanism", "sampler", "normal-cdf", "analytic", "closed-form-calibrations", "plan", "accounting",
		"escrow", "ledger", "allocation", "../explanation/evidence",
	} {
		text := must.Get(os.ReadFile("../docs/proofs/" + name + ".md"))(t)
		for _, m := range tests.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(source.String(), "func "+m[1]+"(") {
				t.Errorf("%s.md names %s, which no test file has", name, m[1])
			}
		}
	}
}
