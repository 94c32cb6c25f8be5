// SPDX-License-Identifier: Apache-2.0

// Package arch holds the architecture's import table as a test. It parses the
// files itself: a test that asks "go list" is answered from the test cache.
package arch

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

const module = "github.com/graphcloak/graphcloak"

// row says what of ours a package may import. A package X/internal/Y belongs to
// the row of X, and a row "X/…" holds for everything below X.
type row struct {
	layer   int
	imports []string // "*": everything of a lower layer
	kit     bool     // for tests only
}

// root stands for the package in the module's root.
const root = "."

var table = map[string]row{
	"graph":           {layer: 0},
	"expm/tau":        {layer: 0},
	"laplacian/linop": {layer: 0, imports: []string{"internal/dense", "internal/parallel"}},

	"internal/dense":      {layer: 0, imports: []string{"internal/parallel"}},
	"internal/parallel":   {layer: 0},
	"internal/suggest":    {layer: 0},
	"internal/strictjson": {layer: 0, imports: []string{"internal/parallel"}},

	"laplacian":            {layer: 1, imports: []string{"graph", "internal/parallel"}},
	"laplacian/response":   {layer: 1, imports: []string{"graph", "laplacian/linop"}},
	"community":            {layer: 1, imports: []string{"graph", "internal/parallel"}},
	"graph/emd":            {layer: 1, imports: []string{"graph"}},
	"graph/snapshot":       {layer: 3, imports: []string{"graph", "internal/disk", "internal/strictjson"}},
	"privacy":              {layer: 1, imports: []string{"graph", "expm/tau", "internal/strictjson", "internal/parallel"}},
	"expm":                 {layer: 1, imports: []string{"laplacian/linop", "internal/dense", "internal/parallel"}},
	"recovery/measurement": {layer: 1, imports: []string{"laplacian/linop", "internal/parallel"}},

	"privacy/limit":      {layer: 2, imports: []string{"graph", "graph/emd", "internal/parallel"}},
	"recovery/posterior": {layer: 2, imports: []string{"laplacian/linop", "recovery/measurement", "internal/dense", "internal/parallel"}},
	"recovery":           {layer: 2, imports: []string{"laplacian/linop", "recovery/measurement", "internal/dense", "internal/parallel"}},

	"recovery/whisper": {layer: 2, imports: []string{"graph", "recovery/posterior", "internal/parallel"}},

	"privacy/document": {layer: 2, imports: []string{"privacy", "internal/strictjson", "internal/parallel"}},
	"privacy/audit":    {layer: 2, imports: []string{"graph", "privacy", "privacy/answer"}},
	"privacy/answer":   {layer: 2, imports: []string{"graph", "privacy", "internal/strictjson"}},

	"report": {layer: 2, imports: []string{"graph", "community", "privacy", "privacy/answer"}},
	"privacy/sensitivity": {
		layer:   2,
		imports: []string{"graph", "laplacian/linop", "laplacian", "expm", "expm/tau", "internal/dense", "internal/parallel"},
	},
	"study/inspect": {
		layer:   2,
		imports: []string{"privacy/sensitivity", "graph", "laplacian/linop", "laplacian", "expm", "internal/dense", "internal/parallel"},
	},
	"privacy/allocation": {
		layer:   2,
		imports: []string{"privacy/sensitivity", "graph", "laplacian/linop", "laplacian", "expm", "internal/parallel"},
	},
	"analyst": {
		layer: 2,
		imports: []string{
			"report", "privacy", "community", "recovery/measurement", "recovery/posterior", "recovery", "graph",
			"laplacian/linop", "laplacian", "laplacian/response", "expm", "expm/tau", "internal/parallel",
		},
	},

	"plan":            {layer: 3, imports: []string{"*", "internal/memory"}},
	"run":             {layer: 3, imports: []string{"plan", "*", "internal/disk"}},
	root:              {layer: 3, imports: []string{"plan", "run", "report"}},
	"study/simulate":  {layer: 3, imports: []string{"plan", "*"}},
	"study":           {layer: 3, imports: []string{"plan", "run", "*", "study/simulate", "internal/memory"}},
	"internal/memory": {layer: 3},
	"report/page":     {layer: 3, imports: []string{"graph", "privacy", "report"}},
	"study/advice":    {layer: 3, imports: []string{"graph", "report", "connector"}},
	"connector":       {layer: 3, imports: []string{"graph", "privacy", "report", "jobs", "internal/suggest"}},
	"connector/neo4j": {
		layer:   3,
		imports: []string{"graph", "privacy", "report", "jobs", "connector", "connector/folder", "graph/snapshot", "internal/strictjson"},
	},
	"connector/folder": {
		layer: 3,
		imports: []string{
			"graph", "graph/snapshot", "privacy", "report", "jobs", "connector", "internal/columnar", "internal/disk",
			"internal/database", "internal/strictjson",
		},
	},
	"connector/operatorfile": {layer: 3, imports: []string{"graph", "laplacian/response", "internal/columnar", "internal/disk"}},

	"connector/memory":  {layer: 3, imports: []string{"graph", "privacy", "report", "jobs", "connector"}},
	"connector/builtin": {layer: 3, imports: []string{"graph", "privacy", "report", "internal/disk", "internal/suggest"}},
	// graph for the ids of sensors
	"privacy/highwater": {layer: 3, imports: []string{"graph", "privacy", "internal/disk", "internal/strictjson"}},
	"privacy/sensor": {
		layer:   3,
		imports: []string{"graph", "privacy", "privacy/answer", "internal/disk", "internal/database", "internal/strictjson"},
	},
	"config":            {layer: 3, imports: []string{"expm/tau", "internal/disk", "internal/strictjson", "internal/suggest"}},
	"internal/disk":     {layer: 3},
	"internal/columnar": {layer: 3},
	"jobs":              {layer: 3},
	"jobs/serve":        {layer: 3, imports: []string{"jobs", "privacy", "report", "internal/disk"}},
	"internal/database": {layer: 3, imports: []string{"internal/disk"}},

	"cmd/graphcloak":               {layer: 4, imports: []string{root, "*", "cmd/graphcloak/internal/term"}},
	"cmd/graphcloak/internal/term": {layer: 3, imports: []string{"internal/columnar", "internal/strictjson"}},
	"integration":                  {layer: 4, imports: []string{root, "*"}},
	"bench/…":                      {layer: 4}, // a module of its own
	"packaging/…":                  {layer: 4}, // a module of its own
	"python":                       {layer: 4}, // tests that run the program
	// Test kits: only tests, and the other kits named, import them.
	"internal/testgraph": {layer: 0, imports: []string{"graph"}},
	"internal/testkit": {
		layer: 3,
		imports: []string{
			root, "run", "plan", "graph", "privacy", "community", "expm/tau", "connector/builtin", "connector/folder", "internal/must",
		},
		kit: true,
	},
	"internal/faultproxy":   {layer: 3, kit: true},
	"internal/documented":   {layer: 3, kit: true},
	"internal/lockedbuffer": {layer: 0, kit: true},
	"internal/must":         {layer: 0, kit: true},
	"privacy/ledgertest":    {layer: 1, imports: []string{"graph", "privacy"}, kit: true},
	"connector/storetest": {
		layer: 3, imports: []string{"plan", "run", "graph", "privacy", "report", "jobs", "connector", "privacy/ledgertest"},
		kit: true,
	},

	"internal/arch": {layer: 4},
}

