// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// cli is the command as a process, as a user runs it.
type cli struct {
	path string
	env  []string
}

// result is what a command left behind.
type result struct {
	exit           int
	stdout, stderr string
}

func (c cli) run(t *testing.T, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Dir = t.TempDir()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatalf("graphcloak %s: %v", strings.Join(args, " "), err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// ok runs a command that must succeed and decodes its JSON.
func (c cli) ok(t *testing.T, args ...string) map[string]any {
	t.Helper()
	r := c.run(t, args...)
	if r.exit != 0 {
		t.Fatalf("graphcloak %s: exit %d\n%s", strings.Join(args, " "), r.exit, r.stderr)
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatalf("graphcloak %s: %v in\n%s", strings.Join(args, " "), err, r.stdout)
	}
	return v
}

// refused runs a command that must fail with an exit code and a message.
func (c cli) refused(t *testing.T, exit int, message string, args ...string) {
	t.Helper()
	r := c.run(t, args...)
	if r.exit != exit || !strings.Contains(r.stderr, message) {
		t.Errorf("graphcloak %s: exit %d, want %d with %q:\n%s", strings.Join(args, " "), r.exit, exit, message, r.stderr)
	}
	var v struct {
		Error struct {
			Message  string
			ExitCode int `json:"exit_code"`
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || v.Error.ExitCode != exit || v.Error.Message == "" {
		t.Errorf("graphcloak %s: the failure as JSON is %q (%v)", strings.Join(args, " "), r.stdout, err)
	}
}

// command is the path of the command, built by the first test that asks.
var command = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "graphcloak-test-*")
	if err != nil {
		return "", err
	}
	removeCommand = func() error { return os.RemoveAll(dir) }
	path := filepath.Join(dir, "graphcloak")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-X main.leasePace=3s -X main.pollPace=1s "+
		"-X github.com/graphcloak/graphcloak/connector/neo4j.lostPace=15s",
		"-o", path, "../cmd/graphcloak").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, err
})

// removeCommand removes it; nil until it was built.
var removeCommand func() error

