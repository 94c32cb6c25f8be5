// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/study"
)

// Past events that are heat are found as simulated ones are; a list that is none is refused with its line and no reading.
func TestEvents(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	m, p := testkit.Planned(t, s, testkit.MeasuredJob(tau.Range{}))
	heat, text := testgraph.Heat(m.Graph, 2), "event,source,sensor,reading\n"
	n := m.Graph.Order()
	for k := range 5 * n {
		for i := range n {
			text += fmt.Sprintf("%d,%s,%s,%v\n", k, m.Graph.ID(k%n), m.Graph.ID(i), heat.At(i, k%n))
		}
	}
	var o study.Options
	o.Events = must.Get(study.ParseEvents(strings.NewReader(text), m.Model))(t)
	o.Recover.Amplitude, o.Recover.FalseAlarm = posterior.UnitAmplitude, 1
	e := must.Get(study.Evaluate(t.Context(), m.Model, p, o))(t)
	simulated := o
	simulated.Events, simulated.Amplitude, simulated.Trials = nil, 1, 1000
	want := must.Get(study.Evaluate(t.Context(), m.Model, p, simulated))(t)
	if e.Trials != 5*n || math.Abs(e.Right.Rate-want.Right.Rate) > .15 || e.Right.Rate < want.Chance+.1 {
		t.Errorf("of %d events %v are found, simulated %v", e.Trials, e.Right.Rate, want.Right.Rate)
	}
	if len(e.Sets) != 3 || want.Sets != nil || !strings.Contains(e.Notes[0], "past events") {
		t.Errorf("sets %+v, simulated %+v; %s", e.Sets, want.Sets, e.Notes[0])
	}
	for name, text := range map[string]string{
		"":                               "no header",
		"event,source,sensor\n":          "no column reading",
		"event,source,sensor,reading\n":  "there is none",
		text[:len(text)-200]:             "",
		text + "7,3,0,0.5519\n":          "is there already",
		text + "x,0,0,0.5519\nx,1,1,0\n": "second source",
		text + "x,0,0,0.5519\nx,0,0,0\n": "reads twice",
		text + "x,0,0,0.5519\n":          "has no reading of sensor",
		text + "x,999,0,0.5519\n":        "no node",
		text + "x,0,999,0.5519\n":        "no sensor",
		text + "x,0,0,v5519\n":           "not a finite number",
		text + "x,0,0,NaN\n":             "not a finite number",
		text + "x,0,0,0.5519,more\n":     "wrong number of fields",
	} {
		_, err := study.ParseEvents(strings.NewReader(name), m.Model)
		if !errors.Is(err, study.ErrEvents) || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "5519") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
