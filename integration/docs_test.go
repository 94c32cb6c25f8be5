// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/internal/documented"
	"github.com/graphcloak/graphcloak/internal/must"
)

// TestDocumentedNeo4j: every command of the page's console blocks runs, on a graph with the
// properties that they name. What stands there indented asks, or is to be filled in.
func TestDocumentedNeo4j(t *testing.T) {
	page := must.Get(documented.Read(filepath.Join("..", "docs", "how-to", "neo4j.md")))(t)
	c, dir := newCLI(t), t.TempDir()
	label := Load(t, Shipped("karate"), func(o *neo4j.ImportOptions) { o.RelationshipType = "KNOWS" })
	imported := Load(t, Files("id\n1\n", "source,target\n")) // whose nodes go when the test ends
	Query(t, "MATCH (n:`"+label+"`) SET n.risk = CASE n.id WHEN 16 THEN 1.0 ELSE 0.0 END, n.team = n.club, n.active = true", nil)
	Query(t, "MATCH (:`"+label+"`)-[r:KNOWS]->() SET r.strength = 1.0", nil)
	must.Do(t, os.Symlink(c.path, filepath.Join(dir, "graphcloak")))
	if out, err := exec.CommandContext(t.Context(), c.path, "graph", "generate", "example:karate",
		filepath.Join(dir, "mygraph")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(page.Commands) < 5 {
		t.Fatalf("the page has %d commands, want at least 5", len(page.Commands))
	}
	for _, command := range page.Commands {
		text, _, _ := strings.Cut(command.Text, " | cypher-shell") // which no client of ours brings
		name := label
		if strings.Contains(text, "graph import") {
			name, text = imported, text+" --replace"
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(text, "Person", name))
		cmd.Dir, cmd.Env = dir, append(append(os.Environ(), c.env...), "PATH="+dir+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("$ %s\n%v\n%s", text, err, out)
		}
	}
}

// TestDocumentedServe: the commands of the page on the scheduler run in order, those that name
// the server left out, and its server runs, answers and ends.
func TestDocumentedServe(t *testing.T) {
	path := filepath.Join("..", "docs", "how-to", "serve.md")
	page := must.Get(documented.Read(path))(t)
	text := must.Get(os.ReadFile(path))(t)
	_, settings, _ := strings.Cut(string(text), "```yaml\n# night.yaml\n")
	settings, _, _ = strings.Cut(settings, "```")
	c, dir, name := newCLI(t), t.TempDir(), "members"+token()
	label := Load(t, Shipped("karate"), func(o *neo4j.ImportOptions) { o.RelationshipType = "KNOWS" })
	source(t, label, 16)
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	own := strings.NewReplacer("Person", label, "risk", secret(t, label), "members", name, "8473", port)
	for _, job := range []string{name, name + "-weekly"} {
		forgetJob(t, job)
	}
	t.Cleanup(func() {
		Query(t, "MATCH (j:GraphCloakJob) WHERE j.name STARTS WITH $name DELETE j", map[string]any{"name": name})
		// where a command before its end failed
		_ = exec.CommandContext(context.Background(), "sh", "-c", "kill -9 $(cat "+dir+"/serve.pid)").Run()
	})
	if err := errors.Join(os.Symlink(c.path, filepath.Join(dir, "graphcloak")),
		os.WriteFile(filepath.Join(dir, "night.yaml"), []byte(own.Replace(settings)), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, command := range page.Commands {
		if strings.Contains(command.Text, "NEO4J") {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", own.Replace(command.Text))
		cmd.Dir, cmd.Env = dir, append(append(os.Environ(), c.env...), "PATH="+dir+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != command.Exit() {
			t.Fatalf("$ %s\n%v\n%s", command.Text, err, out)
		}
	}
}

// testTutorial runs every command of the page about the first ten minutes, in order, and
// compares what it prints. The server is shared: the page's label and scope are replaced
// by ones of the test's own, and init is told which label is meant.
func testTutorial(t *testing.T, c cli) {
	page := must.Get(documented.Read(filepath.Join("..", "docs", "tutorial-neo4j.md")))(t)
	label, dir := "Jun"+token()[:5], t.TempDir() // as wide as the page's
	t.Cleanup(func() {
		Query(t, "MATCH (n:`"+label+"`) DETACH DELETE n", nil)
		for _, row := range Query(t, "SHOW CONSTRAINTS YIELD name, labelsOrTypes WHERE $label IN labelsOrTypes RETURN name",
			map[string]any{"label": label}) {
			Query(t, "DROP CONSTRAINT `"+row[0].(string)+"`", nil)
		}
	})
	env := append(os.Environ(), c.env...)
	env = append(env, "PATH="+filepath.Dir(c.path)+":"+os.Getenv("PATH"), "GRAPHCLOAK_FORMAT=table")
	for _, step := range page.Commands {
		line := strings.ReplaceAll(step.Text, "Junction", label)
		if strings.HasPrefix(line, "graphcloak init") {
			line += " --node-labels " + label
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("$ %s\n%v\n%s", line, err, out)
		}
		for _, difference := range step.Compare(strings.ReplaceAll(string(out), label, "Junction")) {
			t.Errorf("$ %s\n%s", line, difference)
		}
	}
	if len(page.Commands) < 8 {
		t.Errorf("the page has %d commands, want all of it", len(page.Commands))
	}
	rows := Query(t, "MATCH (n:`"+label+"`) WHERE n.gcSourceProbability IS NOT NULL RETURN count(n)", nil)
	if rows[0][0] != int64(97) {
		t.Errorf("%v nodes have a probability, want 97", rows[0][0])
	}
}
