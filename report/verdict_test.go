// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"
	"testing"
)

// TestVerdict: whether there is a source comes before whether it fits, and that before where.
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
		{Report{Communities: clear, Presence: &Presence{}, Fit: &Fit{PValue: 1e-4}}, NoSource},
		{Report{Communities: clear, SensorCount: 19, SuspectSensors: suspected(.9, .6), Fit: &Fit{PValue: .3}}, Misfit},
		{Report{Communities: clear, SensorCount: 4, SuspectSensors: suspected(.9, .5), Fit: &Fit{PValue: .3}}, Named},
		{Report{Communities: clear, SensorCount: 20, SuspectSensors: suspected(.9, .6), Fit: &Fit{PValue: .3}}, Named},
	} {
		if got := test.r.Verdict(); got != test.want {
			t.Errorf("%+v is %q, want %q", test.r, got, test.want)
		}
	}
}

func suspected(probability ...float64) (list []Suspect) {
	for _, p := range probability {
		list = append(list, Suspect{Probability: p})
	}
	return list
}

// TestMostSensorsSuspect: where more than one in ten of the sensors are suspect, what the others fit is no answer, and the sentence says so
// first.
func TestMostSensorsSuspect(t *testing.T) {
	r := Report{
		Communities: []Community{{Name: "a", Size: 2, Prior: .5, Probability: .9}, {Name: "b", Size: 2, Prior: .5, Probability: .1}},
		SensorCount: 4, SuspectSensors: suspected(.9, .6), Fit: &Fit{PValue: .3},
	}
	r.SetAnswer()
	if !strings.HasPrefix(r.Answer, "The measurements do not fit the model: 2 of 4 sensors are more likely faulty than sound.") {
		t.Error(r.Answer)
	}
}

// TestVerdictComesFirst: where there is no sign of a source, or the measurements do not fit, the answer says so first, and neither
// names a community nor gives a probability of one; what is listed of the run has none either.
func TestVerdictComesFirst(t *testing.T) {
	list := []Community{{Name: "a", Size: 2, Prior: .2, Probability: .89}, {Name: "b", Size: 2, Prior: .8, Probability: .11}}
	for _, r := range []Report{
		{Presence: &Presence{PValue: .4, FalseAlarm: .05}},
		{Fit: &Fit{PValue: 1e-6}},
		{SensorCount: 4, SuspectSensors: suspected(.9, .6)},
	} {
		r.Communities = list
		r.SetAnswer()
		columns, _ := r.Stats()
		if !strings.HasPrefix(r.Answer, "No sign of a source") && !strings.HasPrefix(r.Answer, "The measurements do not fit") ||
			strings.Contains(r.Answer, "ommunity") || strings.Contains(r.Answer, "89 %") || slices.Contains(columns, "community") {
			t.Errorf("%s: %q, %v", r.Verdict(), r.Answer, columns)
		}
	}
	r := Report{Communities: list, Presence: &Presence{Detected: true, Probability: .95}}
	r.SetAnswer()
	if want := "with probability 89 %. It allows for a chance of 5 % that there is no source."; !strings.Contains(r.Answer, want) ||
		r.Verdict() != Named {
		t.Errorf("%q does not say %q", r.Answer, want)
	}
}
