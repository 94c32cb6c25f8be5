// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/plan"
)

// TestPlanOfOtherCommunities: a plan that is evaluated, and a release that is recovered from, with other communities than it
// was made for is not so in silence, though they be as many; and with its own there is nothing to say.
func TestPlanOfOtherCommunities(t *testing.T) {
	kit(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	writeGraph(t, "g", "id,source,end,side,risk\n0,1,a,x,1\n1,0,a,y,1\n2,0,a,x,2\n3,0,b,y,1\n4,0,b,x,1\n5,0,b,y,1\n",
		"source,target\n0,1\n1,2\n0,2\n2,3\n3,4\n4,5\n3,5\n")
	const plan = "plan --from folder:g --tau 0.1 --epsilon 100 --delta 0.01 --trials 20 -o plan.json --force --community-property end " +
		"--allocation "
	const why = `the plan was made for 2 communities ("end"), and this is of 2 communities ("side"). `
	do := func(args, want, not string) {
		t.Helper()
		exit, _, stderr := called(t, strings.Fields(args)...)
		if text := strings.Join(strings.Fields(stderr), " "); exit != 0 || !strings.Contains(text, want) || not != "" &&
			strings.Contains(text, not) {
			t.Errorf("%s: exit %d, %q, and not %q, in %s", args, exit, want, not, stderr)
		}
	}
	for noise, rests := range map[string]string{
		"uniform": "What its plan expected of its accuracy is of those",
		"optimal": "Its noise was allocated for those",
	} {
		do(plan+noise, "", "")
		const release = "release --from folder:g --plan plan.json --source-property source -o release.json --force"
		do(release, "", "")
		const evaluate, recover = "evaluate --from folder:g --plan plan.json --trials 20 --format json ",
			"recover --from folder:g --release release.json --format json "
		do(evaluate+"--community-property side", why+"Its noise and its own accuracy are for what it was made for: name its "+
			"--community-property", "")
		do(recover+"--community-property side", why+rests, "")
		do(evaluate+"--gamma 100", `this is of 6 communities (detected by leiden, γ = 100)`, "")
		do(evaluate, "", "was made for") // they are detected, and the same
		for _, same := range []string{evaluate, recover} {
			do(same+"--community-property end", "", "was made for")
		}
		do(evaluate+"--community-property end --prior-property risk", `the plan was made without the prior "risk"`, "was made for")
	}
	do(strings.Replace(plan, "--community-property end", "", 1)+"uniform", "", "")
	do("evaluate --from folder:g --plan plan.json --trials 20 --format json --gamma 100",
		"(detected by leiden), and this is of 6 communities (detected by leiden, γ = 100). Its "+
			"noise and its own accuracy are for what it was made for: have them detected as they were", "")
}

// TestImpossibleCommunities: a plan that says of its communities what cannot be is refused.
func TestImpossibleCommunities(t *testing.T) {
	kit(t)
	writeGraph(t, "g", "id,end\n0,a\n1,a\n2,b\n3,b\n", "source,target\n0,1\n1,2\n2,3\n")
	if exit, _, stderr := called(t, strings.Fields("plan --from folder:g --tau 0.1 --epsilon 100 --delta 0.01 --trials 20 -o plan.json "+
		"--community-property end --allocation uniform")...); exit != 0 {
		t.Fatal(stderr)
	}
	text, err := os.ReadFile("plan.json")
	if err != nil {
		t.Fatal(err)
	}
	planned := func(change func(p *graphcloak.Plan)) (int, string) {
		t.Helper()
		var p graphcloak.Plan
		if err := json.Unmarshal(text, &p); err != nil {
			t.Fatal(err)
		}
		change(&p)
		data, err := json.Marshal(&p)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("changed.json", data, 0o644); err != nil {
			t.Fatal(err)
		}
		exit, _, stderr := called(t, strings.Fields("evaluate --from folder:g --plan changed.json --trials 20 --format json "+
			"--gamma 100")...)
		return exit, stderr
	}
	for what, change := range map[string]func(c *plan.PlannedCommunities){
		"none":              func(c *plan.PlannedCommunities) { c.Count = 0 },
		"more than nodes":   func(c *plan.PlannedCommunities) { c.Count = 5 },
		"neither way":       func(c *plan.PlannedCommunities) { c.Property = "" },
		"both ways":         func(c *plan.PlannedCommunities) { c.Detection = &plan.Detection{Method: "leiden"} },
		"a hidden property": func(c *plan.PlannedCommunities) { c.Property = "other" },
		"no such method": func(c *plan.PlannedCommunities) {
			c.Property, c.Detection = "", &plan.Detection{Method: "x"}
		},
		"a negative setting": func(c *plan.PlannedCommunities) {
			c.Property, c.Detection = "", &plan.Detection{Method: "leiden", Gamma: -1}
		},
	} {
		if exit, said := planned(func(p *graphcloak.Plan) { change(p.Communities) }); exit != exitValidation {
			t.Errorf("%s: exit %d, %s", what, exit, said)
		}
	}
	if !bytes.Contains(text, []byte(`"communities"`)) {
		t.Error("the plan does not say its communities")
	}
}
