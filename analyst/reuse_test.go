// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"testing"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/report"
)

// What was simulated for some noise does not serve for other noise in the same slice.
func TestSlicesAreReused(t *testing.T) {
	in := Measurements{Nodes: []int{2, 6, 10, 14, 18}, Values: []float64{.1, .4, .2, 0, 0}, Sigmas: []float64{.05, .05, .05, .05, .05}}
	one := community.Partition{Labels: make([]int, 20), Count: 1, Names: []string{"all"}}
	analyse := func(o *Operator) *report.Report {
		t.Helper()
		rep := &report.Report{}
		must.Do(t, o.Analyse(t.Context(), in, detected(one), nil, Options{}, rep))
		return rep
	}
	o := pathOperator(t, 20, 2)
	analyse(o)
	for k := range in.Sigmas {
		in.Sigmas[k] = .5
	}
	got, want := analyse(o), analyse(pathOperator(t, 20, 2))
	if got.Presence.PValue != want.Presence.PValue || got.Fit.PValue != want.Fit.PValue {
		t.Errorf("p-values %v and %v, want %v and %v", got.Presence.PValue, got.Fit.PValue, want.Presence.PValue, want.Fit.PValue)
	}
}
