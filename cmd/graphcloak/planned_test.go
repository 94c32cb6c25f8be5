// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
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
	const why = "the plan was made for other communities than these"
	do := func(args, want, not string) {
		t.Helper()
		exit, _, stderr := called(t, strings.Fields(args)...)
		if text := strings.Join(strings.Fields(stderr), " "); exit != 0 || !strings.Contains(text, want) || not != "" &&
			strings.Contains(text, not) {
			t.Errorf("%s: exit %d, %q, and not %q, in %s", args, exit, want, not, stderr)
		}
	}
	for _, noise := range []string{"uniform", "optimal"} {
		do(plan+noise, "", "")
		const release = "release --from folder:g --plan plan.json --source-property source -o release.json --force"
		do(release, "", "")
		const evaluate, recover = "evaluate --from folder:g --plan plan.json --trials 20 --format json ",
			"recover --from folder:g --release release.json --format json "
		do(evaluate+"--gamma 100", why, "")
		do(evaluate, "", "was made for") // they are detected, and the same
		for _, command := range []string{evaluate, recover} {
			do(command+"--community-property side", why, "")
			do(command+"--community-property end", "", "was made for")
		}
	}
}