// reserved says which packages alone may import a module, in tests too.
var reserved = map[string][]string{
	"github.com/neo4j/neo4j-go-driver": {"connector/neo4j", "integration"},
	"github.com/spf13/viper":           {"config"},
	"github.com/spf13/pflag":           {"config", "cmd/graphcloak"}, // cobra's flags are pflag's
	"github.com/spf13/cobra":           {"cmd/graphcloak"},
	"github.com/go-json-experiment":    {"internal/strictjson"},
	"github.com/prometheus":            {"jobs/serve", "packaging/…"},
	"github.com/parquet-go":            {"internal/columnar", "connector/operatorfile", "cmd/graphcloak"},
}

// outside is what layers 0 to 2 must not import: they compute, and report facts.
var outside = []string{"os", "net", "log", "syscall"}

// lookup returns the key of the row that holds for a package.
func lookup(pkg string) (string, bool) {
	pkg, _, _ = strings.Cut(pkg, "/internal/")
	if _, ok := table[pkg]; ok {
		return pkg, true
	}
	for dir := pkg; dir != "."; dir = path.Dir(dir) {
		if _, ok := table[dir+"/…"]; ok {
			return dir + "/…", true
		}
	}
	return "", false
}

// forbidden says why a file of pkg may not import what, or returns ""; a file
// apart is a test or not linked into the package.
func forbidden(pkg string, apart bool, what string) string {
	key, ok := lookup(pkg)
	if !ok {
		return "its package is not in the table of internal/arch"
	}
	for prefix, who := range reserved {
		if within(what, prefix) && !slices.Contains(who, key) {
			return "only " + strings.Join(who, ", ") + " may"
		}
	}
	ours, isOurs := own(what)
	if !isOurs {
		if table[key].layer <= 2 && !apart {
			for _, prefix := range outside {
				if within(what, prefix) {
					return "layers 0 to 2 may not"
				}
			}
		}
		return ""
	}
	target, ok := lookup(ours)
	switch {
	case !ok:
		return "it is not in the table of internal/arch"
	case target == key, slices.Contains(table[key].imports, target):
		return ""
	case table[target].kit:
		if apart {
			return ""
		}
		return "only tests may"
	case slices.Contains(table[key].imports, "*") && table[target].layer < table[key].layer:
		return ""
	case apart && table[target].layer <= max(2, table[key].layer):
		return "" // a test may use any oracle that is not above its package
	}
	return "the table does not allow it"
}

func within(what, prefix string) bool { return what == prefix || strings.HasPrefix(what, prefix+"/") }

// own returns the folder of a package of this module.
func own(importPath string) (string, bool) {
	if importPath == module {
		return root, true
	}
	return strings.CutPrefix(importPath, module+"/")
}

