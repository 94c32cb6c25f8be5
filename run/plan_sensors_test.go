// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"errors"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/allocation"
)

// Where noise is the same at all sensors a limit on those that report is refused, not dropped.
func TestLimitOnSensorsNeedsAnAllocation(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	m, _ := testkit.Planned(t, s, paperJob())
	for name, change := range map[string]func(*graphcloak.PlanOptions){
		"uniform":   func(o *graphcloak.PlanOptions) { o.Allocation.Uniform = true },
		"perSensor": func(o *graphcloak.PlanOptions) { o.Allocation.Uniform, o.Guarantee = false, privacy.PerSensor },
	} {
		opts := paperJob().Plan
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
