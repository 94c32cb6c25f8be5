// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// exitTable is the table of the reference page.
func exitTable() string {
	var b strings.Builder
	b.WriteString("| code | in JSON | means | the same command again | to do |\n|---|---|---|---|---|\n")
	for _, m := range exitMeanings() {
		name := m.name
		if name != "" {
			name = "`" + name + "`"
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", m.code, name, m.meaning, m.again, m.todo)
	}
	return b.String()
}

// TestExitCodesAreDocumented: every code that the program has is in the table, and the
// page and the help topic hold the table.
func TestExitCodesAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "exit-codes.md"))
	if err != nil || !strings.Contains(string(page), exitTable()) {
		t.Errorf("the page does not hold this table (%v):\n%s", err, exitTable())
	}
	file := must.Get(parser.ParseFile(token.NewFileSet(), "exitcodes.go", nil, 0))(t)
	named := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "exit") {
			named++
		}
		return true
	})
	if len(exitMeanings()) != named {
		t.Errorf("%d codes in the table, %d in exitcodes.go", len(exitMeanings()), named)
	}
	if out := succeeds(t, "--help"); !strings.Contains(out, "graphcloak help exit-codes") {
		t.Errorf("the help does not name the topic:\n%s", out)
	}
	for _, args := range [][]string{{"help", "exit-codes"}, {"exit-codes", "--help"}} {
		out := succeeds(t, args...)
		for _, m := range exitMeanings() {
			if !strings.Contains(strings.Join(strings.Fields(out), " "), fmt.Sprintf(" %d %s run again: ", m.code, m.meaning)) {
				t.Errorf("%v does not tell of %d:\n%s", args, m.code, out)
			}
		}
	}
}

// imageShown is an image of a page.
var imageShown = regexp.MustCompile(`!\[[^\]]+\]\(([^)]+\.png)\)`)

// TestImages: every image that a page shows is there and is no larger than a reader wants
// to wait for; no image is unused.
func TestImages(t *testing.T) {
	const most = 200 << 10
	root := filepath.Join("..", "..")
	shown := make(map[string]bool)
	for _, page := range markdown(t) {
		page = filepath.Join(root, page)
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
