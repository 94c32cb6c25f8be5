// SPDX-License-Identifier: Apache-2.0

package graphcloak_test

import (
	"errors"
	"math"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/privacy"
)

// TestTolerateFaulty: the allocation that is asked to withstand liars has a plan that certifies, and
// fewer of its answers are turned; what cannot be is refused.
func TestTolerateFaulty(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	m, err := graphcloak.Load(t.Context(), s, graphcloak.Settings{Tau: 1}, graphcloak.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	opts := graphcloak.PlanOptions{
		Budget: privacy.Budget{Epsilon: 60, Delta: .01}, Alpha: 1, Measured: true, Clip: &privacy.Interval{Lo: 0, Hi: 1},
	}
	part, err := m.Partition(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	held := func(p *graphcloak.Plan, k int) (count int) {
		in := analyst.Measurements{}
		o := posterior.Options{Faults: posterior.Faults{Rate: .01}}
		for _, x := range p.Sensors {
			in.Nodes, in.Sigmas, in.Values = append(in.Nodes, x.Node), append(in.Sigmas, x.Sigma()), append(in.Values, 0)
			o.Faults.Low, o.Faults.High = append(o.Faults.Low, 0), append(o.Faults.High, 1/x.Sigma())
		}
		w, err := m.Operator().Whiten(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < m.Graph.Order(); i += 2 {
			linop.ColumnsTo(w.Data.A, w.Data.Y, []int{i})
			ok, err := posterior.Withstands(t.Context(), w.Data, o, part.Labels, k)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				count++
			}
		}
		return count
	}
	plain, err := m.Plan(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	opts.Allocation.TolerateFaulty = 2
	p, err := m.Plan(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Certify(t.Context(), p.Plan); err != nil {
		t.Errorf("certify: %v", err)
	}
	const margin = 3 // from ε = 30 to 200, 4 to 6 more answers do
	before, after := held(plain, 2), held(p, 2)
	t.Logf("%d and %d answers of %d withstand 2 liars", before, after, m.Graph.Order()/2)
	if p.Allocated == nil || p.Allocated.TolerateFaulty != 2 || after < before+margin {
		t.Errorf("%d answers withstand 2 liars, and %d of a plan that is asked for it: %+v", before, after, p.Allocated)
	}
	for _, k := range []int{-1, len(m.Sensors), math.MaxInt} {
		opts.Allocation.TolerateFaulty = k
		if _, err := m.Plan(t.Context(), opts); !errors.Is(err, graphcloak.ErrTolerance) {
			t.Errorf("k = %d: %v", k, err)
		}
	}
	opts.Allocation.TolerateFaulty = 20
	if _, err := m.Plan(t.Context(), opts); !errors.Is(err, graphcloak.ErrTolerance) {
		t.Errorf("20 of 34 liars: %v", err)
	}
	opts.Allocation = graphcloak.Allocation{Uniform: true, TolerateFaulty: 20}
	if _, err := m.Plan(t.Context(), opts); !errors.Is(err, graphcloak.ErrTolerance) {
		t.Errorf("20 of 34 liars under uniform noise: %v", err)
	}
}
