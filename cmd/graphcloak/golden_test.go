// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/internal/must"
)

var update = flag.Bool("update", false, "write the golden files again")

// golden is a graph with the commands that are run on it, by the name of their file.
type golden struct {
	name     string
	from     func(t *testing.T) string
	commands map[string]string
}

func goldens() []golden {
	shipped := func(name string) func(*testing.T) string {
		return func(*testing.T) string { return "example:" + name }
	}
	return []golden{
		{"karate", shipped("karate"), map[string]string{
			"plan":     "plan --tau 2 --epsilon 4 --delta 0.1 --trials 100",
			"recover":  "recover --community-property club --release " + goldenPath("karate", "release"),
			"evaluate": "evaluate --tau 2 --epsilon 4 --delta 0.1 --trials 100 --source-amplitude uniform",
		}},
		{"net3", shipped("net3"), map[string]string{
			"plan":     "plan --epsilon 2 --delta 0.05 --tau 4 --trials 100",
			"recover":  "recover --sources 2 --release " + goldenPath("net3", "release"),
			"evaluate": "evaluate --tau 2 --epsilon 4 --delta 0.1 --trials 100 --allocation uniform",
		}},
		// Its sensitivity is screened by random vectors, and no two plans agree: a
		// kept one is evaluated, and held against its certificate by a dry run.
		{"minnesota", sparseMinnesota, map[string]string{
			"release-dry-run": "release --source-property source --dry-run --plan " + goldenPath("minnesota", "plan"),
			"recover": "recover --sources 1 --release " +
				goldenPath("minnesota", "release"),
			"evaluate": "evaluate --trials 20 --plan " + goldenPath("minnesota", "plan"),
		}},
	}
}

// sparseMinnesota is the road network with a sensor at every 20th crossing.
func sparseMinnesota(t *testing.T) string {
	dir, source := t.TempDir(), filepath.Join("..", "..", "examples", "data", "minnesota")
	relationships := must.Get(os.ReadFile(filepath.Join(source, "relationships.csv")))(t)
	nodes := must.Get(os.ReadFile(filepath.Join(source, "nodes.csv")))(t)
	lines := strings.Split(strings.TrimSpace(string(nodes)), "\n")
	lines[0] += ",sensor,source"
	for i := range lines[1:] {
		lines[i+1] += fmt.Sprintf(",%t,%d", i%20 == 0, map[bool]int{true: 1}[i == 1234])
	}
	writeGraph(t, dir, strings.Join(lines, "\n")+"\n", string(relationships))
	return "folder:" + dir
}

// TestGolden runs plan, recover and evaluate and holds their JSON against files. Plans
// and releases that they take are kept beside them, which no flag writes again.
//
// Choices, counts and words are compared exactly. Numbers with a fraction agree to
// 1e-9 of the larger of 1 and themselves: products that are summed by fused
// instructions differ in the last bits from those that are not.
func TestGolden(t *testing.T) {
	for _, g := range goldens() {
		t.Run(g.name, func(t *testing.T) {
			t.Setenv("HOME", t.TempDir())
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			from := g.from(t)
			for file, command := range g.commands {
				args := append(strings.Fields(command), "--quiet", "--format", "json", "--from", from)
				var stdout, stderr bytes.Buffer
				if code := execute(t.Context(), args, strings.NewReader(""), &stdout, &stderr); code != exitOK {
					t.Errorf("%q: exit %d: %s", args, code, &stderr)
					continue
				}
				compareGolden(t, goldenPath(g.name, file), stdout.Bytes())
			}
		})
	}
}

func goldenPath(name, command string) string {
	return filepath.Join("testdata", "golden", name+"."+command+".json")
}

