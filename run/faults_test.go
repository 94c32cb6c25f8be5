// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/laplacian/response"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
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

// TestSensorStuckAtAllTimes: a sensor that is stuck whenever it reads is one suspect, of as many sensors as there are nodes.
func TestSensorStuckAtAllTimes(t *testing.T) {
	heat, once := grid(t, []int{7}, .03)
	settings := graphcloak.Settings{Operators: []plan.NamedOperator{{Name: "heat"}}}
	m := must.Get(graphcloak.Load(t.Context(), heat.Source, settings, graphcloak.LoadOptions{
		Operators: func(_ context.Context, b *response.Builder) error {
			b.Begin("heat")
			columns, n := testgraph.Heat(heat.Graph, 1), heat.Graph.Order()
			for k := range 3 * n * n {
				i, j := k/3/n, k/3%n
				if err := b.AddAt(i, j, columns.At(i, j), strconv.Itoa(k%3)); err != nil {
					return err
				}
			}
			return nil
		},
	}))(t)
	var in analyst.Measurements
	for i, y := range once.Values {
		for k := range 3 {
			in.Nodes, in.Values, in.Sigmas = append(in.Nodes, 3*i+k), append(in.Values, y), append(in.Sigmas, once.Sigmas[i])
		}
	}
	in = noisy(in, 6)
	const stuck = graph.ID("28")
	at, _ := m.Graph.Index(stuck)
	copy(in.Values[3*at:], []float64{1, 1, 1})
	rep := must.Get(m.RecoverFrom(t.Context(), in, analyst.Options{FaultRate: rate(.01)}))(t)
	if rep.Posterior.NodeID != "7" || len(rep.SuspectSensors) != 1 || rep.SuspectSensors[0].NodeID != stuck ||
		rep.SuspectSensors[0].Probability < .99 || rep.FaultySensorCount != 1 || rep.SensorCount != len(once.Values) {
		t.Errorf("%v, suspects %v, %d of %d", rep.Posterior, rep.SuspectSensors, rep.FaultySensorCount, rep.SensorCount)
	}
	for _, row := range []int{-1, len(in.Nodes)} {
		in := analyst.Measurements{Nodes: []int{row}, Values: []float64{0}, Sigmas: []float64{1}}
		if _, err := m.RecoverFrom(t.Context(), in, analyst.Options{}); !errors.Is(err, recovery.ErrInvalid) {
			t.Errorf("row %d: %v", row, err)
		}
	}
}

// path returns a path of n nodes that all read the same.
func path(t *testing.T, n int, reading, sigma float64) (m *graphcloak.Model, in analyst.Measurements) {
	t.Helper()
	g := must.Get(graph.Path(n))(t)
	for i := range n {
		in.Nodes, in.Values, in.Sigmas = append(in.Nodes, i), append(in.Values, reading), append(in.Sigmas, sigma)
	}
	return must.Get(graphcloak.Load(t.Context(), publicStore{g: g}, graphcloak.Settings{Tau: tau.At(1)}, graphcloak.LoadOptions{}))(t), in
}

// TestEqualReadingsNameNothing: readings that are all equal leave a few sensors that are not suspect, which any source fits:
// no community is named by them.
func TestEqualReadingsNameNothing(t *testing.T) {
	for seed := range uint64(6) {
		m, in := path(t, 12, .3, .03)
		rep := must.Get(m.RecoverFrom(t.Context(), noisy(in, seed), analyst.Options{FaultRate: rate(.01)}))(t)
		if v := rep.Verdict(); v == report.Named || v == report.Perhaps {
			t.Errorf("seed %d: %s, %d of %d sensors faulty, %+v: %s", seed, v, rep.FaultySensorCount, rep.SensorCount, *rep.Fit, rep.Answer)
		}
	}
}

// TestReadingsThatAreNoHeat: what is passed on whole, and not as heat, is said not to fit, whether there are few such readings, which
// broken sensors could be taken for, or many; and the answer says how to give what it is.
func TestReadingsThatAreNoHeat(t *testing.T) {
	for _, tt := range []struct {
		name     string
		readings map[int]float64
		want     string // in the answer
	}{
		{"three who have heard", map[int]float64{14: 1, 15: 1, 16: 1}, "more of them are neighbours"},
		{
			"ten who have heard",
			map[int]float64{1: 1, 2: 1, 3: 1, 7: 1, 8: 1, 9: 1, 13: 1, 14: 1, 15: 1, 21: 1},
			"answers of yes or no (--answer-property)",
		},
		{
			"a flow down a row",
			map[int]float64{12: 1, 13: .92, 14: .85, 15: .74, 16: .66, 17: .6, 18: .43, 24: .4},
			"a process that is not the model (--operator FILE",
		},
	} {
		for seed := range uint64(5) {
			m, in := grid(t, nil, .03)
			if len(tt.readings) == 3 { // of 60, not of 36
				m, in = path(t, 60, 0, .03)
			}
			for i, v := range tt.readings {
				at, _ := m.Graph.Index(graph.ID(strconv.Itoa(i)))
				in.Values[at] = v
			}
			rep := must.Get(m.RecoverFrom(t.Context(), noisy(in, seed), analyst.Options{FaultRate: rate(.01)}))(t)
			if rep.Verdict() != report.Misfit || rep.Fit.PValue >= report.NoFit || !strings.Contains(rep.Answer, tt.want) {
				t.Errorf("%s, seed %d: %d faulty, apart %v: %s", tt.name, seed, rep.FaultySensorCount, rep.FaultySensorsApart, rep.Answer)
			}
		}
	}
}

// TestIndependentFaultsAreBelieved: broken sensors that are no neighbours leave the answer as it is, beside the fit of all.
func TestIndependentFaultsAreBelieved(t *testing.T) {
	for seed := range uint64(5) {
		m, in := grid(t, []int{7}, .03)
		for _, i := range []int{28, 35} {
			at, _ := m.Graph.Index(graph.ID(strconv.Itoa(i)))
			in.Values[at] = 1
		}
		rep := must.Get(m.RecoverFrom(t.Context(), noisy(in, seed), analyst.Options{FaultRate: rate(.01)}))(t)
		if all := rep.Fit.PValueAllSound; rep.Verdict() != report.Named || rep.FaultySensorCount != 2 || rep.FaultySensorsApart < .5 ||
			rep.Fit.PValue < report.NoFit || all == nil || *all >= report.NoFit || rep.Presence.SharedOffset > .05 {
			t.Errorf("seed %d: %+v: %s", seed, *rep.Fit, rep.Answer)
		}
	}
}

// TestNeighboursOffTogether: where one logger reads a few neighbours too high, beside a source that is too weak to be seen, a source is
// seldom sure to be there, and mostly the answer says that the logger may be off.
func TestNeighboursOffTogether(t *testing.T) {
	sure, said := 0, 0
	const trials = 20
	for seed := range uint64(trials) {
		m, in := grid(t, nil, .1)
		for _, i := range []int{14, 15, 20, 21} {
			at, _ := m.Graph.Index(graph.ID(strconv.Itoa(i)))
			in.Values[at] = .25
		}
		rep := must.Get(m.RecoverFrom(t.Context(), noisy(in, seed), analyst.Options{FaultRate: rate(.01)}))(t)
		if rep.Answers() && rep.Communities[0].Probability > .9 {
			sure++
		}
		if !rep.Detected() || strings.Contains(rep.Answer, "off together") {
			said++
		}
	}
	if sure > 1 || said < trials*3/4 {
		t.Errorf("of %d answers %d are sure, and %d say that neighbours may be off", trials, sure, said)
	}
}
