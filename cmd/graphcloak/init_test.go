// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/must"
)

// town is a folder with labels and types, of which a few roads are the graph; sick is
// private, and one of its values is like no other number.
func town(t *testing.T) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	writeGraph(t, "town",
		"id,labels,street,ward,sick\n1,Place,Ash Row,north,0\n2,Place,Birch Row,north,0.8675309\n3,Place,Cedar Row,south,0\n4,Place,Elm "+
			"Row,south,0\n9,Shop,,,\n",
		"source,target,type,length,since\n1,2,ROAD,2.5,1\n2,3,ROAD,4,1\n3,4,PATH,2,1\n1,9,SELLS,,1\n")
}

// TestInit: what is proposed is what a person would choose, the file that is written is
// one that a run takes, and the value of the private property stands nowhere.
func TestInit(t *testing.T) {
	kit(t)
	town(t)
	args := []string{"init", "--from", "folder:town", "--source-property", "sick", "--format", "json"}
	exit, stdout, stderr := called(t, args...)
	if exit != exitOK {
		t.Fatalf("exit %d\n%s", exit, stderr)
	}
	file := must.Get(os.ReadFile("graphcloak.yaml"))(t)
	want := "from: folder:town\nnodeLabels:\n  - Place\nrelationshipTypes:\n  - PATH\n  - ROAD\nnodeKey: id\nsourceProperty: " +
		"sick\nalpha: 2.5\nmetric: length\ncommunityProperty: ward\n"
	if _, got, _ := strings.Cut(string(file), "runs in.\n"); got != want {
		t.Errorf("the file is\n%swant\n%s", got, want)
	}
	var result struct {
		Next     []string
		Warnings []string
	}
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || len(result.Next) != 2 {
		t.Fatalf("%v, next %q", err, result.Next)
	}
	if !strings.Contains(strings.Join(result.Warnings, "\n"), "chance is 50 %") || !strings.Contains(stderr, "chance is 50 %") {
		t.Errorf("nothing says that ε = 1 tells little here: %q\n%s", result.Warnings, stderr)
	}
	for _, text := range []string{stdout, stderr, string(file)} {
		if strings.Contains(text, "8675309") {
			t.Errorf("a value of the private property is shown:\n%s", text)
		}
	}
	if exit, _, stderr := called(t, args...); exit != exitConflict {
		t.Errorf("a second init: exit %d\n%s", exit, stderr)
	}
	run := strings.Fields(strings.TrimPrefix(result.Next[1], "graphcloak "))
	succeeds(t, append(run, "--format", "json")...)
	for property, want := range map[string]int{"ward": exitValidation, "sik": exitNotFound, "id": exitUsage} {
		exit, _, stderr := called(t, append(args, "other.yaml", "--source-property", property, "--node-key", "id")...)
		if _, err := os.Stat("other.yaml"); exit != want || err == nil {
			t.Errorf("%s as the private property: exit %d, want %d and no file\n%s", property, exit, want, stderr)
		}
	}
}

// TestInitOfReleased: what a run released is proposed for nothing else, and what runs wrote for nothing.
func TestInitOfReleased(t *testing.T) {
	kit(t)
	writeGraph(t, "hall", "id,wing,score\n1,a,1\n2,a,0\n3,b,0\n4,b,0\n", "source,target\n1,2\n2,3\n3,4\n")
	succeeds(t, "run", "--from", "folder:hall", "--source-property", "score", "--epsilon", "8")
	succeeds(t, "init", "--from", "folder:hall")
	file, err := os.ReadFile("graphcloak.yaml")
	if err != nil || !strings.Contains(string(file), "sourceProperty: score\n") || strings.Contains(string(file), "gc") &&
		strings.Contains(string(file), ": gc") {
		t.Errorf("%v\n%s", err, file)
	}
}

// TestInitGuessesNoSecret: nothing is guessed about what is private.
func TestInitGuessesNoSecret(t *testing.T) {
	kit(t)
	town(t)
	exit, _, stderr := called(t, "init", "--from", "folder:town")
	if exit != exitUsage || !strings.Contains(stderr, "numbers are in sick") {
		t.Errorf("exit %d, want %d\n%s", exit, exitUsage, stderr)
	}
	if _, err := os.Stat("graphcloak.yaml"); err == nil {
		t.Error("a file was written all the same")
	}
}

// TestInitOfHostileSchema: names that steer a terminal, quote, break lines or are many are
// shown as text, written as text, or left out.
func TestInitOfHostileSchema(t *testing.T) {
	kit(t)
	var header, row strings.Builder
	for k := range 10_000 {
		fmt.Fprintf(&header, ",p%d", k)
		row.WriteString(",1")
	}
	nodes := "id,labels,\"!!python: [x]\u202e\"" + header.String() + ",leak\n"
	for k := range 4 {
		nodes += fmt.Sprintf("%d,\"a,`b\"\" 'c': #\",1%s,0\n", k, row.String())
	}
	writeGraph(t, "odd", nodes, "source,target,type\n0,1,$(rm -rf x)\n1,2,$(rm -rf x)\n2,3,\"- &anchor\"\n")
	exit, stdout, stderr := called(t, "init", "--from", "folder:odd", "--source-property", "leak", "--format",
		"table", "it's.yaml")
	if exit != exitOK {
		t.Fatalf("exit %d\n%.2000s", exit, stderr)
	}
	if strings.ContainsAny(stdout+stderr, "\x1b\u202e") || len(stdout)+len(stderr) > 10_000 {
		t.Errorf("the terminal gets %d bytes: %.500q", len(stdout+stderr), stdout+stderr)
	}
	if !strings.Contains(stdout, `graphcloak run --config 'it'\''s.yaml'`) {
		t.Errorf("the next command is not quoted:\n%s", stdout)
	}
	c := must.Get(config.Load(config.Layers{File: "it's.yaml"}))(t)
	if labels := c.Projection.NodeLabels; !slices.Equal(labels, []string{"a,`b\" 'c': #"}) {
		t.Errorf("labels %q", labels)
	}
	if types := c.Projection.RelationshipTypes; !slices.Equal(types, []string{"$(rm -rf x)", "- &anchor"}) {
		t.Errorf("types %q", types)
	}
}

// TestInitAtChance: where a run would be refused, what comes next is what helps, and spending all the same stands last.
func TestInitAtChance(t *testing.T) {
	kit(t)
	writeGraph(t, "hall", "id,wing,score\n1,a,1\n2,a,0\n3,a,0\n4,b,0\n5,b,0\n6,b,0\n", "source,target\n1,2\n2,3\n3,1\n3,4\n4,5\n5,6\n6,4\n")
	exit, stdout, stderr := called(t, "init", "--from", "folder:hall", "--source-property", "score", "--community-property", "wing",
		"--epsilon", "0.01", "--format", "json")
	if exit != exitOK {
		t.Fatalf("exit %d\n%s", exit, stderr)
	}
	var result struct{ Next []string }
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || len(result.Next) != 2 {
		t.Fatalf("%v, next %q", err, result.Next)
	}
	if !strings.HasPrefix(result.Next[0], "graphcloak plan ") || !strings.HasSuffix(result.Next[0], " --target-accuracy 0.9") ||
		!strings.HasSuffix(result.Next[1], " --spend-at-chance") {
		t.Errorf("next is %q", result.Next)
	}
	for _, next := range result.Next {
		if exit, _, stderr := called(t,
			append(strings.Fields(strings.TrimPrefix(next, "graphcloak ")), "--format", "json")...); exit != exitOK {
			t.Errorf("%s: exit %d\n%s", next, exit, stderr)
		}
	}
}
