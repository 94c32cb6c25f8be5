// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
)

// rareKey is a store in which one property is beyond every sample.
type rareKey struct{ graphStore }

func (rareKey) Holds(_ context.Context, _ graph.Selection, property string, _ bool) (bool, error) {
	return property == "rare", nil
}

// TestMisplacedBeyondTheSample: where a schema is of a sample, a store that is watched too looks
// through all of what is selected before a public property is called misplaced.
func TestMisplacedBeyondTheSample(t *testing.T) {
	schema := connector.Schema{Labels: []connector.Kind{{Name: "Person", Count: 1e6}}, Cut: true}
	for property, want := range map[string]int{"rare": 0, "nowhere": 1} {
		c, err := config.Load(config.Layers{})
		if err != nil {
			t.Fatal(err)
		}
		c.Community.Property = property
		a := &app{config: c}
		found, err := a.misplaced(t.Context(), watchedStore{graphStore: rareKey{}}, schema)
		if err != nil || len(found) != want {
			t.Errorf("%s: found %v, %v; want %d", property, found, err, want)
		}
	}
}