// newCLI points the command at the server under test.
func newCLI(t *testing.T) cli {
	t.Helper()
	path := must.Get(command())(t)
	dir := t.TempDir()
	return cli{path, append(Server(t).Env(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+dir)}
}

// source makes one node of a label the source.
func source(t *testing.T, label string, id any) {
	t.Helper()
	rows := Query(t, "MATCH (n:`"+label+"` {id: $id}) SET n.source = 1.0 RETURN count(n)", map[string]any{"id": id})
	if rows[0][0] != int64(1) {
		t.Fatalf("there are %v nodes %v in %s, want 1", rows[0][0], id, label)
	}
}

// secret copies the sources to a property of the test's own, so that no other test pays from
// its budget, and returns that.
func secret(t *testing.T, label string) (property string) {
	t.Helper()
	property = "secret" + token()
	Query(t, "MATCH (n:`"+label+"`) SET n.`"+property+"` = n.source", nil)
	return property
}

func TestCLI(t *testing.T) {
	c := newCLI(t)
	t.Run("run", func(t *testing.T) { testRun(t, c) })
	t.Run("queries in files", func(t *testing.T) { testForeignQueries(t, c) })
	t.Run("unused weight", func(t *testing.T) { testUnusedWeight(t, c) })
	t.Run("doctor", func(t *testing.T) { testDoctor(t, c) })
	t.Run("init", func(t *testing.T) { testInit(t, c) })
	t.Run("tutorial", func(t *testing.T) { testTutorial(t, c) })
	t.Run("hostile schema", func(t *testing.T) { testHostileSchema(t, c) })
	t.Run("superseded", func(t *testing.T) { testSuperseded(t, c) })
	t.Run("import", func(t *testing.T) { testImportCommand(t, c) })
	t.Run("README", func(t *testing.T) { testReadme(t, c) })
}

// testRun is the main job, its properties and its run node, and --undo.
func testRun(t *testing.T, c cli) {
	label := Load(t, Shipped("karate"))
	source(t, label, 16)
	c.refused(t, 64, "--node-key", "plan", "--node-labels", label)
	rep := c.ok(t, "run", "--node-labels", label, "--node-key", "id", "--source-property", "source",
		"--community-property", "club", "--epsilon", "4", "--delta", "0.1", "--allocation", "uniform", "--property-prefix", "cli")
	if rep["nodeCount"] != 34.0 || rep["relationshipCount"] != 78.0 || rep["nodePropertiesWritten"] != 238.0 {
		t.Errorf("%v nodes, %v relationships, %v properties; want 34, 78, 238",
			rep["nodeCount"], rep["relationshipCount"], rep["nodePropertiesWritten"])
	}
	runID := rep["runId"].(string)
	rows := Query(t, "MATCH (n:`"+label+"`) WHERE n.cliRunId = $run RETURN count(n), sum(n.cliSourceProbability), "+
		"count(n.cliPrivateHeat), count(n.cliPrivateHeatSigma), "+
		"count(n.cliSource), count(n.cliCommunity), count(n.cliCommunityProbability)", map[string]any{"run": runID})
	if rows[0][0] != int64(34) || math.Abs(rows[0][1].(float64)-1) > 1e-9 {
		t.Errorf("%v nodes with a probability of %v in all, want 34 with 1", rows[0][0], rows[0][1])
	}
	for k, v := range rows[0][2:] {
		if v != int64(34) {
			t.Errorf("property %d is on %v nodes, want 34", k, v)
		}
	}
	rows = Query(t, "MATCH (r:GraphCloakRun {runId: $run}) RETURN r.status, r.epsilon, r.delta, r.epsilonSpent, r.sigmaMin, "+
		"r.sensitivityUpper, r.bpdnStatus, r.answer, r.answer = $answer", map[string]any{"run": runID, "answer": rep["answer"]})
	if len(rows) != 1 {
		t.Fatalf("%d run nodes, want 1", len(rows))
	}
	if r := rows[0]; r[0] != "FINISHED" || r[1] != 4.0 || r[2] != 0.1 || r[3] != 4.0 || r[8] != true {
		t.Errorf("the run node says %v", r)
	}
	// 0.485540335… is σ/Δ₂ of the analytic calibration at (4, 0.1).
	if ratio := rows[0][4].(float64) / rows[0][5].(float64); ratio < 0.485540335 || ratio > 0.4855404 {
		t.Errorf("σ/Δ₂ = %v, want 0.485540335 from above", ratio)
	}

	// The next run replaces what a run wrote, not what the user wrote.
	Query(t, "MATCH (n:`"+label+"` {id: 0}) SET n.mineSource = 'keep'", nil)
	c.refused(t, 5, "mineSource", "run", "--node-labels", label, "--source-property", "source", "--property-prefix", "mine")
	if rows := Query(t, "MATCH (n:`"+label+"` {id: 0}) RETURN n.mineSource, n.mineRunId", nil); rows[0][0] != "keep" || rows[0][1] != nil {
		t.Errorf("after the refusal the user's property is %v", rows[0])
	}

	undone := c.ok(t, "run", "--undo", runID)
	if undone["nodesCleared"] != 34.0 {
		t.Errorf("undo cleared %v nodes, want 34", undone["nodesCleared"])
	}
	rows = Query(t, "MATCH (n:`"+label+"`) WHERE n.cliRunId IS NOT NULL OR n.cliPrivateHeat IS NOT NULL RETURN count(n)", nil)
	if rows[0][0] != int64(0) {
		t.Errorf("%v nodes keep properties after undo", rows[0][0])
	}
	rows = Query(t, "MATCH (r:GraphCloakRun {runId: $run}) RETURN r.status, r.epsilonSpent", map[string]any{"run": runID})
	if rows[0][0] != "UNDONE" || rows[0][1] != 4.0 {
		t.Errorf("after undo the run node says %v, want UNDONE with its spend", rows[0])
	}
}

// testForeignQueries: a query in a plan or release file runs where the user gives the
// very same text, and nowhere else; nothing is spent without.
func testForeignQueries(t *testing.T, c cli) {
	label := Load(t, Shipped("karate"))
	source(t, label, 16)
	dir := t.TempDir()
	plan, release := filepath.Join(dir, "plan.json"), filepath.Join(dir, "release.json")
	query := "MATCH (n:`" + label + "`) RETURN n.id AS id"
	given := []string{"--node-query", query}
	other := []string{"--node-query", query + " LIMIT 3"}
	must := func(args ...string) {
		t.Helper()
		if r := c.run(t, args...); r.exit != 0 {
			t.Fatalf("graphcloak %s: exit %d: %s", strings.Join(args, " "), r.exit, r.stderr)
		}
	}
	must(append([]string{"plan", "--node-key", "id", "--epsilon", "4", "--delta", "0.1", "-o", plan}, given...)...)
	property := secret(t, label)
	spend := []string{"release", "--plan", plan, "--source-property", property, "-o", release}
	c.refused(t, 6, query, spend...)
	c.refused(t, 6, query, append(spend, other...)...)
	if rows := Query(t, "MATCH (b:GraphCloakBudget {scope: $scope}) RETURN b",
		map[string]any{"scope": "property=" + property}); len(rows) != 0 {
		t.Errorf("a refused file opened %d budgets", len(rows))
	}
	must(append(spend, given...)...)
	for _, args := range [][]string{
		{"verify", release},
		{"recover", "--release", release},
		{"evaluate", "--plan", plan, "--trials", "20"},
	} {
		c.refused(t, 6, query, args...)
		c.refused(t, 6, query, append(args, other...)...)
		must(append(args, given...)...)
	}
}

// staged lists the releases that are kept.
func (c cli) staged(t *testing.T) []string {
	t.Helper()
	for _, e := range c.env {
		if dir, ok := strings.CutPrefix(e, "XDG_STATE_HOME="); ok {
			files := must.Get(filepath.Glob(filepath.Join(dir, "graphcloak", "runs", "*.json")))(t)
			return slices.DeleteFunc(files, func(path string) bool { // an attempt, or gone meanwhile
				data, err := os.ReadFile(path)
				return err != nil || !bytes.Contains(data, []byte(`"planDigest"`))
			})
		}
	}
	t.Fatal("the command has no folder for its state")
	return nil
}

// start starts a run and returns when its release is staged, in a file. From that
// moment the release is spent, and is never lost.
func (c cli) start(t *testing.T, args ...string) (cmd *exec.Cmd, file string) {
	t.Helper()
	cmd = exec.Command(c.path, args...)
	cmd.Env = append(os.Environ(), c.env...)
	must.Do(t, cmd.Start())
	var staged []string
	for deadline := time.Now().Add(3 * time.Minute); len(staged) == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		staged = c.staged(t)
	}
	if len(staged) != 1 {
		_ = cmd.Process.Kill()
		t.Fatalf("%d releases are staged, want 1", len(staged))
	}
	return cmd, staged[0]
}

