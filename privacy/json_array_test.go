// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// The text of a plan and of a release of many sensors is the one of encoding/json, whatever
// the number of workers and the characters of an id.
func TestPlanText(t *testing.T) {
	spec := testSpec(2*arrayPiece + 3)
	for i := range spec.Sensors {
		spec.Sensors[i].ID = graph.ID(fmt.Sprintf("<%d>&\"\\\u2028é", i))
	}
	p := mustPlan(t, spec)
	readings := make([]float64, len(p.Sensors))
	r := must.Get(p.Perturb(readings, "r", nil))(t)
	for _, v := range []json.Marshaler{p, r} {
		var wanted any = new(planDocument)
		if v == r {
			wanted = new(releaseDocument)
		}
		for _, workers := range []int{1, 3} {
			before := runtime.GOMAXPROCS(workers)
			text, err := v.MarshalJSON()
			runtime.GOMAXPROCS(before)
			must.Do(t, err)
			must.Do(t, json.Unmarshal(text, wanted))
			if again, err := json.Marshal(wanted); err != nil || !bytes.Equal(text, again) {
				t.Errorf("%T with %d workers: encoding/json writes other text, or %v", v, workers, err)
			}
		}
	}
}
