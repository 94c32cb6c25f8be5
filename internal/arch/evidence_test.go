// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
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

// TestPlacesOfTheMap: docs/ARCHITECTURE.md names files, and functions in them as
// `file.go: Type.Function`; each is where the page says.
func TestPlacesOfTheMap(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/ARCHITECTURE.md"))(t)
	place := regexp.MustCompile("`([\\w/]+\\.go)(?:: ([\\w.]+))?`")
	found := 0
	for _, m := range place.FindAllStringSubmatch(strings.Join(strings.Fields(string(page)), " "), -1) {
		found++
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", m[1]), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", m[0], err)
		} else if m[2] != "" && !declares(f, m[2]) {
			t.Errorf("%s: there is no such function in it", m[0])
		}
	}
	if found < 30 {
		t.Errorf("the page names %d places", found)
	}
}

// declares reports whether a file declares a function, or a method as Type.Method.
func declares(f *ast.File, name string) bool {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		full := fn.Name.Name
		if fn.Recv != nil {
			of := fn.Recv.List[0].Type
			if p, ok := of.(*ast.StarExpr); ok {
				of = p.X
			}
			if id, ok := of.(*ast.Ident); ok {
				full = id.Name + "." + full
			}
		}
		if full == name {
			return true
		}
	}
	return false
}
