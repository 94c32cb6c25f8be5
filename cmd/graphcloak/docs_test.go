// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// documented is one command of a page with the output that the page shows.
type documented struct {
	command string
	output  []string
}

// commandsOf reads the console blocks of a page.
func commandsOf(t *testing.T, page string) []documented {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	var list []documented
	inside, open := false, false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "```console":
			inside = true
		case strings.HasPrefix(line, "```"):
			inside, open = false, false
		case !inside:
		case open: // the command goes on
			last := &list[len(list)-1]
			last.command = strings.TrimSuffix(last.command, "\\") + strings.TrimSpace(line)
			open = strings.HasSuffix(line, "\\")
		case strings.HasPrefix(line, "$ "):
			list = append(list, documented{command: line[2:]})
			open = strings.HasSuffix(line, "\\")
		case len(list) > 0:
			list[len(list)-1].output = append(list[len(list)-1].output, line)
		}
	}
	return list
}

// before are steps that a page tells in words.
var before = map[string]string{
	"cat from-sensors/*.ndjson": `mkdir from-sensors && for p in packages/*.json; do
		echo '{"releaseId": "9", "reading": 0.07}' | graphcloak cloak --package $p > from-sensors/$(basename $p .json).ndjson || exit 1
	done`,
}

// namedFile is a file of settings that a page shows, with its name in the first line.
var namedFile = regexp.MustCompile("(?ms)^```yaml\n# ([a-z]+\\.yaml)\n(.*?)^```")

// writeFiles makes the files that a page shows.
func writeFiles(t *testing.T, page, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range namedFile.FindAllSubmatch(text, -1) {
		if err := os.WriteFile(filepath.Join(dir, string(m[1])), m[2], 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// freePort is one that a page's server can have.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// endServer kills the server that a page started and, since one of its commands failed,
// did not end.
func endServer(dir string) {
	text, err := os.ReadFile(filepath.Join(dir, "serve.pid"))
	if err != nil {
		return
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
}

// TestDocumentedCommands runs every command of the pages, in order, in an empty
// folder, and looks for the lines of the shown output that hold no number.
func TestDocumentedCommands(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(bin, "graphcloak"), ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, page := range []string{"README.md", "docs/tutorial.md", "docs/how-to/sensors.md", "docs/how-to/budget.md", "docs/how-to/nightly.md", "docs/how-to/serve.md", "docs/how-to/evaluate.md", "docs/how-to/report.md"} {
		t.Run(page, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, page, dir)
			t.Cleanup(func() { endServer(dir) })
			env := append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "GRAPHCLOAK_FORMAT=table")
			ran, port := 0, freePort(t)
			if page == "docs/how-to/budget.md" { // it takes the graph of the page before
				shell(t, dir, env, documented{command: "graphcloak graph generate example:karate hall"})
			}
			for _, c := range commandsOf(t, page) {
				if strings.Contains(c.command, "NEO4J") {
					return // what follows needs a server: package integration runs it
				}
				for step, prepare := range before {
					if strings.Contains(c.command, step) {
						shell(t, dir, env, documented{command: prepare})
					}
				}
				c.command = strings.Replace(c.command, "go run ./cmd/graphcloak", "graphcloak", 1)
				c.command = strings.ReplaceAll(c.command, "8473", port)
				times := 1
				if strings.Contains(c.command, "# three times") {
					times = 3
				}
				for range times {
					shell(t, dir, env, c)
				}
				ran++
			}
			if ran == 0 {
				t.Error("the page has no command")
			}
		})
	}
}

var (
	exitShown = regexp.MustCompile(`\(exit (\d+)\)`)
	spaces    = regexp.MustCompile(`\s+`)
)

// shell runs a line and compares it with the page.
func shell(t *testing.T, dir string, env []string, c documented) {
	t.Helper()
	cmd := exec.Command("sh", "-c", c.command)
	cmd.Dir, cmd.Env = dir, env
	if strings.Contains(c.command, " > ") { // what goes to a file has no terminal
		cmd.Env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return v == "GRAPHCLOAK_FORMAT=table" })
	}
	out, _ := cmd.CombinedOutput() // the exit code is compared below
	want := 0
	if m := exitShown.FindStringSubmatch(strings.Join(c.output, "\n")); m != nil {
		want, _ = strconv.Atoi(m[1])
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Fatalf("$ %s\nexit %d, want %d:\n%s", c.command, got, want, out)
	}
	found := spaces.ReplaceAllString(string(out), " ")
	for _, line := range c.output {
		line = strings.TrimSpace(spaces.ReplaceAllString(line, " "))
		if line == "" || strings.ContainsAny(line, "0123456789…│┌├└") {
			continue
		}
		if !strings.Contains(found, line) {
			t.Errorf("$ %s\ndoes not print %q:\n%s", c.command, line, out)
		}
	}
}
