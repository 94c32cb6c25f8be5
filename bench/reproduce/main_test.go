// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReproduce: tables that need no simulation, as a page and files; the same seed
// gives the same tables, another gives others.
func TestReproduce(t *testing.T) {
	tables := map[string]string{}
	for _, seed := range []string{"1", "1 again", "2"} {
		dir := filepath.Join(t.TempDir(), "paper")
		var out bytes.Buffer
		args := []string{"-quick", "-only", "table-2,lemmas", "-seed", seed[:1], "-out", dir}
		if err := run(context.Background(), args, &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Table 2, star", "not stated", "index.html shows"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("nothing printed of %q:\n%s", want, &out)
			}
		}
		for name, want := range map[string]string{
			"index.html": "Content-Security-Policy", "table-2.csv": "\ncomplete 5,0.5,", "claims.csv": "Table 2, star", "lemmas.csv": "",
		} {
			content, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || !strings.Contains(string(content), want) {
				t.Errorf("%s: %v, without %q", name, err, want)
			}
			if name == "lemmas.csv" {
				tables[seed] = string(content)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "figure-1.csv")); err == nil {
			t.Error("an exhibit that nobody asked for was computed")
		}
	}
	if tables["1"] != tables["1 again"] || tables["1"] == tables["2"] {
		t.Error("the tables do not depend on the seed alone")
	}
}

// TestRefused: what is wrong is said before any work, and nothing is written.
func TestRefused(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"no exhibit \"figure-9\"": {"-only", "figure-9"},
		"trials":                  {"-trials", "-1"},
		"holds files":             {"-out", full},
	} {
		dir := filepath.Join(t.TempDir(), "new")
		err := run(context.Background(), append([]string{"-out", dir}, args...), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%v: the folder was made", args)
		}
	}
}
