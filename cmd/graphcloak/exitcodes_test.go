// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
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
	var out strings.Builder
	if execute(t.Context(), []string{"--help"}, strings.NewReader(""), &out, &out); !strings.Contains(out.String(),
		"graphcloak help exit-codes") {
		t.Errorf("the help does not name the topic:\n%s", out.String())
	}
	for _, args := range [][]string{{"help", "exit-codes"}, {"exit-codes", "--help"}} {
		out.Reset()
		if exit := execute(t.Context(), args, strings.NewReader(""), &out, &out); exit != 0 {
			t.Fatalf("%v: exit %d: %s", args, exit, out.String())
		}
		for _, m := range exitMeanings() {
			if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), fmt.Sprintf(" %d %s run again: ", m.code, m.meaning)) {
				t.Errorf("%v does not tell of %d:\n%s", args, m.code, out.String())
			}
		}
	}
}
