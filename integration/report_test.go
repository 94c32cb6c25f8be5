// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestReport: the page of a run on a server takes places from points and names from a
// caption, neither of them from what is private; the query that it shows lists the
// members; and the run is read back from the server to the same page.
func TestReport(t *testing.T) {
	c := newCLI(t)
	label := Load(t, Shipped("net3"))
	source(t, label, "121")
	Query(t, "MATCH (n:`"+label+"`) SET n.location = point({longitude: -93 + n.x / 100, latitude: 45 + n.y / 100}), n.title = 'Junction "+
		"<b>' + n.id REMOVE n.x, n.y", nil)
	dir := t.TempDir()
	flags := []string{"--node-labels", label, "--node-key", "id"}
	file := func(name string) string { return filepath.Join(dir, name) }
	rep := c.ok(t, append([]string{
		"run", "--source-property", "source", "--epsilon", "40", "--delta", "0.01", "--tau", "4", "--gamma", "0.1",
		"--allocation", "uniform", "--property-prefix", "page", "--report", file("a.html"), "--node-caption", "title",
	}, flags...)...)
	first := must.Get(os.ReadFile(file("a.html")))(t)
	for _, want := range []string{"Nodes are placed by their properties", "Junction &lt;b&gt;121", "around Junction &lt;b&gt;111"} {
		if !strings.Contains(string(first), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	shown := regexp.MustCompile(`MATCH \(n\)[^<]*`).Find(first)
	rows := Query(t, html.UnescapeString(string(shown)), nil)
	if top := rep["communities"].([]any)[0].(map[string]any); len(rows) == 0 || len(rows) > 25 ||
		len(rows) < min(25, int(top["size"].(float64))) {
		t.Errorf("the query %s lists %d nodes, the community has %v", shown, len(rows), top["size"])
	}
	for k := 1; k < len(rows); k++ {
		if rows[k][1].(float64) > rows[k-1][1].(float64) {
			t.Errorf("node %d of the query is likelier than the one before", k)
		}
	}

	runID := rep["runId"].(string)
	c.ok(t, append([]string{"report", runID, "--report", file("b.html"), "--node-caption", "title"}, flags...)...)
	second := must.Get(os.ReadFile(file("b.html")))(t)
	for _, mark := range []string{"<h1>", `<p class="lead">`, `<path class="edge"`, "<desc"} {
		a, b := lineWith(first, mark), lineWith(second, mark)
		if a == "" || a != b {
			t.Errorf("read back, the page says\n%.300s\nfor\n%.300s", b, a)
		}
	}
	c.refused(t, 64, "declared public",
		append([]string{"report", runID, "--node-caption", "source", "--report", file("c.html")}, flags...)...)
	Query(t, "MATCH (:`"+label+"`)-[r]->() WITH r LIMIT 1 DELETE r", nil)
	c.refused(t, 5, "another graph", append([]string{"report", runID, "--report", file("c.html")}, flags...)...)
}

// lineWith is the first line of a page that holds a mark.
func lineWith(page []byte, mark string) string {
	for line := range strings.Lines(string(page)) {
		if strings.Contains(line, mark) {
			return line
		}
	}
	return ""
}
