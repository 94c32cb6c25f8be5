// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"testing"

	"github.com/graphcloak/graphcloak"
)

// TestPlanSeed: --random-seed draws another simulation of the same plan.
func TestPlanSeed(t *testing.T) {
	kit(t)
	said := make(map[float64]string)
	for _, seed := range []string{"0", "1", "2"} {
		exit, stdout, stderr := called(t, "plan", "--from", "example:karate", "--tau", "1", "--allocation", "uniform", "--delta", "0.01",
			"--trials", "60", "--community-property", "club", "--random-seed", seed)
		var p graphcloak.Plan
		if err := json.Unmarshal([]byte(stdout), &p); exit != exitOK || err != nil || p.Accuracy == nil {
			t.Fatalf("exit %d, %v: %s", exit, err, stderr)
		}
		said[p.Accuracy.MeanEMD] += seed
	}
	if len(said) != 3 {
		t.Errorf("three seeds give %d simulations: %v", len(said), said)
	}
}
