// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
)

// TestOddSignals: values that no CSV can bring are counted, neither named nor taken
// for missing, and the query that the user gets finds exactly their nodes.
func TestOddSignals(t *testing.T) {
	label := Load(t, Files("id,heat,back`tick\nn7731,0.5,0.5\nb,,\nc,1,1\nd,0.25,0.25\n", "source,target\nn7731,b\nb,c\nc,d\n"))
	s := connect(t)
	sel := graph.Selection{NodeLabels: []string{label}, NodeKey: "id"}
	g := must.Get(s.Graph(t.Context(), sel))(t)
	for _, property := range []string{"heat", "back`tick"} {
		for cypher, bad := range map[string]bool{
			"[]": true, "[0.5]": true, "['v5519']": true, "'v5519'": true, "date('1999-12-31')": true,
			"point({x: 5519, y: 1})": true, "true": false,
			"0.0/0.0": true, "1.0/0.0": true, "-1.0/0.0": true, "-0.5": false, "7": false, "null": false,
		} {
			name := strings.ReplaceAll(property, "`", "``")
			Query(t, "MATCH (n:`"+label+"` {id: 'n7731'}) SET n.`"+name+"` = "+cypher, nil)
			_, err := s.Signal(t.Context(), g, property)
			e, ok := errors.AsType[*privacy.ReadingsError](err)
			if ok != bad || bad && (!errors.Is(err, connector.ErrInput) || e.Count != 1) {
				t.Errorf("%s = %s: %v, want an ErrInput that counts one: %v", property, cypher, err, bad)
				continue
			}
			if bad && (strings.Contains(err.Error(), "7731") || strings.Contains(err.Error(), "5519") ||
				strings.Contains(err.Error(), "list")) {
				t.Errorf("%s = %s: %q names node or value", property, cypher, err)
			}
		}
	}
}

// TestRefusedSignalsAreNotTold runs the command on bad signals: whatever it says, at
// the finest log level, names neither the secret node nor its value.
func TestRefusedSignalsAreNotTold(t *testing.T) {
	c := newCLI(t)
	label := Load(t, Files("id,source\nn7731,0.5519\nb,0\nc,\n", "source,target\nn7731,b\nb,c\n"))
	on := func(args ...string) []string {
		return append([]string{"run", "--node-labels", label, "--node-key", "id", "--verbose"}, args...)
	}
	private := []string{"7731", "5519"}
	for _, row := range Query(t, "MATCH (n:`"+label+"` {id: 'n7731'}) RETURN elementId(n)", nil) {
		private = append(private, row[0].(string))
	}
	check := func(exit int, args ...string) {
		t.Helper()
		r := c.run(t, args...)
		if r.exit != exit {
			t.Errorf("%q: exit %d, want %d: %s", args, r.exit, exit, r.stderr)
		}
		for _, p := range private {
			if strings.Contains(r.stdout+r.stderr, p) {
				t.Errorf("%q says %s: %s%s", args, p, r.stdout, r.stderr)
			}
		}
	}
	for _, cypher := range []string{"'v5519'", "5519.5", "[5519]"} { // TestOddSignals has more
		Query(t, "MATCH (n:`"+label+"` {id: 'n7731'}) SET n.bad = "+cypher, nil)
		check(6, on("--source-property", "bad")...)
		if cypher != "5519.5" { // a fine prior
			check(6, on("--source-property", "source", "--prior-property", "bad")...)
		}
		if strings.ContainsAny(cypher, "'[/") {
			check(6, on("--measurement-property", "bad")...)
		}
	}
	check(6, on("--measurement-property", "source")...) // one is missing
	Query(t, "MATCH (n:`"+label+"` {id: 'n7731'}) SET n.gcSource = 0.5519", nil)
	check(5, on("--source-property", "gcSource")...)
	check(5, on("--source-property", "source")...)
}

// TestSignalOfOtherLabels: a property that only other labels have is refused
// without their names, and doctor points out what a run released where it lies beside.
func TestSignalOfOtherLabels(t *testing.T) {
	c := newCLI(t)
	label := Load(t, Files("id,labels,n5519\na,,\nb,,\nc,,\nd,"+"Holder"+",1\n", "source,target\na,b\nb,c\nc,d\n"))
	other := label + "Other"
	Query(t, "MATCH (n:`"+label+"`:Holder) REMOVE n:Holder, n:`"+label+"` SET n:`"+other+"`", nil)
	t.Cleanup(func() { Query(t, "MATCH (n:`"+other+"`) DETACH DELETE n", nil) })
	run := []string{"run", "--node-labels", label, "--node-key", "id", "--source-property", "n5519", "--property-prefix", "oth"}
	for _, args := range [][]string{run, append(slices.Clone(run), "--dry-run")} {
		r := c.run(t, args...)
		if r.exit != 6 || !strings.Contains(r.stderr, `no selected node has "n5519"`) || strings.Contains(r.stdout+r.stderr, other) {
			t.Errorf("%q: exit %d, want 6, and not the label %s: %s", args, r.exit, other, r.stderr)
		}
	}
	setUp(t)
	raw := func() string {
		for _, v := range c.ok(t, "doctor", "--node-labels", label)["checks"].([]any) {
			if check := v.(map[string]any); check["name"] == "raw values" {
				return check["detail"].(string)
			}
		}
		return ""
	}
	if text := raw(); strings.Contains(text, "n5519") {
		t.Errorf("before the run doctor says %q", text)
	}
	Query(t, "MATCH (n:`"+label+"`) SET n.n5519 = CASE n.id WHEN 'b' THEN 1 ELSE 0 END", nil)
	c.ok(t, run...)
	if text := raw(); !strings.Contains(text, "n5519 lies beside othPrivateHeat") {
		t.Errorf("after the run doctor says %q", text)
	}
	c.refused(t, 64, "it is what run", "recover", "--node-labels", label, "--node-key", "id", "--measurement-property", "othPrivateHeat",
		"--prior-property", "n5519")
	Query(t, "MATCH (n:`"+label+"`) REMOVE n.n5519", nil)
	if text := raw(); strings.Contains(text, "n5519") {
		t.Errorf("after the raw property has gone doctor says %q", text)
	}
}
