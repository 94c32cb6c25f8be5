// SPDX-License-Identifier: Apache-2.0

package main

import (
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// imageShown is an image of a page.
var imageShown = regexp.MustCompile(`!\[[^\]]+\]\(([^)]+\.png)\)`)

// TestImages: every image that a page shows is there and is no larger than a reader wants
// to wait for; no image is unused.
func TestImages(t *testing.T) {
	const most = 200 << 10
	root := filepath.Join("..", "..")
	shown := make(map[string]bool)
	pages := []string{filepath.Join(root, "README.md")}
	must.Do(t, filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	}))
	for _, page := range pages {
		text := must.Get(os.ReadFile(page))(t)
		for _, m := range imageShown.FindAllSubmatch(text, -1) {
			path := filepath.Join(filepath.Dir(page), string(m[1]))
			shown[filepath.Base(path)] = true
			f, err := os.Open(path)
			if err != nil {
				t.Errorf("%s shows %s: %v", page, m[1], err)
				continue
			}
			if _, err := png.DecodeConfig(f); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if info, err := f.Stat(); err != nil || info.Size() > most {
				t.Errorf("%s has %d bytes, want at most %d (%v)", path, info.Size(), most, err)
			}
			f.Close()
		}
	}
	files := must.Get(os.ReadDir(filepath.Join(root, "docs", "images")))(t)
	for _, f := range files {
		if !shown[f.Name()] {
			t.Errorf("no page shows %s", f.Name())
		}
	}
}