func compareGolden(t *testing.T, path string, data []byte) {
	t.Helper()
	got := essence(t, data)
	if *update {
		text, err := json.MarshalIndent(got, "", " ")
		if err == nil {
			err = os.WriteFile(path, append(text, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	text := must.Get(os.ReadFile(path))(t)
	want := essence(t, text)
	var differences []string
	differ("", got, want, &differences)
	if len(differences) > 0 {
		t.Errorf("%s: %d differences, the first: %s", path, len(differences), strings.Join(differences[:min(8, len(differences))], "\n"))
	}
}

// passing are fields that no two runs share: times, ids, places and random seeds.
var passing = []string{"runId", "startedAt", "version", "store", "sensitivitySeed", "documentDigest", "configuration"}

// essence is a document without what passes.
func essence(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	must.Do(t, d.Decode(&v))
	return distilled(v)
}

// distilled drops what passes, and keeps some fifty elements of a long list and their
// number.
func distilled(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, field := range v {
			if slices.Contains(passing, key) || strings.HasSuffix(key, "Millis") {
				delete(v, key)
				continue
			}
			v[key] = distilled(field)
		}
	case []any:
		for i := range v {
			v[i] = distilled(v[i])
		}
		const most = 50
		if len(v) <= 2*most {
			return v
		}
		thinned := map[string]any{"length": json.Number(fmt.Sprint(len(v)))}
		for i := 0; i < len(v); i += len(v) / most {
			thinned[fmt.Sprint(i)] = v[i]
		}
		return thinned
	}
	return v
}

// differ appends the places where two documents differ.
func differ(at string, got, want any, list *[]string) {
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, key := range keysOf(g, want) {
			differ(at+"/"+key, g[key], want[key], list)
		}
		return
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(want) {
			break
		}
		for i := range want {
			differ(fmt.Sprintf("%s/%d", at, i), g[i], want[i], list)
		}
		return
	case json.Number:
		if g, ok := got.(json.Number); ok && near(g, want) {
			return
		}
	default:
		if got == want {
			return
		}
	}
	*list = append(*list, fmt.Sprintf("%s is %v, want %v", cmp.Or(at, "/"), got, want))
}

// keysOf lists the keys of both, ascending.
func keysOf(a, b map[string]any) []string {
	var keys []string
	for _, m := range []map[string]any{a, b} {
		for key := range m {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// near compares whole numbers exactly and others to 1e-9.
func near(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, err := a.Float64()
	y, err2 := b.Float64()
	if err != nil || err2 != nil || x == math.Trunc(x) && y == math.Trunc(y) {
		return false
	}
	return math.Abs(x-y) <= 1e-9*max(1, math.Abs(x), math.Abs(y))
}

// TestGoldenHelp holds the help of every command against a file, and finds the files
// of commands that are gone. A group of flags that reads alike in several commands
// stands in one file of its own.
func TestGoldenHelp(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := filepath.Join("testdata", "golden", "help")
	gone := make(map[string]bool)
	files := must.Get(filepath.Glob(filepath.Join(dir, "*.txt")))(t)
	for _, f := range files {
		gone[f] = true
	}
	app := newApp(nil, strings.NewReader(""), new(bytes.Buffer), new(bytes.Buffer))
	groups := make(map[string]string)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		words := strings.Fields(cmd.CommandPath())[1:]
		path := filepath.Join(dir, strings.Join(append([]string{"graphcloak"}, words...), "-"))
		short, long := helpOf(t, append(words, "--help")), helpOf(t, append(words, "--help-all"))
		fitsAScreen(t, cmd.CommandPath(), short)
		compareText(t, path+".txt", withoutGroups(short, groups))
		delete(gone, path+".txt")
		if long != short {
			compareText(t, path+".all.txt", withoutGroups(long, groups))
			delete(gone, path+".all.txt")
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRootCommand(app))
	path := filepath.Join(dir, "groups.txt")
	var all strings.Builder
	for _, title := range slices.Sorted(maps.Keys(groups)) {
		all.WriteString(groups[title])
	}
	compareText(t, path, all.String())
	delete(gone, path)
	for path := range gone {
		if *update {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
			continue
		}
		t.Errorf("%s is the help of no command", path)
	}
}

// TestFlagsOfRun counts what `run --help-all` lists beside the three flags of answers.
func TestFlagsOfRun(t *testing.T) {
	_, flags, _ := strings.Cut(helpOf(t, []string{"run", "--help-all"}), "\nUsage:") // behind the examples
	n := len(regexp.MustCompile(`(?m)^  (    |-., )--`).FindAllString(flags, -1))
	const ofAnswers = 3
	if n < 40 || n > 56+ofAnswers { // 55, and a given operator
		t.Errorf("run has %d flags, at most %d are wanted", n, 56+ofAnswers)
	}
}

// helpOf is what a screen of 80 columns shows.
func helpOf(t *testing.T, args []string) string {
	t.Helper()
	t.Setenv("COLUMNS", "80")
	var stdout, stderr bytes.Buffer
	if code := execute(t.Context(), args, strings.NewReader(""), &stdout, &stderr); code != exitOK {
		t.Errorf("%q: exit %d: %s", args, code, &stderr)
	}
	return stdout.String()
}

// fitsAScreen refuses a help that is longer than a person reads.
func fitsAScreen(t *testing.T, command, help string) {
	t.Helper()
	lines, columns := 50, 80
	switch command {
	case "graphcloak": // a line for every command
		lines = 56
	case "graphcloak exit-codes": // a table
		return
	}
	n := 0
	for line := range strings.Lines(help) {
		// an example may be longer
		if width := uniseg.StringWidth(strings.TrimRight(line, "\n")); width > columns && !strings.Contains(line, " graphcloak ") {
			t.Errorf("the help of %q has a line of %d columns: %s", command, width, line)
		}
		n += max(1, (uniseg.StringWidth(strings.TrimRight(line, "\n"))+columns-1)/columns)
	}
	if n > lines {
		t.Errorf("the help of %q has %d lines at %d columns, want at most %d", command, n, columns, lines)
	}
}

// withoutGroups leaves out of a help the flags of groups that read as in a help before,
// and notes the others.
func withoutGroups(help string, groups map[string]string) string {
	var out strings.Builder
	for _, part := range strings.SplitAfter(help, "\n\n") {
		title, flags, ok := strings.Cut(part, ":\n")
		if part = strings.TrimRight(part, "\n") + "\n\n"; !ok || title == "Flags" || !strings.HasPrefix(strings.TrimLeft(flags, " "), "-") {
			out.WriteString(part)
			continue
		}
		if groups[title] == "" {
			groups[title] = part
		}
		if groups[title] == part {
			part = title + ": as in groups.txt\n"
		}
		out.WriteString(part)
	}
	return out.String()
}

// The rows of a run's own id and time, and of a gap that is rounding.
var ownOfRun = regexp.MustCompile(`(?m)^│ (runId|computeMillis|bpdnGap) .*$`)

// TestGoldenReport holds what people read of a recovery against a file.
func TestGoldenReport(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, c := range []struct{ name, mode string }{{"karate", "stats"}, {"karate", "stream"}, {"net3", "stats"}} {
		args := []string{
			"recover", "--release", goldenPath(c.name, "release"), "--from", "example:" + c.name, "--mode", c.mode,
			"--format", "table",
		}
		if c.name == "net3" { // with all numbers
			args = append(args, "--verbose")
		} else {
			args = append(args, "--community-property", "club")
		}
		var stdout, stderr bytes.Buffer
		if code := execute(t.Context(), args, strings.NewReader(""), &stdout, &stderr); code != exitOK {
			t.Errorf("%q: exit %d: %s", args, code, &stderr)
			continue
		}
		compareText(t, filepath.Join("testdata", "golden", c.name+"."+c.mode+".txt"), ownOfRun.ReplaceAllString(stdout.String(), "│ $1 …"))
	}
}

// compareText compares line by line and names the first that differs.
func compareText(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	want, lines := strings.Split(string(text), "\n"), strings.Split(got, "\n")
	for i := range max(len(want), len(lines)) {
		var a, b string
		if i < len(want) {
			a = want[i]
		}
		if i < len(lines) {
			b = lines[i]
		}
		if a != b {
			t.Errorf("%s, line %d: %q, want %q (go test ./cmd/graphcloak -run %s -update writes it again)", path, i+1, b, a, t.Name())
			return
		}
	}
}
