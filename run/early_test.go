// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/run"
)

// TestBadSourcesBeforeTheSearch: sources that no release can be made of are refused before τ
// is chosen and a plan is made, and the message names neither a node nor a value.
func TestBadSourcesBeforeTheSearch(t *testing.T) {
	s, _ := testkit.Graph(t, "id,hot,cold\nann,1.5,\nbob,0,\ncyd,0,\n", "source,target\nann,bob\nbob,cyd\n")
	for property, want := range map[string]error{"hot": run.ErrBadSignal, "cold": run.ErrMissingSignal} {
		searched, planned := false, false
		job := graphcloak.Job{
			Signal:  graphcloak.Signal{SourceProperty: property},
			Planned: func(*graphcloak.Plan) error { planned = true; return nil },
		}
		job.Plan.Epsilon, job.Plan.Delta = 1, 0.01
		_, err := graphcloak.Run(t.Context(), s, job,
			graphcloak.LoadOptions{Progress: func(stage string, _, _ int64) { searched = searched || stage == "choose tau" }})
		if !errors.Is(err, want) || searched || planned {
			t.Errorf("%s: %v; searched %v, planned %v", property, err, searched, planned)
		}
		if err != nil && (strings.Contains(err.Error(), "ann") || strings.Contains(err.Error(), "1.5")) {
			t.Errorf("%s: the message says more than how many: %v", property, err)
		}
	}
}
