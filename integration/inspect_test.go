// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"math"
	"testing"
)

// TestInspect asks a server's graph the paper's questions, and finds what the same
// graph from a file gives; nothing is written.
func TestInspect(t *testing.T) {
	setUp(t)
	label := Load(t, Shipped("karate"))
	before := Query(t, "MATCH (n) RETURN count(n), sum(size(keys(n)))", nil)
	c := newCLI(t)
	in := c.ok(t, "inspect", "--node-labels", label, "--tau", "2", "--format", "json")
	for name, want := range map[string]float64{
		"nodeCount": 34, "relationshipCount": 78, "lambda2": .4685252267013,
		"lambdaMax": 18.1366960,
	} {
		if got, ok := in[name].(float64); !ok || math.Abs(got-want) > 1e-7*want {
			t.Errorf("%s = %v, want %v", name, in[name], want)
		}
	}
	s := in["sensitivity"].(map[string]any)
	if upper := s["upper"].(float64); math.Abs(upper-.137538) > 1e-6 || len(s["why"].([]any)) == 0 {
		t.Errorf("sensitivity %v", s)
	}
	if after := Query(t, "MATCH (n) RETURN count(n), sum(size(keys(n)))", nil); after[0][0] != before[0][0] || after[0][1] != before[0][1] {
		t.Errorf("nodes and properties were %v, are %v", before, after)
	}
	c.refused(t, 3, "Nobody", "inspect", "--node-labels", "Nobody"+label, "--format", "json")
}
