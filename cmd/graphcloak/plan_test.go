// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/privacy"
)

// A sensitivity that is known roughly is told, with what would help.
func TestNoteBracket(t *testing.T) {
	for _, c := range []struct {
		lower, upper float64
		limit        time.Duration
		want         []string
	}{
		{1, 1.9, 0, nil},
		{3e-7, 9e-6, 0, []string{"factor of 30", "--tau"}},
		{0, 1, time.Second, []string{"from above only", "--sensitivity-time"}},
		{3e-7, 9e-6, time.Second, []string{"factor of 30", "--sensitivity-time"}},
	} {
		var out bytes.Buffer
		a := &app{stderr: &out}
		a.noteBracket(&graphcloak.Plan{Plan: &privacy.Plan{Public: privacy.Public{}, Sensitivity: privacy.Sensitivity{Lower: c.lower, Upper: c.upper}}}, c.limit)
		for _, w := range c.want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%v to %v: %q, want %q", c.lower, c.upper, &out, w)
			}
		}
		if c.want == nil && out.Len() > 0 {
			t.Errorf("%v to %v: %q, want nothing", c.lower, c.upper, &out)
		}
	}
}

// TestPlanSeed: --random-seed draws another simulation of the same plan.
func TestPlanSeed(t *testing.T) {
	kit(t)
	said := make(map[float64]string)
	for _, seed := range []string{"0", "1", "2"} {
		exit, stdout, stderr := called(t, "plan", "--from", "example:karate", "--tau", "1", "--allocation", "uniform", "--delta", "0.01", "--trials", "60", "--community-property", "club", "--random-seed", seed)
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
