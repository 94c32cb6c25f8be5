// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// noisy adds the noise of the measurements of grid.
func noisy(in analyst.Measurements, seed uint64) analyst.Measurements {
	random := rand.New(rand.NewPCG(seed, 0))
	for k := range in.Values {
		in.Values[k] += in.Sigmas[k] * random.NormFloat64()
	}
	in.Clip = &privacy.Interval{Lo: 0, Hi: 1}
	return in
}

func rate(x float64) *float64 { return &x }

// TestStuckSensorIsNamed: one stuck sensor decides the answer of a posterior that trusts all, and
// is named, and left out, by one that supposes that some are broken.
func TestStuckSensorIsNamed(t *testing.T) {
	m, in := grid(t, []int{7}, .03)
	in = noisy(in, 5)
	const source, stuck = graph.ID("7"), graph.ID("28")
	at, _ := m.Graph.Index(stuck)
	in.Values[at] = 1
	naive := must.Get(m.RecoverFrom(t.Context(), in, analyst.Options{FaultRate: rate(0)}))(t)
	rep := must.Get(m.RecoverFrom(t.Context(), in, analyst.Options{FaultRate: rate(.01)}))(t)
	if naive.Posterior.NodeID == source || naive.SuspectSensors != nil || naive.SensorFaultRate != 0 {
		t.Errorf("without faults: %v, suspects %v", naive.Posterior, naive.SuspectSensors)
	}
	if rep.Posterior.NodeID != source || len(rep.SuspectSensors) != 1 || rep.SuspectSensors[0].NodeID != stuck ||
		rep.SuspectSensors[0].Probability < .99 || rep.SensorFaultRate != .01 || math.Abs(rep.SensorFaultyPrior-.0484) > 1e-4 {
		t.Errorf("with faults: %v, suspects %v", rep.Posterior, rep.SuspectSensors)
	}
	if !strings.Contains(strings.Join(rep.Notes, "\n"), "1 sensor is more likely faulty") {
		t.Errorf("notes %q", rep.Notes)
	}
	if naive.BPDN.Status != "infeasible" || rep.BPDN.Status != "optimal" {
		t.Errorf("Basis Pursuit Denoising is %s, and %s without the sensor", naive.BPDN.Status, rep.BPDN.Status)
	}
}

// TestEqualReadingsNameNothing: readings that are all equal leave a few sensors that are not suspect, which any source fits:
// no community is named by them.
func TestEqualReadingsNameNothing(t *testing.T) {
	g := must.Get(graph.Path(12))(t)
	m := must.Get(graphcloak.Load(t.Context(), publicStore{g: g}, graphcloak.Settings{Tau: tau.At(1)}, graphcloak.LoadOptions{}))(t)
	for seed := range uint64(6) {
		var in analyst.Measurements
		for i := range g.Order() {
			in.Nodes, in.Values, in.Sigmas = append(in.Nodes, i), append(in.Values, .3), append(in.Sigmas, .03)
		}
		rep := must.Get(m.RecoverFrom(t.Context(), noisy(in, seed), analyst.Options{FaultRate: rate(.01)}))(t)
		if v := rep.Verdict(); v == report.Named || v == report.Perhaps {
			t.Errorf("seed %d: %s, %d of %d sensors faulty, %+v: %s", seed, v, rep.FaultySensors(), rep.SensorCount, *rep.Fit, rep.Answer)
		}
	}
}
