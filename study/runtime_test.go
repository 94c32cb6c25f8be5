// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"testing"

	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
)

// TestRunTime: a run takes longer where τ is chosen, and the bounds are in order.
func TestRunTime(t *testing.T) {
	s, _ := testkit.Example(t, "net3")
	job := run.Job{}
	job.Plan.Epsilon, job.Plan.Delta, job.Plan.Alpha = 1, 1e-3, 1
	job.Tau = 2
	m, err := run.Load(t.Context(), s, job.Settings, plan.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	least, most, err := study.RunTime(m.Model, job)
	if err != nil || least <= 0 || most < 4*least {
		t.Errorf("%v to %v, %v", least, most, err)
	}
	job.Tau = 0
	if a, b, err := study.RunTime(m.Model, job); err != nil || a <= least || b <= most {
		t.Errorf("where τ is chosen %v to %v, at one τ %v to %v, %v", a, b, least, most, err)
	}
}
