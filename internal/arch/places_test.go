// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

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
