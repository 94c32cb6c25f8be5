// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/privacy"
)

// TestPerSensorOfIsolatedNodes: a sensor that no relationship reaches, whose sensitivity is rounding,
// has the noise of the most sensitive one, and its plan is certified again.
func TestPerSensorOfIsolatedNodes(t *testing.T) {
	dir := t.TempDir()
	testkit.Write(t, dir, "nodes.csv", "id\n1\n2\n3\n4\n5\n")
	testkit.Write(t, dir, "relationships.csv", "source,target\n1,2\n2,3\n")
	job := paperJob()
	job.Settings.Public = graphcloak.Public{}
	job.Plan.Guarantee = privacy.PerSensor
	job.Selection.Isolated = graph.AllowIsolated
	m, p := testkit.Planned(t, testkit.Folder(t, dir), job)
	largest := 0.0
	for _, s := range p.Sensors {
		largest = max(largest, s.Bound)
	}
	for _, s := range p.Sensors {
		if alone := s.ID == "4" || s.ID == "5"; alone && s.Bound != largest || s.Bound < .01*largest {
			t.Errorf("sensor %s is charged %v of %v", s.ID, s.Bound, largest)
		}
	}
	if err := m.Certify(t.Context(), p.Plan); err != nil {
		t.Error(err)
	}
}
