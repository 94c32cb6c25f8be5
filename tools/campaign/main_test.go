// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// events are lines of go test -json, one "ACTION TEST OUTPUT" each.
func events(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		f := append(strings.SplitN(line, " ", 3), "")
		if f[0] == "output" {
			f[2] += "\n"
		}
		fmt.Fprintf(&b, `{"Action":%q,"Test":%q,"Output":%q,"Elapsed":0.5}`+"\n", f[0], f[1], f[2])
	}
	return b.String()
}

// What did not pass has not survived: failed, skipped, died, or not there at all.
func TestCount(t *testing.T) {
	for name, c := range map[string]struct {
		fuzz            bool
		events          string
		tried, survived int
	}{
		"one":              {false, events("pass TestA"), 1, 1},
		"failed":           {false, events("fail TestA"), 1, 0},
		"skipped":          {false, events("skip TestA"), 1, 0},
		"not there":        {false, "", 1, 0},
		"died":             {false, events("run TestA/x", "output TestA/x panic", "run TestA/y", "pass TestA/y"), 2, 1},
		"subtests":         {false, events("pass TestA/x/1", "pass TestA/x/2", "pass TestA/x", "pass TestA/y", "pass TestA"), 3, 3},
		"one below":        {false, events("fail TestA/x/1", "pass TestA/x/2", "fail TestA/x", "pass TestA/y", "fail TestA"), 3, 2},
		"only the parent":  {false, events("pass TestA/x", "fail TestA"), 2, 1},
		"own count":        {false, events("output TestA f.go:1: campaign: 9 tried, 9 survived", "pass TestA"), 9, 9},
		"own, some fallen": {false, events("output TestA f.go:1: campaign: 9 tried, 7 survived", "fail TestA"), 9, 7},
		"own, and failed":  {false, events("output TestA f.go:1: campaign: 9 tried, 9 survived", "fail TestA"), 9, 8},
		"another":          {false, events("pass TestA", "pass TestB"), 1, 1},
		"fuzzed": {true, events("output TestA fuzz: elapsed: 1s, gathering baseline coverage: 5/5 completed",
			"output  fuzz: elapsed: 3s, execs: 70 (9/sec)",
			"pass TestA"), 70, 70},
		"fuzzed, out of time": {true, events("output TestA === RUN   TestA", "output TestA fuzz: elapsed: 4s, execs: 70 (0/sec)",
			"output TestA --- FAIL: TestA (4.08s)",
			"output TestA     context deadline exceeded", "fail TestA"), 70, 70},
		"fuzzed, an input out of time": {
			true,
			events("output TestA === RUN   TestA", "output TestA fuzz: elapsed: 4s, execs: 70 (0/sec)",
				"output TestA --- FAIL: TestA (4.08s)",
				"output TestA     context deadline exceeded",
				"output TestA     Failing input written to testdata/fuzz/TestA/1", "fail TestA"),
			70, 69,
		},
		"fuzzed, fallen": {true, events("output TestA fuzz: elapsed: 3s, execs: 70 (9/sec)", "fail TestA/12", "fail TestA"), 71, 70},
	} {
		t.Run(name, func(t *testing.T) {
			rows := []campaign{{tests: []string{"TestA"}, fuzz: c.fuzz}}
			seen, err := read(strings.NewReader(c.events), rows)
			if err != nil {
				t.Fatal(err)
			}
			if r := seen.sum(rows[0].tests); r.tried != c.tried || r.survived != c.survived {
				t.Errorf("%d tried, %d survived, want %d and %d", r.tried, r.survived, c.tried, c.survived)
			}
		})
	}
}

// Every test of a campaign is in its package, no campaign twice, and campaigns of one
// package stand together.
func TestCampaigns(t *testing.T) {
	t.Chdir("../..")
	targets, err := fuzzers(".")
	if err != nil || len(targets) < 8 {
		t.Errorf("%d fuzz targets, %v", len(targets), err)
	}
	for k, c := range slices.Concat(campaigns, targets) {
		files, err := os.ReadDir(c.dir)
		if err != nil {
			t.Fatal(err)
		}
		var text []byte
		for _, f := range files {
			if strings.HasSuffix(f.Name(), "_test.go") {
				data, err := os.ReadFile(c.dir + "/" + f.Name())
				if err != nil {
					t.Fatal(err)
				}
				text = append(text, data...)
			}
		}
		for _, name := range c.tests {
			if !regexp.MustCompile(`(?m)^func ` + name + `\(`).Match(text) {
				t.Errorf("%s: %s has no %s", c.name, c.dir, name)
			}
		}
		if before := slices.IndexFunc(campaigns, func(o campaign) bool { return o.dir == c.dir && !o.fuzz }); !c.fuzz &&
			k-before >= together(campaigns[before:]) {
			t.Errorf("%s stands apart from the others of %s", c.name, c.dir)
		}
	}
}
