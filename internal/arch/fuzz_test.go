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

// Every fuzz target starts from inputs that are kept: in its corpus or in its code.
// Without them go test tries none, and fuzzing begins with noise.
func TestFuzzTargetsHaveSeeds(t *testing.T) {
	const top = "../.."
	target := regexp.MustCompile(`(?ms)^func (Fuzz\w+)\(.*?^}`)
	found := 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range target.FindAllStringSubmatch(string(text), -1) {
			found++
			corpus, err := filepath.Glob(filepath.Join(filepath.Dir(path), "testdata", "fuzz", m[1], "*"))
			if err != nil {
				return err
			}
			if len(corpus) == 0 && !strings.Contains(m[0], ".Add(") {
				t.Errorf("%s: %s has neither a corpus nor a seed", path, m[1])
			}
		}
		return nil
	})
	must.Do(t, err)
	if found < 10 {
		t.Errorf("%d fuzz targets were found", found)
	}
}
