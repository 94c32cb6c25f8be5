// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"errors"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
)

// Beyond the order to which all eigenpairs are computed an interval of τ is certified by products.
func TestTauRangeOfLargeGraph(t *testing.T) {
	g, _, err := graph.RoadLike(5100, 1)
	must.Do(t, err)
	job := testkit.MeasuredJob(tau.Range{From: 1.9, To: 2.1})
	job.Communities = community.Options{}
	job.Plan.Allocation.Uniform, job.Plan.SensitivityTolerance = true, .01
	job.Signal = graphcloak.Signal{MeasurementProperty: "heat"}
	m := must.Get(graphcloak.Load(t.Context(), memory.FromGraph(g), job.Settings, graphcloak.LoadOptions{}))(t)
	var some []int
	for i := 0; i < g.Order(); i += 300 {
		some = append(some, i)
	}
	few := *m.Model
	few.Sensors = some
	p := must.Get(few.Plan(t.Context(), job.Plan))(t)
	if b := p.Sensitivity; b.Upper > 1.02*b.Lower || b.Failure > 1e-12 {
		t.Errorf("certified from %v to %v, failing with %v", b.Lower, b.Upper, b.Failure)
	}
	if err := few.Certify(t.Context(), p.Plan); err != nil {
		t.Error(err)
	}
	forged := testkit.Forge(t, p, func(s *privacy.Spec) { s.Sensitivity.Upper = s.Sensitivity.Lower * .99; s.Sensitivity.Lower *= .9 })
	if err := few.Certify(t.Context(), forged.Plan); !errors.Is(err, plan.ErrPlan) {
		t.Errorf("a sensitivity that is too small passes: %v", err)
	}
}

// TestPerSensorOfIsolatedNodes: a sensor that no relationship reaches, whose sensitivity is rounding,
// has the noise of the most sensitive one, and its plan is certified again.
func TestPerSensorOfIsolatedNodes(t *testing.T) {
	dir := t.TempDir()
	testkit.Write(t, dir, "nodes.csv", "id\n1\n2\n3\n4\n5\n")
	testkit.Write(t, dir, "relationships.csv", "source,target\n1,2\n2,3\n")
	job := testkit.PaperJob()
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
