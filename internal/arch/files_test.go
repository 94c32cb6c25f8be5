// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFilesFormNoCircle: in these packages a file uses only what files below it declare,
// so that each can be read from the bottom up.
func TestFilesFormNoCircle(t *testing.T) {
	for _, pkg := range []string{root, "analyst", "study"} {
		files := uses(t, filepath.Join("../..", pkg))
		if len(files) < 4 {
			t.Errorf("%s: only %d files", pkg, len(files))
		}
		for len(files) > 0 {
			free := slices.Collect(maps.Keys(files))
			free = slices.DeleteFunc(free, func(f string) bool { return len(files[f]) > 0 })
			if len(free) == 0 {
				for f, used := range files {
					t.Errorf("%s: %s uses %v, in a circle or above one", pkg, f, slices.Sorted(maps.Keys(used)))
				}
				break
			}
			for _, f := range free {
				delete(files, f)
				for _, used := range files {
					delete(used, f)
				}
			}
		}
	}
}

// uses returns, for each file of a package, the other files whose functions, methods,
// types, variables and constants it names.
func uses(t *testing.T, dir string) map[string]map[string]bool {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	// Imports are left empty: what the package itself declares is resolved without them.
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	conf := types.Config{Importer: empty{}, Error: func(error) {}}
	pkg, _ := conf.Check(dir, fset, files, info) // the errors are those of empty imports
	graph := make(map[string]map[string]bool)
	for _, f := range files {
		graph[filepath.Base(fset.Position(f.Pos()).Filename)] = make(map[string]bool)
	}
	for id, object := range info.Uses {
		from, to := filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(object.Pos()).Filename)
		if object.Pkg() == pkg && from != to {
			if v, ok := object.(*types.Var); !ok || !v.IsField() {
				graph[from][to] = true
			}
		}
	}
	return graph
}

// empty imports packages that declare nothing.
type empty struct{}

func (empty) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
	p.MarkComplete()
	return p, nil
}
