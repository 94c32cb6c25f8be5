// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/documented"
	"github.com/graphcloak/graphcloak/internal/must"
)

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
