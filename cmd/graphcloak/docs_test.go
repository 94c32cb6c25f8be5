// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/graphcloak/graphcloak/internal/documented"
	"github.com/graphcloak/graphcloak/internal/must"
)

// before are steps that a page tells in words.
var before = map[string]string{
	"cat from-sensors/*.ndjson": `mkdir from-sensors && for p in packages/*.json; do
		echo '{"releaseId": "9", "reading": 0.07}' | graphcloak cloak --package $p > from-sensors/$(basename $p .json).ndjson || exit 1
	done`,
	"graphcloak reveal": `for p in packages/*.json; do
		echo '{"releaseId": "1", "reading": 0.07}' | graphcloak cloak --package $p --key keys/$(basename $p .json).key || exit 1
	done > private.ndjson
	graphcloak release --from folder:hall --plan plan.json --from-sensors private.ndjson -o release.json`,
}

// namedFile is a file of settings that a page shows, with its name in the first line.
var namedFile = regexp.MustCompile("(?ms)^```yaml\n# ([a-z]+\\.yaml)\n(.*?)^```")

// writeFiles makes the files that a page shows.
func writeFiles(t *testing.T, page, dir string) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join("..", "..", page)))(t)
	for _, m := range namedFile.FindAllSubmatch(text, -1) {
		must.Do(t, os.WriteFile(filepath.Join(dir, string(m[1])), m[2], 0o600))
	}
}

// freePort is one that a page's server can have.
func freePort(t *testing.T) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
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

// seedVariable is the environment variable that makes this test binary the command, with
// randomness of that seed: so the noise of a documented run is drawn as every other and
// is the same at each test.
const seedVariable = "DOCUMENTED_SEED"

// TestSeededCommand is the command of TestDocumentedCommands.
func TestSeededCommand(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64)
	if err != nil {
		t.Skip("TestDocumentedCommands starts it")
	}
	cryptotest.SetGlobalRandom(t, seed)
	os.Args = append([]string{"graphcloak"}, flag.Args()...)
	main()
}

// seededCommand makes a folder with a command graphcloak.
func seededCommand(t *testing.T) string {
	t.Helper()
	self := must.Get(os.Executable())(t)
	bin := t.TempDir()
	script := "#!/bin/sh\nexec " + self + " -test.run '^TestSeededCommand$' -- \"$@\"\n"
	must.Do(t, os.WriteFile(filepath.Join(bin, "graphcloak"), []byte(script), 0o755))
	return bin
}

// documentedPages are the pages whose console blocks are run, each in an empty folder and
// with randomness of its own. The seeds are such that answers are right, as in most runs.
var documentedPages = []struct {
	path string
	seed int
}{
	{"README.md", 4},
	{"docs/tutorial.md", 1},
	{"docs/tutorial-whisper.md", 1},
	{"docs/how-to/sensors.md", 1},
	{"docs/how-to/budget.md", 1},
	{"docs/how-to/nightly.md", 1},
	{"docs/how-to/serve.md", 1},
	{"docs/how-to/evaluate.md", 1},
	{"docs/how-to/report.md", 1},
	{"docs/how-to/water.md", 4},
	{"docs/how-to/large.md", 1},
	{"docs/explanation/threat-model.md", 1},
}

// onServer are the pages whose commands package integration runs, on a Neo4j.
var onServer = []string{"docs/how-to/neo4j.md", "docs/tutorial-neo4j.md"}

// TestEveryPageIsRun: each console block of each page is run by a test, or is marked as
// recorded, beside words that say so to the reader and why.
func TestEveryPageIsRun(t *testing.T) {
	run := slices.Clone(onServer)
	for _, page := range documentedPages {
		run = append(run, page.path)
	}
	for _, path := range markdown(t) {
		text := must.Get(os.ReadFile(filepath.Join("..", "..", path)))(t)
		if strings.Contains(string(text), "```console\n") != slices.Contains(run, path) {
			t.Errorf("%s: has commands to run or is in the tests' lists, and not both", path)
		}
		for _, part := range strings.Split(string(text), "```console")[1:] {
			fence, _, _ := strings.Cut(part, "\n")
			if fence != "" && fence != " recorded" {
				t.Errorf("%s: a block is marked %q", path, fence)
			}
		}
		if parts := strings.Split(string(text), "```console recorded"); len(parts) > 1 {
			said := strings.Count(strings.ToLower(string(text)), "recorded") - (len(parts) - 1)
			if why := strings.Count(string(text), "no test"); said < len(parts)-1 || why < len(parts)-1 {
				t.Errorf("%s: %d blocks are marked as recorded; the text says it %d times, and %d times that no test runs them", path,
					len(parts)-1, said, why)
			}
		}
	}
}

