// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"
	"testing"
)

// TestVerdict: whether the measurements fit comes before whether there is a source, and that before where.
func TestVerdict(t *testing.T) {
	clear := []Community{{Prior: .5, Probability: .9}, {Prior: .5, Probability: .1}}
	even := []Community{{Prior: .5, Probability: .55}, {Prior: .5, Probability: .45}}
	for _, test := range []struct {
		r    Report
		want string
	}{
		{Report{Communities: clear}, Named},
		{Report{Communities: clear, Fit: &Fit{PValue: .01}}, Named},
		{Report{Communities: []Community{{Prior: .1, Probability: .33}, {Prior: .9, Probability: .67}}}, Perhaps},
		{Report{Communities: even}, Undecided},
		{Report{Communities: clear[:1]}, Undecided},
		{Report{Communities: even, Fit: &Fit{PValue: 1e-4}}, Misfit},
		{Report{Communities: clear, Fit: &Fit{PValue: 1e-4}}, Misfit},
		{Report{Communities: clear, Presence: &Presence{}, Fit: &Fit{PValue: 1e-4}}, Misfit},
		{Report{Communities: clear, Fit: &Fit{PValue: .009, PValueAllSound: new(1e-4)}}, Misfit},
		{Report{Communities: clear, Fit: &Fit{PValue: .009, PValueAllSound: new(.1)}}, Named},
		{Report{Communities: clear, Fit: &Fit{PValue: .02, PValueAllSound: new(1e-4)}}, Named},
		{Report{Communities: clear, Presence: &Presence{SharedOffset: .6}}, NoSource},
		{Report{Communities: clear, Presence: &Presence{Detected: true, Probability: .3, SharedOffset: .6}}, Misfit},
		{Report{Communities: clear, Presence: &Presence{Detected: true, Probability: 1, SharedOffset: .4}}, Named},
		{Report{Communities: clear, SensorCount: 19, FaultySensorCount: 2}, Misfit},
		{Report{Communities: clear, SensorCount: 4, FaultySensorCount: 1}, Named},
		{Report{Communities: clear, SensorCount: 1, FaultySensorCount: 1}, Misfit},
		{Report{Communities: clear, SensorCount: 20, FaultySensorCount: 2}, Named},
		{Report{Communities: clear, SensorCount: 20, FaultySensorCount: 2, FaultySensorsApart: .009}, Misfit},
		{Report{Communities: clear, SensorCount: 20, FaultySensorCount: 2, FaultySensorsApart: .02}, Named},
	} {
		if got := test.r.Verdict(); got != test.want {
			t.Errorf("%+v is %q, want %q", test.r, got, test.want)
		}
	}
}

// TestVerdictComesFirst: where the measurements do not fit, or there is no sign of a source, the answer says so first, and neither
// names a community nor gives a probability of one; what is listed of the run has none either.
func TestVerdictComesFirst(t *testing.T) {
	list := []Community{{Name: "a", Size: 2, Prior: .2, Probability: .89}, {Name: "b", Size: 2, Prior: .8, Probability: .11}}
	for want, r := range map[string]Report{
		"No sign of a source":                         {Presence: &Presence{PValue: .4, FalseAlarm: .05}},
		"The measurements do not fit the model (p < ": {Presence: &Presence{}, Fit: &Fit{PValue: 1e-6}},
		"The measurements do not fit the model: 2 of 4 sensors are more likely faulty than sound; were all sound, p < 0.001": {
			SensorCount: 4, FaultySensorCount: 2, Fit: &Fit{PValue: 1e-6},
		},
		"The measurements do not fit the model: 2 of 40 sensors are more likely faulty than sound, and more of them are": {
			SensorCount: 40, FaultySensorCount: 2, FaultySensorsApart: .001, Fit: &Fit{PValue: .3},
		},
		"The measurements do not fit the model: neighbouring sensors are off together with probability 60 %.": {
			Presence: &Presence{Detected: true, Probability: .3, SharedOffset: .6},
		},
	} {
		r.Communities, r.Posterior.NodeID = list, "n"
		r.SetAnswer()
		columns, _ := r.Stats()
		if !strings.HasPrefix(r.Answer, want) || strings.Contains(r.Answer, "ommunity") || strings.Contains(r.Answer, "89 %") ||
			slices.Contains(columns, "community") || slices.Contains(columns, "posteriorNodeId") ||
			slices.ContainsFunc(recoveryProperties(&r), func(p Property) bool { return p.Name == "community" || p.Value == "n" }) {
			t.Errorf("%s: %q, %v", want, r.Answer, columns)
		}
	}
	all := 1e-6
	r := Report{Communities: list, SensorCount: 40, FaultySensorCount: 2, Fit: &Fit{PValue: .3, PValueAllSound: &all}}
	r.SetAnswer()
	if want := " Without what is more likely faulty than sound, 2 of 40 sensors, the measurements fit with p = 0.3; were all sound, with " +
		"p < 0.001."; !strings.HasSuffix(r.Answer, want) || !strings.Contains(r.Answer, "89 %") {
		t.Errorf("%q does not end with %q", r.Answer, want)
	}
	r = Report{Communities: list, Presence: &Presence{Detected: true, Probability: .95, SharedOffset: .04}}
	r.SetAnswer()
	if want := "of 5 % that there is no source, or that neighbouring sensors are off together."; !strings.Contains(r.Answer, want) {
		t.Errorf("%q does not say %q", r.Answer, want)
	}
	r = Report{Communities: list, Presence: &Presence{Detected: true, Probability: .95}}
	r.SetAnswer()
	if want := "with probability 89 %. It allows for a chance of 5 % that there is no source."; !strings.Contains(r.Answer, want) ||
		r.Verdict() != Named {
		t.Errorf("%q does not say %q", r.Answer, want)
	}
}
