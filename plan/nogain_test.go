// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/allocation"
)

// Where a simulation says that uniform noise tells no less, the plan keeps what it was right in, in
// its file too, and says both.
func TestUniformIsTaken(t *testing.T) {
	const n = 10_002 // beyond 10,000 nodes an allocation is compared with uniform noise
	var nodes, edges strings.Builder
	nodes.WriteString("id,side\n")
	edges.WriteString("source,target\n")
	for i := range n {
		fmt.Fprintf(&nodes, "%d,%d\n", i, i*6/n)
		fmt.Fprintf(&edges, "%d,%d\n", i, (i+1)%n)
	}
	dir := t.TempDir()
	testkit.Write(t, dir, "nodes.csv", nodes.String())
	testkit.Write(t, dir, "relationships.csv", edges.String())
	job := testkit.PaperJob()
	job.Settings.Tau, job.Settings.Public.Communities.Property = tau.At(4), "side"
	job.Plan.Budget.Epsilon, job.Plan.Budget.Delta = 1, 1e-5
	job.Plan.Allocation = graphcloak.Allocation{Time: time.Second}
	m, p := testkit.Planned(t, testkit.Folder(t, dir), job)
	s := p.Simulated
	if p.Allocated != nil || s == nil || p.Searched() != s || s.Loss < s.EqualLoss {
		t.Fatalf("allocated %v, simulated %+v", p.Allocated, s)
	}
	for _, want := range []string{
		fmt.Sprintf("%.3f nats", s.Loss), fmt.Sprintf("with %.3f", s.EqualLoss), fmt.Sprintf("%d simulated runs", s.Trials),
	} {
		if !strings.Contains(p.UniformReason, want) {
			t.Errorf("%q lacks %q", p.UniformReason, want)
		}
	}
	var read graphcloak.Plan
	testkit.RoundTrip(t, p, &read)
	if read.Simulated == nil || *read.Simulated != *s {
		t.Errorf("read back: %+v", read.Simulated)
	}
	b := p.Budget
	b.Epsilon = 2
	if q, err := m.WithBudget(p, b); err != nil || q.Simulated != nil {
		t.Errorf("another budget: %v, %v", q.Simulated, err)
	}
	p.Simulated = &allocation.Simulated{Trials: 64, Right: 2}
	data := must.Get(json.Marshal(p))(t)
	if err := json.Unmarshal(data, &read); !errors.Is(err, strictjson.ErrInvalid) {
		t.Errorf("a share of 2: %v", err)
	}
}

// Where noise is the same at all sensors a limit on those that report is refused, not dropped.
func TestLimitOnSensorsNeedsAnAllocation(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	m, _ := testkit.Planned(t, s, testkit.PaperJob())
	for name, change := range map[string]func(*graphcloak.PlanOptions){
		"uniform":   func(o *graphcloak.PlanOptions) { o.Allocation.Uniform = true },
		"perSensor": func(o *graphcloak.PlanOptions) { o.Allocation.Uniform, o.Guarantee = false, privacy.PerSensor },
	} {
		opts := testkit.PaperJob().Plan
		change(&opts)
		opts.Allocation.MaxSensors = 5
		if _, err := m.Plan(t.Context(), opts); !errors.Is(err, allocation.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		opts.Allocation.MaxSensors = len(m.Sensors)
		if _, err := m.Plan(t.Context(), opts); err != nil {
			t.Errorf("%s, as many as there are: %v", name, err)
		}
	}
}
