// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

func TestChanged(t *testing.T) {
	g := mustBuild(t, graph.Sum, []string{"a", "b", "c", "d"}, []relationship{{"a", "b", 1, 5}, {"b", "c", 1, 5}, {"c", "d", 1, 5}})
	digest := g.Digest()
	other, err := g.Changed([]graph.Change{
		{Source: "d", Target: "a", Weight: 3},
		{Source: "b", Target: "a", Weight: 0},
		{Source: "b", Target: "c", Weight: .5},
	})
	must.Do(t, err)
	want := []graph.Edge{{U: 0, V: 3, Weight: 3, Length: 1}, {U: 1, V: 2, Weight: .5, Length: 5}, {U: 2, V: 3, Weight: 1, Length: 5}}
	if got := slices.Collect(other.Edges()); !slices.Equal(got, want) {
		t.Errorf("relationships %v, want %v", got, want)
	}
	if g.Digest() != digest || g.Size() != 3 || other.Order() != 4 || other.ID(3) != "d" {
		t.Errorf("the graph itself changed, or the nodes did: %d relationships, %d nodes", g.Size(), other.Order())
	}
	for name, c := range map[string]struct {
		list []graph.Change
		want error
	}{
		"stranger":         {[]graph.Change{{Source: "x", Target: "a", Weight: 1}}, graph.ErrUnknownNode},
		"other stranger":   {[]graph.Change{{Source: "a", Target: "x", Weight: 1}}, graph.ErrUnknownNode},
		"itself":           {[]graph.Change{{Source: "a", Target: "a", Weight: 1}}, graph.ErrChange},
		"not there":        {[]graph.Change{{Source: "a", Target: "c", Weight: 0}}, graph.ErrChange},
		"twice, turned":    {[]graph.Change{{Source: "a", Target: "b", Weight: 2}, {Source: "b", Target: "a", Weight: 3}}, graph.ErrChange},
		"negative":         {[]graph.Change{{Source: "a", Target: "b", Weight: -1}}, graph.ErrBadWeight},
		"not a number":     {[]graph.Change{{Source: "a", Target: "b", Weight: math.NaN()}}, graph.ErrBadWeight},
		"without an upper": {[]graph.Change{{Source: "a", Target: "b", Weight: math.Inf(1)}}, graph.ErrBadWeight},
	} {
		if _, err := g.Changed(c.list); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
