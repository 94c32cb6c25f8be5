// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
)

// bare is a store whose selections find no sensor.
type bare struct{ run.Store }

func (bare) Sensors(context.Context, *graph.Graph, graph.SensorSelection) ([]int, error) {
	return nil, nil
}

// An estimate of a job without a sensor is refused as the job is.
func TestEstimateWithoutSensors(t *testing.T) {
	if all, err := study.EstimateCommands(t.Context(), bare{open(t, "karate")}, karate()); !errors.Is(err, plan.ErrEmpty) {
		t.Errorf("%d estimates, %v; want ErrEmpty", len(all), err)
	}
}

// What a job does more takes longer, and in no other command.
func TestEstimate(t *testing.T) {
	s, _ := testkit.Example(t, "net3")
	some := .01
	for _, c := range []struct {
		what   string
		more   func(*run.Job)
		longer string // commands of which the greatest time rises
	}{
		{"broken sensors", func(j *run.Job) { j.Recover.FaultRate = &some }, "recover run evaluate plan"},
		{"measured readings", func(j *run.Job) { j.Plan.Measured = true }, "recover run evaluate plan"},
		{"allocation", func(j *run.Job) { j.Plan.Allocation.Uniform = false }, "plan run evaluate"},
		{"a choice of τ", func(j *run.Job) { j.Tau = tau.Range{} }, "plan run evaluate"},
		{"a range of τ", func(j *run.Job) {
			j.Plan.Allocation.Uniform, j.Tau = false, tau.Range{From: 1, To: 4}
		}, "plan run evaluate"},
	} {
		job := karate()
		job.Communities.Property = ""
		plain := must.Get(study.EstimateCommands(t.Context(), s, job))(t)
		c.more(&job)
		more := must.Get(study.EstimateCommands(t.Context(), s, job))(t)
		for k, e := range more {
			if !(e.SecondsMin > 0 && e.SecondsMax >= 4*e.SecondsMin && e.BytesMax >= 2*e.BytesMin) {
				t.Errorf("%s of %s: %+v", e.Command, c.what, e)
			}
			if want := strings.Contains(c.longer, e.Command); (e.SecondsMax > plain[k].SecondsMax) != want {
				t.Errorf("%s of %s takes up to %v s, without %v s", e.Command, c.what, e.SecondsMax, plain[k].SecondsMax)
			}
		}
	}
}
