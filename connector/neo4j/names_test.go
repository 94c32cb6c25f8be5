// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/must"
)

// hostile are names that have ended a quotation, or look as if they could.
var hostile = []string{
	"", "Person", "a`b", "``", "`", `\`, `\\`, `\u0060`, `\\u0060`, `\\\u0060`, `\uuu0060`, `\U00000060`, `\u005Cu0060`, `\u005c\u0060`,
	`x\u0060 WITH count(n) AS k CALL () { MATCH (v:Victim) DETACH DELETE v } RETURN k //`,
	"\\`u0060", `\u00`, `\uZZZZ`, "tail\\", "\u02cb\uff40\u1fef\u0060", "a\nb\r\tc", "\u2028\u0085\ufeff\u200b", "😀`\\u0060", "\x1b[2J",
	"$name0", "*/ //", "'\"",
}

// unescape is what the server does before it looks for words: \u and four digits
// become a character. Where pairs is set, a backslash behind another one is only
// a backslash, as since 5.24; before, each one counts.
func unescape(text string, pairs bool) (string, error) {
	var out strings.Builder
	for k := 0; k < len(text); k++ {
		if text[k] != '\\' {
			out.WriteByte(text[k])
			continue
		}
		if pairs && strings.HasPrefix(text[k+1:], `\`) {
			out.WriteString(`\\`)
			k++
			continue
		}
		if !strings.HasPrefix(text[k+1:], "u") {
			out.WriteByte('\\')
			continue
		}
		if len(text) < k+6 {
			return "", errors.New("the escape is cut off")
		}
		code, err := strconv.ParseUint(text[k+2:k+6], 16, 16)
		if err != nil {
			return "", err
		}
		out.WriteRune(rune(code))
		k += 5
	}
	return out.String(), nil
}

// readName reads the quoted name that text begins with, and what follows it.
func readName(text string) (name, rest string, ok bool) {
	text, ok = strings.CutPrefix(text, "`")
	for ok {
		before, after, closed := strings.Cut(text, "`")
		if name += before; !closed {
			return name, "", false
		}
		if text, ok = strings.CutPrefix(after, "`"); !ok {
			return name, after, true
		}
		name += "`"
	}
	return "", text, false
}

// FuzzQuote holds Quote against a reader of its own: the name comes back, and
// nothing is left that would be read as Cypher.
func FuzzQuote(f *testing.F) {
	for _, name := range hostile {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		want := strings.ToValidUTF8(name, "\uFFFD")
		for _, pairs := range []bool{true, false} {
			text, err := unescape(Quote(name)+" RETURN", pairs)
			if err != nil {
				t.Fatalf("%q: %v", name, err)
			}
			got, rest, ok := readName(text)
			if !ok || got != want || rest != " RETURN" || !utf8.ValidString(text) {
				t.Errorf("%q (pairs: %v) is written %s and read as %q, with %q behind it", name, pairs, Quote(name), got, rest)
			}
		}
	})
}

func TestQuoteAll(t *testing.T) {
	if got := quoteAll([]string{"A", "B`"}); got != ":`A`|`B```" {
		t.Errorf("two labels: %s", got)
	}
	if got := quoteAll(nil); got != "" {
		t.Errorf("no label: %s", got)
	}
}

// A name that the server takes as a value is not in the text.
func TestNaming(t *testing.T) {
	const name = "x` RETURN 1 //"
	n := naming{}
	if text := n.property("n", name) + n.property("n", ""); strings.Contains(string(text), "`") {
		t.Errorf("%s holds a name", text)
	}
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"Person": true, `\u0060`: true, "a`b": true, "": false, "a\x00": false, "\xff": false,
		"\xed\xa0\x80": false,
	} {
		if err := checkName("label", name); (err == nil) != ok || err != nil && !errors.Is(err, connector.ErrInput) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Statements are of type cypher, which only constants become by themselves. What is
// turned into it is what this package has quoted, a number, or the user's own query;
// and one function hands statements to the driver.
func TestOnlyQuotedNames(t *testing.T) {
	files := must.Get(filepath.Glob("*.go"))(t)
	conversions, runs := map[string]int{}, map[string]int{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch f := call.Fun.(type) {
			case *ast.Ident:
				if f.Name != "cypher" {
					return true
				}
				if _, literal := call.Args[0].(*ast.BasicLit); !literal {
					conversions[name]++
				}
			case *ast.SelectorExpr:
				if slices.Contains([]string{"Run", "ExecuteQuery", "ExecuteRead", "ExecuteWrite"}, f.Sel.Name) {
					runs[name]++
				}
			}
			return true
		})
	}
	if want := map[string]int{"names.go": 2, "query.go": 2}; !maps.Equal(conversions, want) {
		t.Errorf("text becomes a statement in %v, want %v", conversions, want)
	}
	if want := map[string]int{"transaction.go": 1, "undo.go": 1 /* the store's own Run */}; !maps.Equal(runs, want) {
		t.Errorf("statements are handed to the driver in %v, want %v", runs, want)
	}
}

