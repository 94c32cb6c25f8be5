// SPDX-License-Identifier: Apache-2.0

package report

import "testing"

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
	} {
		if got := test.r.Verdict(); got != test.want {
			t.Errorf("%+v is %q, want %q", test.r, got, test.want)
		}
	}
}