func testImportCommand(t *testing.T, c cli) {
	folder := must.Get(filepath.Abs(filepath.Join("..", "examples", "data", "net3")))(t)
	label := Load(t, Files("id\nx\n", "source,target\n"))
	c.refused(t, 5, "", "graph", "import", folder, "--label", label)
	done := c.ok(t, "graph", "import", folder, "--label", label, "--replace")
	if done["nodesCreated"] != 97.0 || done["relationshipsCreated"] != 119.0 || done["nodesDeleted"] != 1.0 {
		t.Errorf("the import says %v, want 97 nodes and 119 relationships in place of one node", done)
	}
	c.refused(t, 3, "no such file", "graph", "import", filepath.Join(folder, "nowhere"))
}

// testReadme runs what the README says for a server, on a graph that fits.
func testReadme(t *testing.T, c cli) {
	text := must.Get(os.ReadFile(filepath.Join("..", "README.md")))(t)
	label := Load(t, Shipped("karate"), func(o *neo4j.ImportOptions) { o.RelationshipType = "KNOWS" })
	Query(t, "MATCH (n:`"+label+"` {id: 16}) SET n.risk = 1.0", nil)
	ran := 0
	for line := range strings.Lines(string(text)) {
		args, ok := strings.CutPrefix(strings.TrimSpace(line), "$ graphcloak ")
		if !ok {
			continue
		}
		words := strings.Fields(strings.ReplaceAll(args, "Person", label))
		if r := c.run(t, words...); r.exit != 0 {
			t.Errorf("graphcloak %s: exit %d\n%s", strings.Join(words, " "), r.exit, r.stderr)
		}
		ran++
	}
	if ran < 3 {
		t.Errorf("the README has %d commands for a server, want at least 3", ran)
	}
}

// The nodes that keep runs and the ledger are no part of the user's graph, also
// where the selection is everything.
func TestBookkeepingIsNoGraph(t *testing.T) {
	c := newCLI(t)
	label := Load(t, Shipped("karate"))
	source(t, label, 16)
	c.ok(t, "run", "--node-labels", label, "--source-property", "source", "--allocation", "uniform", "--mode", "stats", "--spend-at-chance")
	if n := Query(t, "MATCH (n:GraphCloakEntry) RETURN count(n)", nil)[0][0]; n == int64(0) {
		t.Fatal("the run left no entry in the ledger")
	}
	store, job := connect(t).Jobs(), "bookkeeping "+token()
	forgetJob(t, job)
	must.Get(store.Claim(t.Context(), tickOf(job, 0), holder(), time.Minute))(t)
	must.Do(t, store.Enlist(t.Context(), job))
	t.Cleanup(func() { Query(t, "MATCH (j:GraphCloakJob {name: $name}) DELETE j", map[string]any{"name": job}) })
	want := Query(t, "MATCH (n) WHERE none(l IN labels(n) WHERE l STARTS WITH 'GraphCloak') RETURN count(n)", nil)[0][0]
	g := must.Get(connect(t).Graph(t.Context(), graph.Selection{}))(t)
	if int64(g.Order()) != want {
		t.Errorf("everything is %d nodes, want %v", g.Order(), want)
	}
}
