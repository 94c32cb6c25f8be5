// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
)

// TestReleaseOfOtherCommunities: a release file whose communities no plan can have been made of is refused, and so is one
// that says that they were named by what it hides.
func TestReleaseOfOtherCommunities(t *testing.T) {
	store, _ := testkit.Example(t, "karate")
	m, p := testkit.Planned(t, store, testkit.PaperJob())
	made := must.Get(m.Release(t.Context(), p, graphcloak.Job{Signal: graphcloak.Signal{SourceProperty: "source"}, RunID: "1"}))(t)
	named := must.Get(m.PlannedCommunities(t.Context()))(t)
	detected := plan.PlannedCommunities{Count: 4, Detection: &plan.Detection{Method: "leiden", Gamma: 1}}
	alter := func(c plan.PlannedCommunities, change func(*plan.PlannedCommunities)) *plan.PlannedCommunities {
		change(&c)
		return &c
	}
	for what, c := range map[string]struct {
		communities *plan.PlannedCommunities
		want        error
	}{
		"none":            {nil, nil},
		"named":           {named, nil},
		"detected":        {&detected, nil},
		"a hidden name":   {alter(*named, func(c *plan.PlannedCommunities) { c.Property = "source" }), plan.ErrSignalPublic},
		"no communities":  {alter(*named, func(c *plan.PlannedCommunities) { c.Count = 0 }), strictjson.ErrInvalid},
		"more than nodes": {alter(*named, func(c *plan.PlannedCommunities) { c.Count = m.Graph.Order() + 1 }), strictjson.ErrInvalid},
		"neither way":     {alter(*named, func(c *plan.PlannedCommunities) { c.Property = "" }), strictjson.ErrInvalid},
		"both ways": {
			alter(*named, func(c *plan.PlannedCommunities) { c.Detection = detected.Detection }),
			strictjson.ErrInvalid,
		},
		"no such method": {
			alter(detected, func(c *plan.PlannedCommunities) { c.Detection = &plan.Detection{Method: "x"} }),
			strictjson.ErrInvalid,
		},
		"a negative setting": {alter(detected, func(c *plan.PlannedCommunities) {
			c.Detection = &plan.Detection{Method: "leiden", Gamma: -1}
		}), strictjson.ErrInvalid},
	} {
		made.Communities = c.communities
		data := must.Get(json.Marshal(made))(t)
		if err := json.Unmarshal(data, new(graphcloak.Release)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
		p.Communities = c.communities
		data = must.Get(json.Marshal(p))(t)
		if err := json.Unmarshal(data, new(graphcloak.Plan)); (err == nil) != (c.want == nil) {
			t.Errorf("%s, a plan: %v", what, err)
		}
	}
}
