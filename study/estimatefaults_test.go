// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"os"
	"testing"

	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
)

// estimates returns those of a job, by command.
func estimates(t *testing.T, s plan.Source, job run.Job) map[string]study.Estimate {
	t.Helper()
	all, err := study.EstimateCommands(t.Context(), s, job)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]study.Estimate{}
	for _, e := range all {
		out[e.Command] = e
	}
	return out
}

// Where sensors may be faulty, each command that supposes it is estimated to take longer, by what it
// does for that; and none where they are said to be sound.
func TestEstimateOfFaultySensors(t *testing.T) {
	s, _ := testkit.Example(t, "net3")
	job := run.Job{}
	job.Plan.Epsilon, job.Plan.Delta, job.Plan.Alpha, job.Tau = 4, 1e-3, 1, 2
	job.Plan.Allocation.Uniform = true
	computed := estimates(t, s, job)
	none, some := 0., .01
	job.Recover.FaultRate = &some
	asked := estimates(t, s, job)
	job.Recover.FaultRate = nil
	job.Plan.Measured = true
	measured := estimates(t, s, job)
	job.Recover.FaultRate = &none
	sound := estimates(t, s, job)
	for _, c := range []string{"recover", "run", "evaluate"} {
		if m, a := measured[c].SecondsMax, asked[c].SecondsMax; m != a || m <= computed[c].SecondsMax {
			t.Errorf("%s: %v s where sensors measure, %v s where faults are asked for, %v s where nothing can be faulty", c, m, a,
				computed[c].SecondsMax)
		}
		if sound[c].SecondsMax != computed[c].SecondsMax {
			t.Errorf("%s: %v s with sound sensors, %v s without any that measure", c, sound[c].SecondsMax, computed[c].SecondsMax)
		}
	}
	for _, c := range []string{"plan", "release"} {
		if measured[c].SecondsMax != computed[c].SecondsMax {
			t.Errorf("%s: %v s where sensors measure, %v s where none do", c, measured[c].SecondsMax, computed[c].SecondsMax)
		}
	}
	if r := measured["evaluate"].SecondsMin / computed["evaluate"].SecondsMin; r < 5 {
		t.Errorf("evaluate takes %v times as long", r)
	}
}

// TestEstimateOfRange: an allocation for a range of τ may take much longer than one for its middle; uniform noise does not.
func TestEstimateOfRange(t *testing.T) {
	grid, err := builtin.Parse("grid,rows=50,cols=50")
	if err != nil {
		t.Fatal(err)
	}
	files, err := grid.Folder()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	s := testkit.Folder(t, dir)
	job := run.Job{}
	job.Plan.Epsilon, job.Plan.Delta, job.Plan.Alpha, job.Tau, job.Plan.Measured, job.Plan.Allocation.Optimal = 4, 1e-5, 1, 2, true, true
	single := estimates(t, s, job)["plan"]
	job.Plan.Uncertainty.TauFrom, job.Plan.Uncertainty.TauTo = 1, 4
	ranged := estimates(t, s, job)["plan"]
	job.Plan.Allocation = plan.Allocation{Uniform: true}
	uniform := estimates(t, s, job)["plan"]
	if ranged.SecondsMin != single.SecondsMin || ranged.SecondsMax < single.SecondsMax+300 || uniform.SecondsMax > single.SecondsMax {
		t.Errorf("%v to %v s at one τ, %v to %v s over a range, %v s under uniform noise", single.SecondsMin, single.SecondsMax,
			ranged.SecondsMin, ranged.SecondsMax, uniform.SecondsMax)
	}
}
