// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"testing"

	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
)

// What a plan does more takes longer.
func TestPlanTime(t *testing.T) {
	s, _ := testkit.Example(t, "net3")
	job := karate()
	job.Communities.Property = ""
	m := must.Get(run.Load(t.Context(), s, job.Settings, plan.LoadOptions{}))(t).Model
	plain := must.Get(study.PlanTime(m, job))(t)
	allocated, searched := job, job
	allocated.Plan.Allocation.Uniform, searched.Tau = false, tau.Range{}
	for what, job := range map[string]run.Job{"an allocation": allocated, "a choice of τ": searched} {
		if more := must.Get(study.PlanTime(m, job))(t); !(plain > 0 && more > plain) {
			t.Errorf("with %s a plan takes %v, without %v", what, more, plain)
		}
	}
}
