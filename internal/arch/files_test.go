// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

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

// maxColumns bounds a line of Go; a tab counts as four.
const maxColumns = 140

// TestLinesFit: no line is longer than maxColumns, but in a raw string, whose text is as it is.
func TestLinesFit(t *testing.T) {
	lines := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		raw := rawLines(src)
		for k, line := range strings.Split(string(src), "\n") {
			lines++
			if n := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t"); n > maxColumns && !raw[k+1] {
				t.Errorf("%s:%d has %d columns", strings.TrimPrefix(path, "../../"), k+1, n)
			}
		}
		return nil
	})
	must.Do(t, err)
	if lines < 50_000 {
		t.Errorf("%d lines were read", lines)
	}
}

// rawLines are the lines, from 1, on which a raw string stands.
func rawLines(src []byte) map[int]bool {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	raw := make(map[int]bool)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return raw
		}
		if tok == token.STRING && text[0] == '`' {
			for k := range strings.Count(text, "\n") + 1 {
				raw[file.Line(pos)+k] = true
			}
		}
	}
}

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
