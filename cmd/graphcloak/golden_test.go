// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