// markdown are the pages of the project for readers, by their paths.
func markdown(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("..", "..")
	pages := []string{"README.md"}
	must.Do(t, filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			path, err = filepath.Rel(root, path)
			pages = append(pages, filepath.ToSlash(path))
		}
		return err
	}))
	return pages
}

// TestDocumentedCommands runs every command of the pages, in order, and compares what it
// prints with what the page shows, by the rules of package documented. With -update the
// pages are written again.
func TestDocumentedCommands(t *testing.T) {
	bin := seededCommand(t)
	for _, page := range documentedPages {
		t.Run(page.path, func(t *testing.T) {
			t.Parallel()
			p := must.Get(documented.Read(filepath.Join("..", "..", page.path)))(t)
			runPage(t, bin, page.path, page.seed, p)
			if *update {
				must.Do(t, p.Write())
			}
		})
	}
}

// runPage runs the commands of a page up to those that need a server, which package
// integration runs.
func runPage(t *testing.T, bin, page string, seed int, p *documented.Page) {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, page, dir)
	examples := must.Get(filepath.Abs(filepath.Join("..", "..", "examples")))(t)
	must.Do(t, os.Symlink(examples, filepath.Join(dir, "examples")))
	t.Cleanup(func() { endServer(dir) })
	s := shell{dir: dir, env: append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+filepath.Join(dir, "state"),
		"GRAPHCLOAK_FORMAT=table")}
	ran, port := 0, freePort(t)
	for k, c := range p.Commands {
		if strings.Contains(c.Text, "NEO4J") {
			break
		}
		for step, prepare := range before {
			if strings.Contains(c.Text, step) {
				s.prepare(t, prepare)
			}
		}
		s.seed = 10000*seed + 100*k
		text := strings.Replace(c.Text, "go run ./cmd/graphcloak", "graphcloak", 1)
		times := 1
		if strings.Contains(text, "# three times") {
			times = 3
		}
		for range times {
			s.compare(t, c, strings.ReplaceAll(text, "8473", port))
		}
		ran++
	}
	if ran == 0 {
		t.Error("the page has no command")
	}
}

// shell runs the lines of a page.
type shell struct {
	dir  string
	env  []string
	seed int // of the next line
}

// run runs a line and returns what it prints and its exit code.
func (s *shell) run(line string) (string, int) {
	cmd := exec.Command("sh", "-c", line)
	s.seed++
	cmd.Dir, cmd.Env = s.dir, append(slices.Clone(s.env), seedVariable+"="+strconv.Itoa(s.seed))
	if strings.Contains(line, " > ") { // what goes to a file has no terminal
		cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return v == "GRAPHCLOAK_FORMAT=table" })
	}
	out, _ := cmd.CombinedOutput() // the caller has the exit code
	return string(out), cmd.ProcessState.ExitCode()
}

// prepare runs a line that no page shows.
func (s *shell) prepare(t *testing.T, line string) {
	t.Helper()
	if out, exit := s.run(line); exit != 0 {
		t.Fatalf("$ %s\nexit %d:\n%s", line, exit, out)
	}
}

// compare runs a command of a page, as text, and compares; with -update it fixes.
func (s *shell) compare(t *testing.T, c *documented.Command, text string) {
	t.Helper()
	out, exit := s.run(text)
	if *update {
		c.Fix(out, exit)
		return
	}
	if exit != c.Exit() {
		t.Fatalf("$ %s\nexit %d, want %d:\n%s", text, exit, c.Exit(), out)
	}
	if wrong := c.Compare(out); len(wrong) > 0 {
		t.Errorf("$ %s\n%s\nit printed\n%s\nif that is right: go test -run TestDocumentedCommands ./cmd/graphcloak -update", text,
			strings.Join(wrong, "\n"), out)
	}
}
