// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestProofsExist: every page that a comment names is there.
func TestProofsExist(t *testing.T) {
	named := regexp.MustCompile(`docs/proofs/[\w-]+\.md`)
	pages := 0
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, page := range named.FindAllString(string(text), -1) {
			pages++
			if _, err := os.Stat(filepath.Join("..", page)); err != nil {
				t.Errorf("%s names %s: %v", path, page, err)
			}
		}
		return nil
	})
	must.Do(t, err)
	if pages < 10 {
		t.Errorf("%d proofs are named, want at least 10", pages)
	}
}