// What the text of a query may hide from its plan is found in the text.
func TestCheckText(t *testing.T) {
	for text, allowed := range map[string]bool{
		"MATCH (n) RETURN n AS id": true,
		"MATCH (n:CALL|CALLS)-[:CALL]->(m) WHERE n.call = $call RETURN n AS id":                      true,
		"MATCH (n) CALL (n) { RETURN 1 AS x } CALL /* x */ // y\n { RETURN 2 AS z } RETURN n AS id":  true,
		"CALL db.index.fulltext.queryNodes('t', 'heat') YIELD node RETURN node AS id":                true,
		"MATCH (n) WHERE n.csv = 1 RETURN n.load AS id":                                              true,
		"MATCH (n) WHERE n.name = '\\u00fc' RETURN n AS id":                                          true,
		"LOAD CSV FROM 'x' AS l RETURN l":                                                            false,
		"load//x\r\n/* y */csv WITH HEADERS FROM 'x' AS l RETURN l":                                  false,
		"LOAD\u00a0CSV FROM 'x' AS l RETURN l":                                                       false,
		"MATCH (n) WITH n AS `x`CALL apoc.load.json('x') YIELD value RETURN n AS id":                 false,
		"CALL/**/`apoc`.load.json('x') YIELD value RETURN value AS id":                               false,
		"OPTIONAL CALL\u2003apoc.load.json('x') YIELD value RETURN value AS id":                      false,
		"CALL // db.index.fulltext.queryNodes(\n apoc.load.json('x') YIELD value RETURN value AS id": false,
		"CALL db.index.fulltext.queryNodesEvil('x') YIELD node RETURN node AS id":                    false,
		`MATCH (n) RETURN \u0061poc.cypher.runFirstColumnSingle('x', {}) AS id`:                      false,
		`MATCH (n) RETURN n AS id \uu004c`:                                                           false,
	} {
		if err := new(Store).checkText("node query", text); (err == nil) != allowed || err != nil && !errors.Is(err, connector.ErrInput) {
			t.Errorf("%s: %v, want it allowed: %v", text, err, allowed)
		}
	}
}

// A function of a plugin is found however its name is written.
func TestMentions(t *testing.T) {
	const function = "apoc.cypher.runFirstColumnSingle"
	for text, want := range map[string]bool{
		"RETURN apoc.cypher.runFirstColumnSingle('x', {})":            true,
		"RETURN `apoc` . cypher./**/`runFirstColumnSingle` ('x', {})": true,
		"RETURN APOC.CYPHER.RUNFIRSTCOLUMNSINGLE('x', {})":            true,
		"RETURN apoc.text.join(['x'], '')":                            false,
		"MATCH (n) RETURN n":                                          false,
	} {
		if got := mentions(text, function); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
