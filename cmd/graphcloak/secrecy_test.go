// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// What is planted: the node that is the secret, its readings, and the first digits
// of what they diffuse to. Another node may be named, but not for its reading.
const (
	secretNode  = "n7731"
	secretDigit = "5519"
)

const (
	secretNodes = "id,labels,source,text,high,low,nan,inf,truth,list,huge,missing,gcSource,side,mark\n" +
		"a,P,0,,0,0,0,0,0,0,0,0.25,,x,1\n" +
		"b,P,0,,0,0,0,0,0,0,0,0.25,,x,1\n" +
		secretNode + ",P,0.5519,v5519,5519.5,-5519,NaN,Inf,true,[5519],5519e400,,0.5519,y,1\n" +
		"c,P,,,0,0,0,0,0,0,0,0.25,,y,\n"
	secretRelationships = "source,target,w\na,b,1\nb," + secretNode + ",1\n" + secretNode + ",c,1\n"
)

// secretKit is a folder with a bad signal of every kind, and a plan for each kind.
func secretKit(t *testing.T) {
	t.Helper()
	kit(t)
	writeGraph(t, "g", secretNodes, secretRelationships)
}

// told runs a command and returns its exit code and all that it said or left.
func told(t *testing.T, stdin string, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := execute(t.Context(), args, strings.NewReader(stdin), &out, &out)
	for _, dir := range []string{".", os.Getenv("XDG_STATE_HOME")} {
		must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, ".csv") {
				return nil
			}
			data, err := os.ReadFile(path)
			out.WriteString("\n" + path + ":\n")
			out.Write(data)
			return err
		}))
	}
	return code, out.String()
}

// talkative makes a command say all that it can.
func talkative(format string) []string {
	return []string{"--verbose", "--format", format}
}

// TestRefusedSignalsAreNotTold: no message, log or file of a command that refuses a
// signal names a node for its value, or a value.
func TestRefusedSignalsAreNotTold(t *testing.T) {
	const from = "--from=folder:g"
	commands, exits := map[string][]string{}, map[string]int{
		"a property in the way": exitConflict, "another's in the way": exitConflict, "a public signal": exitUsage,
		"a misspelt one": exitNotFound,
	}
	for _, property := range []string{"text", "high", "low", "nan", "inf", "list", "huge"} {
		commands["asked "+property] = []string{"run", from, "--answer-property", property}
		commands["run "+property] = []string{"run", from, "--source-property", property}
		commands["prior "+property] = []string{"run", from, "--source-property", "source", "--prior-property", property}
		if property != "high" && property != "low" {
			commands["measured "+property] = []string{"run", from, "--measurement-property", property}
			commands["recover "+property] = []string{"recover", from, "--measurement-property", property}
		}
	}
	delete(commands, "prior high") // a fine prior
	commands["dry run"] = []string{"run", from, "--source-property", "high", "--dry-run"}
	commands["a missing reading"] = []string{"run", from, "--measurement-property", "missing"}
	commands["a property in the way"] = []string{"run", from, "--source-property", "gcSource"}
	commands["another's in the way"] = []string{"run", from, "--source-property", "source"}
	commands["a public signal"] = []string{"run", from, "--source-property", "source", "--community-property", "source"}
	commands["a misspelt one"] = []string{"run", from, "--source-property", "sourc"}
	for name, args := range commands {
		format := "json"
		if strings.HasPrefix(name, "run") {
			format = "table"
		}
		t.Run(name, func(t *testing.T) {
			secretKit(t)
			untold(t, cmp.Or(exits[name], exitValidation), "", append(args, talkative(format)...)...)
		})
	}
	t.Run("release", func(t *testing.T) {
		secretKit(t)
		for plan, option := range map[string]string{"source": "--source-property", "measurement": "--measurement-property"} {
			file := filepath.Join(t.TempDir(), "plan.json") // it names all nodes
			if code, text := told(t, "", "plan", from, option, "missing", "-o", file); code != 0 {
				t.Fatal(text)
			}
			for _, property := range []string{"text", "high", "nan", "missing"} {
				if plan == "source" && property == "missing" || plan == "measurement" && property == "high" {
					continue // fine there
				}
				untold(t, exitValidation, "", append([]string{"release", from, "--plan", file, option, property}, talkative("json")...)...)
			}
		}
	})
}

// untold runs a command that is to fail, and looks for what it must not say.
func untold(t *testing.T, want int, stdin string, args ...string) {
	t.Helper()
	code, text := told(t, stdin, args...)
	if code != want {
		t.Errorf("%q: exit %d, want %d: %s", args, code, want, text)
	}
	for _, private := range []string{secretNode, secretDigit} {
		if strings.Contains(text, private) {
			t.Errorf("%q says %s: %s", args, private, text)
		}
	}
}

// TestRefusedReadingsAreNotTold is the same on the sensor's own side.
func TestRefusedReadingsAreNotTold(t *testing.T) {
	secretKit(t)
	dir := t.TempDir()
	if code, text := told(t, "", "plan", "--from=folder:g", "--sensor-package-dir", filepath.Join(dir, "p"), "-o",
		filepath.Join(dir, "plan.json"), "--releases", "1"); code != 0 {
		t.Fatal(text)
	}
	packages, err := filepath.Glob(filepath.Join(dir, "p", "*"))
	if err != nil || len(packages) == 0 {
		t.Fatalf("%v %v, want packages", packages, err)
	}
	for _, line := range []string{
		`{"releaseId": "1", "reading": "v5519"}`,
		`{"releaseId": "1", "reading": 5519e400}`,
		`{"releaseId": "1", "reading": NaN5519}`,
		`{"releaseId": "1", "reading": [5519]}`,
		`{"releaseId": "1", "reading": 0.5519, "more": 1}`,
		`{"releaseId": "1", "reading": 0.5519} {}`,
		`{"releaseId": "", "reading": 0.5519}`,
		`{"releaseId": 1, "reading": 0.5519}`,
		`{"reading": 0.5519}`,
		`{"5519": 0.5519}`,
		`0.5519`,
		`5519` + strings.Repeat("5", 70_000),
	} {
		untold(t, exitValidation, line, "cloak", "--package", packages[0])
	}
	// The second release is past the limit.
	if code, text := told(t, `{"releaseId": "1", "reading": 0.25}`, "cloak", "--package", packages[0]); code != 0 {
		t.Fatal(text)
	}
	untold(t, exitBudget, `{"releaseId": "2", "reading": 0.5519}`, "cloak", "--package", packages[0])
}
