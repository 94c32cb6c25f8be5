// SPDX-License-Identifier: Apache-2.0

package report

import (
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
		{Report{Communities: clear, Sources: &Sources{Count: 0}}, NoSource},
		{Report{Communities: clear, SensorCount: 4, SuspectSensors: suspected(.9, .6), Fit: &Fit{PValue: .3}}, Misfit},
		{Report{Communities: clear, SensorCount: 4, SuspectSensors: suspected(.9, .5), Fit: &Fit{PValue: .3}}, Named},
		{Report{Communities: clear, SensorCount: 5, SuspectSensors: suspected(.9, .6), Fit: &Fit{PValue: .3}}, Named},
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

// TestMostSensorsSuspect: where half of the sensors are suspect, what the others fit is no answer, and the sentence says so first.
func TestMostSensorsSuspect(t *testing.T) {
	r := Report{
		Communities: []Community{{Name: "a", Size: 2, Prior: .5, Probability: .9}, {Name: "b", Size: 2, Prior: .5, Probability: .1}},
		SensorCount: 4, SuspectSensors: suspected(.9, .6), Fit: &Fit{PValue: .3},
	}
	r.SetAnswer()
	if !strings.HasPrefix(r.Answer, "The measurements do not fit the model: 2 of 4 sensors are more likely faulty than sound. Taken as they are: the source") {
		t.Error(r.Answer)
	}
}