func TestImports(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("../..", name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			return skip(name, rel, d.Name())
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		files++
		for _, p := range check(t, name, path.Dir(rel)) {
			t.Errorf("%s %s", rel, p)
		}
		return nil
	})
	must.Do(t, err)
	if files < 20 {
		t.Errorf("only %d files: is this the module's root?", files)
	}
}

// skip leaves out folders that are no part of the module.
func skip(name, rel, base string) error {
	if rel == "." {
		return nil
	}
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

// check returns what is wrong with the imports of one file.
func check(t *testing.T, name, pkg string) (problems []string) {
	t.Helper()
	f := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly))(t)
	if _, ok := lookup(pkg); !ok {
		return []string{"is in a package that the table does not hold"}
	}
	// Tests, and commands that write a package's tables, are not linked into it.
	apart := strings.HasSuffix(name, "_test.go") || strings.Contains(pkg, "/internal/") && f.Name.Name == "main"
	for _, spec := range f.Imports {
		what := must.Get(strconv.Unquote(spec.Path.Value))(t)
		if why := forbidden(pkg, apart, what); why != "" {
			problems = append(problems, fmt.Sprintf("imports %s: %s", what, why))
		}
	}
	return problems
}

// Every row speaks of a package that is there, and so does every module that is
// reserved.
func TestRows(t *testing.T) {
	for key, r := range table {
		dir, below := strings.CutSuffix(key, "/…")
		found := false
		_ = filepath.WalkDir(filepath.Join("../..", dir), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && !below && name != filepath.Join("../..", dir) {
				return fs.SkipDir
			}
			found = found || strings.HasSuffix(name, ".go")
			return nil
		})
		if !found {
			t.Errorf("the row of %q has no package", key)
		}
		for _, i := range r.imports {
			if _, ok := table[i]; !ok && i != "*" {
				t.Errorf("the row of %q allows %q, which has no row", key, i)
			}
		}
	}
	mod := must.Get(os.ReadFile("../../go.mod"))(t)
	for prefix := range reserved {
		if !strings.Contains(string(mod), prefix) {
			t.Errorf("%s is reserved and not required", prefix)
		}
	}
}

// The rules refuse what they are there to refuse.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		pkg  string
		test bool
		what string
		ok   bool
	}{
		{"graph", false, "fmt", true},
		{"graph", false, "os", false},
		{"graph", true, "os", true},
		{"privacy", false, "log/slog", false},
		{"privacy", false, "net/http", false},
		{"report", false, "os", false},
		{"report", false, "html/template", true},
		{"privacy/sensor", false, "os", true},
		{"graph", false, module + "/laplacian/linop", false},
		{"graph", true, module + "/laplacian/linop", true},
		{"graph", true, module + "/connector", false},
		{"recovery", false, module + "/laplacian/linop", true},
		{"recovery", false, module + "/privacy", false},
		{"recovery", false, module + "/recovery/posterior", false},
		{"recovery/posterior", false, module + "/recovery", false},
		{"laplacian", false, module + "/laplacian/linop", false},
		{"privacy/sensitivity", false, module + "/expm", true},
		{"privacy/sensitivity", false, module + "/recovery", false},
		{"privacy/internal/normal", false, module + "/graph", true},
		{"privacy/internal/normal", false, module + "/recovery", false},
		{"privacy", false, module + "/privacy/internal/normal", true},
		{root, false, module + "/report", true},
		{"run", false, module + "/connector", false},
		{"run", true, module + "/connector/folder", true},
		{"plan", false, module + "/run", false},
		{"study", false, module, false},
		{"config", false, module, false},
		{"privacy", false, module + "/internal/strictjson", true},
		{"privacy", false, "github.com/go-json-experiment/json", false},
		{"cmd/graphcloak", false, module, true},
		{"cmd/graphcloak", false, module + "/connector/builtin", true},
		{"graph/emd", true, module + "/internal/testgraph", true},
		{"graph/emd", false, module + "/internal/testgraph", false},
		{"connector/neo4j", false, "github.com/neo4j/neo4j-go-driver/v5/neo4j", true},
		{"connector", false, "github.com/neo4j/neo4j-go-driver/v5/neo4j", false},
		{"connector/folder", false, "github.com/neo4j/neo4j-go-driver/v5/neo4j", false},
		{"cmd/graphcloak", true, "github.com/neo4j/neo4j-go-driver/v5/neo4j", false},
		{"config", false, "github.com/spf13/viper", true},
		{"cmd/graphcloak", false, "github.com/spf13/viper", false},
		{"cmd/graphcloak", false, "github.com/spf13/pflag", true},
		{"privacy/sensor", false, "github.com/spf13/pflag", false},
		{"cmd/graphcloak", false, "github.com/spf13/cobra", true},
		{"config", false, "github.com/spf13/cobra", false},
		{"utils", false, "fmt", false},
		{"graph", false, module + "/utils", false},
	} {
		if why := forbidden(c.pkg, c.test, c.what); (why == "") != c.ok {
			t.Errorf("%s (test: %v) imports %s: %q, want allowed: %v", c.pkg, c.test, c.what, why, c.ok)
		}
	}
}
