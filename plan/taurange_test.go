// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
)

// Where each reading is private by itself, it is so at every τ of the interval; with the noise of one
// τ it is not.
func TestEachSensorOverTau(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	job := testkit.MeasuredJob(privacy.Uncertainty{TauFrom: 1, TauTo: 3})
	job.Plan.Guarantee = privacy.PerSensor
	m, p := testkit.Planned(t, s, job)
	job.Plan.Uncertainty = privacy.Uncertainty{}
	_, plain := testkit.Planned(t, s, job)
	// ratio is the largest difference of a reading, in units of what its noise is charged for.
	ratio := func(p *graphcloak.Plan) (most float64) {
		for k := range 41 {
			d := must.Get(expm.New(t.Context(), laplacian.New(m.Graph, laplacian.Combinatorial), 1+2*float64(k)/40, expm.Options{}))(t)
			b, y := make([]float64, m.Graph.Order()), make([]float64, m.Graph.Order())
			for e := range m.Graph.Edges() {
				clear(b)
				b[e.U], b[e.V] = 1, -1
				d.MulVecTo(y, false, b)
				for _, s := range p.Sensors {
					most = max(most, math.Abs(y[s.Node])/s.Bound)
				}
			}
		}
		return most
	}
	if x := ratio(p); x > 1 || x < .99 {
		t.Errorf("over the interval a reading differs by %v times what is charged, want just below 1", x)
	}
	if x := ratio(plain); x < 1.2 {
		t.Errorf("under the noise of one τ by %v times: nothing was tested", x)
	}
	if err := errors.Join(m.Matches(p.Plan), m.Certify(t.Context(), p.Plan)); err != nil {
		t.Error(err)
	}
	if !strings.Contains(p.Sentence(), "with any τ from 1 to 3") {
		t.Error(p.Sentence())
	}
	forged := testkit.Forge(t, plain, func(s *privacy.Spec) { s.Uncertainty = p.Uncertainty })
	if err := m.Certify(t.Context(), forged.Plan); !errors.Is(err, plan.ErrPlan) {
		t.Errorf("bounds of one τ pass for those of the interval: %v", err)
	}
}

// Beyond the order to which all eigenpairs are computed an interval of τ is certified by products.
func TestTauRangeOfLargeGraph(t *testing.T) {
	g, _, err := graph.RoadLike(5100, 1)
	if err != nil {
		t.Fatal(err)
	}
	job := testkit.MeasuredJob(privacy.Uncertainty{TauFrom: 1.9, TauTo: 2.1})
	job.Communities = community.Options{}
	job.Plan.Allocation.Uniform, job.Plan.SensitivityTolerance = true, .01
	job.Signal = graphcloak.Signal{MeasurementProperty: "heat"}
	m := must.Get(graphcloak.Load(t.Context(), memory.FromGraph(g), job.Settings, graphcloak.LoadOptions{}))(t)
	var some []int
	for i := 0; i < g.Order(); i += 300 {
		some = append(some, i)
	}
	few := must.Get(m.WithSensors(some))(t)
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
