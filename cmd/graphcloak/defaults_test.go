// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
)

// TestPlanWithNothingGiven: on graphs of all kinds
// a plan with the defaults comes more than half of the way from chance to certainty, or its
// warning says how far it comes and what to change; what cannot be planned ends in a hint.
func TestPlanWithNothingGiven(t *testing.T) {
	kit(t)
	const served = "path,n=80" // whose answer is useful
	graphs := []string{"sbm,n=60,k=2,in=0.3,out=0.02", served, "complete,n=12", "star,n=12", "rmat,n=32,edges=60", "path,n=1"}
	for i := range graphs {
		graphs[i] = "generate:" + graphs[i]
	}
	graphs = append(graphs, "example:karate")
	useful := make(map[string]bool)
	for _, g := range graphs {
		args := []string{"plan", "--from", g, "--trials", "30"}
		if strings.HasPrefix(g, "generate:rmat,") {
			args = append(args, "--isolated", "drop")
		}
		if g != "generate:"+served { // the others take less time for a worse plan
			args = append(args, "--allocation", "uniform")
		}
		exit, stdout, stderr := called(t, args...)
		if exit != exitOK {
			if exit != exitValidation || !strings.Contains(stderr, "the graph has no relationship") || !strings.Contains(stderr, "Hint: ") {
				t.Errorf("%s: exit %d without a reason and a hint:\n%s", g, exit, stderr)
			}
			continue
		}
		var p graphcloak.Plan
		if err := json.Unmarshal([]byte(stdout), &p); err != nil || p.Accuracy == nil {
			t.Fatalf("%s: %v, %+v", g, err, p.Accuracy)
		}
		if a := p.Accuracy; a.Chance < .99 && 2*(a.Probability-a.Chance) > 1-a.Chance {
			useful[g] = true
			continue
		}
		why := strings.Contains(stderr, "; chance is ") || strings.Contains(stderr, "there is a single community")
		change := strings.Contains(stderr, "--target-accuracy 0.9` finds") || strings.Contains(stderr, "give a --community-property")
		if !strings.Contains(stderr, "Warning: ") || !why || !change {
			t.Errorf("%s: right in %v, chance %v, and nobody is told why and what to change:\n%s", g, p.Accuracy.Probability,
				p.Accuracy.Chance, stderr)
		}
	}
	if !useful["generate:"+served] {
		t.Errorf("the defaults do not serve %s", served)
	}
}
