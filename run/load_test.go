// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"reflect"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
)

// A process that is suspended for a minute at every step, as a busy machine or a closed lid does, makes the plan that it
// makes undisturbed, at any number of workers: the searches for τ and for noise count their work, not the time.
func TestSamePlanWhateverTheLoad(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, limit := range []time.Duration{time.Minute, time.Millisecond} {
		var first *graphcloak.Plan
		for _, workers := range []int{1, 3} {
			for _, stalled := range []bool{false, true} {
				runtime.GOMAXPROCS(workers)
				synctest.Test(t, func(t *testing.T) {
					s, _ := testkit.Example(t, "net3")
					job := openJob()
					job.Plan.Epsilon, job.Plan.Allocation.Time = 1, limit
					m, err := graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{Progress: func(string, int64, int64) {
						if stalled {
							time.Sleep(time.Minute)
						}
					}})
					if err != nil {
						t.Fatal(err)
					}
					p := must.Get(m.Plan(t.Context(), job.Plan))(t)
					if first == nil {
						first = p
					}
					if !reflect.DeepEqual(p.TauChoice, first.TauChoice) || !reflect.DeepEqual(p.Sensors, first.Sensors) ||
						!reflect.DeepEqual(p.Allocated, first.Allocated) {
						t.Errorf("%v, %d workers, stalled %t: τ = %v by %+v, undisturbed %v by %+v", limit, workers, stalled, p.Model.Tau,
							p.TauChoice, first.Model.Tau, first.TauChoice)
					}
				})
			}
		}
	}
}
