// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/must"
)

// hostileSettings are files that two readers would read in two ways, that no
// reader should follow, or whose values are no names.
func hostileSettings() map[string][3]string {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'n'; c++ {
		bomb += fmt.Sprintf("%c: &%[1]c [%s]\n", c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	var keys strings.Builder
	for k := range 5000 {
		fmt.Fprintf(&keys, "k%d: 1\n", k)
	}
	return map[string][3]string{
		"aliases without end":         {"c.yaml", bomb, "excessive aliasing"},
		"deep YAML":                   {"c.yaml", "tau: " + strings.Repeat("[", 1e5), "deeper than"},
		"deep JSON":                   {"c.json", `{"tau":` + strings.Repeat("[", 1e5), "deeper than"},
		"a key twice in JSON":         {"c.json", `{"tau": 1, "tau": 2}`, "twice"},
		"a key twice in YAML":         {"c.yaml", "tau: 1\ntau: 2\n", "already defined"},
		"a key in two cases, YAML":    {"c.yaml", "tau: 1\nTAU: 2\n", "one setting"},
		"a key in two cases, JSON":    {"c.json", `{"tau": 1, "Tau": 2}`, "one setting"},
		"a form that is none":         {"c.ini", "tau=1", "want .yaml or .json"},
		"a text for a number":         {"c.yaml", "tau: true\n", "want auto"},
		"no number":                   {"c.yaml", "tau: .nan\n", "want auto"},
		"a text for a switch":         {"c.yaml", "strict: perhaps\n", "want true or false"},
		"a number for a name":         {"c.yaml", "nodeLabels: [1]\n", "want names"},
		"two documents":               {"c.yaml", "tau: 1\n---\ntau: 2\n", "more than one document"},
		"text behind the document":    {"c.json", `{"tau": 1} {"tau": 2}`, "cannot be read"},
		"a list of settings":          {"c.yaml", "- tau\n", "cannot be read"},
		"a map for a number":          {"c.yaml", "epsilon: {a: 1}\n", "want a number"},
		"a list for a number":         {"c.yaml", "epsilon: [1]\n", "want a number"},
		"a date for a text":           {"c.yaml", "communityProperty: 2020-01-01\n", "want text"},
		"NUL in a text":               {"c.yaml", `communityProperty: "a\0b"`, "control characters"},
		"an escape in a list":         {"c.json", `{"nodeLabels": ["\u001b[31m"]}`, "control characters"},
		"bytes that are not UTF-8":    {"c.yaml", "communityProperty: \"\xff\"\n", "UTF-8"},
		"a text without measure":      {"c.yaml", "communityProperty: " + strings.Repeat("x", 1e5), "at most"},
		"a file without measure":      {"c.yaml", "# " + strings.Repeat("x", 1<<18), "more than"},
		"unknown keys without number": {"c.yaml", keys.String(), "further keys"},
	}
}

// Each is refused with a message of one screen that says why.
func TestHostileFiles(t *testing.T) {
	for name, c := range hostileSettings() {
		t.Run(name, func(t *testing.T) {
			path := file(t, c[0], c[1])
			err := config.LoadFile(path)
			if err == nil || !strings.Contains(err.Error(), c[2]) || len(err.Error()) > 10_000 {
				t.Errorf("%.300v, want an error that says %q", err, c[2])
			}
			if _, again := config.Load(config.Layers{File: path}); again == nil {
				t.Error("Load takes what LoadFile refuses")
			}
		})
	}
	for name, text := range map[string]string{
		"c.json": "\ufeff{\"tau\": 3}", "c.yaml": "\ufefftau: 3\r\n", "empty.yaml": "", "TAU.yaml": "TAU: 3",
		"q.yaml": "nodeQuery: |\n  MATCH (n)\n  RETURN n AS id\n",
	} {
		if err := config.LoadFile(file(t, name, text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A file that is not there is told as such.
func TestMissingFile(t *testing.T) {
	if err := config.LoadFile(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want that it does not exist", err)
	}
}

// Values of the environment are held to the same.
func TestHostileEnvironment(t *testing.T) {
	for _, c := range [][2]string{
		{"GRAPHCLOAK_COMMUNITY_PROPERTY", "a\nb"},
		{"GRAPHCLOAK_COMMUNITY_PROPERTY", strings.Repeat("x", 1<<17)},
		{"GRAPHCLOAK_NODE_LABELS", "a\x1b[31m"},
		{"GRAPHCLOAK_TAU", strings.Repeat("9", 1<<16)},
		{"GRAPHCLOAK_EPSILON", "1\n2"},
		{"GRAPHCLOAK_DEPLOYMENT", "a\x1b[31m"},
		{"GRAPHCLOAK_FROM", "folder:a\x1bb"},
		{"NEO4J_URI", "bolt://h:1\n" + strings.Repeat("x", 1<<16)},
		{"NEO4J_USERNAME", "a\x7f"},
		{"GRAPHCLOAK_SOURCE_PROPERTY", "\xff"},
	} {
		t.Run(c[0], func(t *testing.T) {
			t.Setenv(c[0], c[1])
			_, err := config.Load(config.Layers{})
			if _, ok := errors.AsType[*config.Error](err); !ok && err == nil || len(err.Error()) > 1000 {
				t.Errorf("%.200v, want a short error", err)
			}
		})
	}
}

// FuzzSettings reads any bytes as a file of settings: an error or none, the same
// each time, and never longer than a screen.
func FuzzSettings(f *testing.F) {
	for _, c := range hostileSettings() {
		if len(c[1]) < 2000 {
			f.Add(strings.TrimPrefix(filepath.Ext(c[0]), "."), c[1])
		}
	}
	f.Add("yaml", "tau: 3\nnodeLabels: [A, B]\n")
	f.Add("json", `{"tau": 3, "nodeLabels": "A,B", "clip": null}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, form, text string) {
		if form != "yaml" && form != "json" {
			return
		}
		path := filepath.Join(dir, "c."+form)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		first, second := config.LoadFile(path), config.LoadFile(path)
		if (first == nil) != (second == nil) || first != nil && (first.Error() != second.Error() || len(first.Error()) > 20_000) {
			t.Errorf("%.200v, then %.200v", first, second)
		}
	})
}
