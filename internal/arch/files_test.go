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

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestFilesFormNoCircle: a file uses only what files below it declare, so that a package can
// be read from the bottom up.
func TestFilesFormNoCircle(t *testing.T) {
	for pkg := range table {
		if strings.HasSuffix(pkg, "/…") {
			continue
		}
		circle := above(above(uses(t, pkg)))
		for _, f := range slices.Sorted(maps.Keys(circle)) {
			t.Errorf("%s: %s is in a circle with %v", pkg, f, slices.Sorted(maps.Keys(circle[f])))
		}
	}
	if len(uses(t, "plan")) < 4 {
		t.Error("the files of plan were not found")
	}
}

// above removes, again and again, the files that use no other, and returns what is left
// with its arrows turned round.
func above(files map[string]map[string]bool) map[string]map[string]bool {
	turned := make(map[string]map[string]bool)
	for {
		free := slices.DeleteFunc(slices.Collect(maps.Keys(files)), func(f string) bool { return len(files[f]) > 0 })
		if len(free) == 0 {
			break
		}
		for _, f := range free {
			delete(files, f)
			for _, used := range files {
				delete(used, f)
			}
		}
	}
	for f := range files {
		turned[f] = make(map[string]bool)
	}
	for f, used := range files {
		for u := range used {
			turned[u][f] = true
		}
	}
	return turned
}

// uses returns, for each file of a package, the other files whose functions, methods,
// types, variables and constants it names.
func uses(t *testing.T, pkg string) map[string]map[string]bool {
	t.Helper()
	// Imports are left empty: what the package itself declares is resolved without them.
	c := typeCheck(t, pkg, empty{})
	graph := make(map[string]map[string]bool)
	for _, f := range c.files {
		graph[c.file(f.Pos())] = make(map[string]bool)
	}
	for id, object := range c.info.Uses {
		if from, to := c.file(id.Pos()), c.file(object.Pos()); object.Pkg() == c.pkg && from != to {
			if v, ok := object.(*types.Var); !ok || !v.IsField() {
				graph[from][to] = true
			}
		}
	}
	return graph
}

// checked is a package that was type-checked as far as its imports are known.
type checked struct {
	fset  *token.FileSet
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
}

// file returns the name of the file that holds a position.
func (c checked) file(pos token.Pos) string { return filepath.Base(c.fset.Position(pos).Filename) }

// typeCheck type-checks the files of one package of this module, tests apart.
func typeCheck(t *testing.T, pkg string, imports types.Importer) checked {
	t.Helper()
	names := must.Get(filepath.Glob(filepath.Join("../..", pkg, "*.go")))(t)
	c := checked{fset: token.NewFileSet(), info: &types.Info{
		Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object),
	}}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f := must.Get(parser.ParseFile(c.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution))(t)
		c.files = append(c.files, f)
	}
	path := module
	if pkg != root {
		path += "/" + pkg
	}
	conf := types.Config{Importer: imports, Error: func(error) {}}
	c.pkg, _ = conf.Check(path, c.fset, c.files, c.info) // the errors are those of empty imports
	return c
}

// empty imports packages that declare nothing.
type empty struct{}

func (empty) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
	p.MarkComplete()
	return p, nil
}
