// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSentinelsAreNamed: the comment of an exported function names each error that a
// caller can ask for with errors.Is and that the function can return, or links to a
// function whose comment does. Calls are followed through the module, except those of
// interfaces and function values.
func TestSentinelsAreNamed(t *testing.T) {
	m := newProgram(t)
	for _, pkg := range []string{
		root, "analyst", "study", "privacy", "privacy/sensitivity", "privacy/allocation", "connector", "connector/neo4j",
		"connector/folder",
	} {
		m.load(pkg)
		if len(m.funcs[pkg]) == 0 {
			t.Errorf("%s has no function", pkg)
		}
		for _, f := range m.funcs[pkg] {
			if !f.public() {
				continue
			}
			missing := m.returns(f)
			for name := range m.named(f) {
				delete(missing, name)
			}
			if len(missing) > 0 {
				t.Errorf("the comment of %s does not name %v", strings.ReplaceAll(f.object.FullName(), module, ""),
					slices.Sorted(maps.Keys(missing)))
			}
		}
	}
}

// function is what is known of a declared function.
type function struct {
	object  *types.Func
	doc     string
	calls   []*types.Func
	raises  map[string]bool // sentinels that its body names, but for those that it asks for
	handles map[string]bool // sentinels that it asks for with errors.Is
}

// public reports whether other packages can call the function and get an error.
func (f *function) public() bool {
	s := f.object.Signature()
	if !f.object.Exported() || s.Results().Len() == 0 {
		return false
	}
	if recv := s.Recv(); recv != nil {
		of := recv.Type()
		if p, ok := of.(*types.Pointer); ok {
			of = p.Elem()
		}
		if named, ok := of.(*types.Named); !ok || !named.Obj().Exported() {
			return false
		}
	}
	return s.Results().At(s.Results().Len()-1).Type().String() == "error"
}

// program type-checks packages of this module from their files; what they import from
// elsewhere is left empty.
type program struct {
	*testing.T
	packages map[string]*types.Package
	funcs    map[string][]*function
	known    map[*types.Func]*function
	done     map[*types.Func]map[string]bool
	aliases  map[types.Object]string
}

func newProgram(t *testing.T) *program {
	return &program{
		T: t, packages: make(map[string]*types.Package), funcs: make(map[string][]*function),
		known: make(map[*types.Func]*function), done: make(map[*types.Func]map[string]bool), aliases: make(map[types.Object]string),
	}
}

// Import implements types.Importer.
func (m *program) Import(name string) (*types.Package, error) {
	if pkg, ours := own(name); ours {
		m.load(pkg)
		return m.packages[pkg], nil
	}
	return empty{}.Import(name)
}

func (m *program) load(pkg string) {
	if m.packages[pkg] != nil {
		return
	}
	checked := typeCheck(m.T, pkg, m)
	m.packages[pkg] = checked.pkg
	for _, file := range checked.files {
		m.alias(file, checked.info)
	}
	for _, file := range checked.files {
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				f := m.describe(d, checked.info)
				if f.object == nil { // one system's of several functions with a name
					continue
				}
				m.funcs[pkg], m.known[f.object] = append(m.funcs[pkg], f), f
			}
		}
	}
}

// alias takes var ErrX = other.ErrY for what it is: one error under two names.
func (m *program) alias(file *ast.File, info *types.Info) {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && len(v.Names) == 1 && len(v.Values) == 1 {
				if first := m.sentinel(v.Values[0], info); first != "" {
					m.aliases[info.Defs[v.Names[0]]] = first
				}
			}
		}
	}
}

// describe reads one declaration.
func (m *program) describe(d *ast.FuncDecl, info *types.Info) *function {
	f := &function{raises: make(map[string]bool), handles: make(map[string]bool), doc: d.Doc.Text()}
	f.object, _ = info.Defs[d.Name].(*types.Func)
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Is" && len(n.Args) == 2 {
				if name := m.sentinel(n.Args[1], info); name != "" {
					f.handles[name] = true
					return false
				}
			}
		case *ast.Ident:
			if called, ok := info.Uses[n].(*types.Func); ok {
				f.calls = append(f.calls, called)
			}
			if name := m.sentinel(n, info); name != "" {
				f.raises[name] = true
			}
		}
		return true
	})
	return f
}

// sentinel returns the name of the exported error that an expression names, with its
// package; "" for none, and for one of an internal package.
func (m *program) sentinel(e ast.Expr, info *types.Info) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		e = s.Sel
	}
	id, ok := e.(*ast.Ident)
	if !ok {
		return ""
	}
	v, ok := info.Uses[id].(*types.Var)
	if !ok || v.IsField() || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() || !strings.HasPrefix(v.Name(), "Err") {
		return ""
	}
	if strings.Contains(v.Pkg().Path(), "internal/") {
		return ""
	}
	if first, ok := m.aliases[v]; ok {
		return first
	}
	return path.Base(v.Pkg().Path()) + "." + v.Name()
}

// returns lists the sentinels that a function can return.
func (m *program) returns(f *function) map[string]bool {
	if known, ok := m.done[f.object]; ok {
		return maps.Clone(known)
	}
	found := maps.Clone(f.raises)
	m.done[f.object] = found // a circle of calls adds nothing of its own
	for _, called := range f.calls {
		if g := m.known[called.Origin()]; g != nil {
			for name := range m.returns(g) {
				if !f.handles[name] {
					found[name] = true
				}
			}
		}
	}
	return maps.Clone(found)
}

var link = regexp.MustCompile(`\[([\w.]+)\]|\b(Err\w+)`)

// named lists the sentinels that a comment names, and those of the functions that it
// links to.
func (m *program) named(f *function) map[string]bool {
	found := make(map[string]bool)
	m.follow(f, found, make(map[*function]bool))
	return found
}

func (m *program) follow(f *function, found map[string]bool, seen map[*function]bool) {
	if seen[f] {
		return
	}
	seen[f] = true
	own := path.Base(f.object.Pkg().Path())
	for _, match := range link.FindAllStringSubmatch(f.doc, -1) {
		name := match[1] + match[2]
		if !strings.Contains(name, ".") || !strings.Contains(name, "Err") {
			found[own+"."+name] = true
		}
		found[name] = true
		for object, first := range m.aliases {
			if path.Base(object.Pkg().Path())+"."+object.Name() == name || object.Pkg() == f.object.Pkg() && object.Name() == name {
				found[first] = true
			}
		}
		for g := range m.linked(f, name) {
			m.follow(g, found, seen)
		}
	}
}

// linked returns the functions that a link in the comment of f may mean.
func (m *program) linked(f *function, name string) map[*function]bool {
	found := make(map[*function]bool)
	for object, g := range m.known {
		local := object.Name()
		if recv := object.Signature().Recv(); recv != nil {
			local = strings.TrimLeft(types.TypeString(recv.Type(), func(*types.Package) string { return "" }), "*") + "." + local
		}
		if object.Pkg() == f.object.Pkg() && local == name || path.Base(object.Pkg().Path())+"."+local == name {
			found[g] = true
		}
	}
	return found
}
