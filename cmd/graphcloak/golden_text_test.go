// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"maps"
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
