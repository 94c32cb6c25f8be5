// SPDX-License-Identifier: Apache-2.0

package community_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// TestNameByMembers: the centre of a star first, then the lowest of its leaves; a caption
// in the place of an id; no name of the user's own is replaced.
func TestNameByMembers(t *testing.T) {
	var b graph.Builder
	for _, id := range []graph.ID{"a", "b", "c", "d", "hub", "lone"} {
		must.Get(b.AddNode(id))(t)
	}
	for _, leaf := range []graph.ID{"a", "b", "c", "d"} {
		must.Do(t, b.AddEdge("hub", leaf, 1))
	}
	g := must.Get(b.Graph())(t)
	labels := make([]int, g.Order())
	lone, _ := g.Index("lone")
	labels[lone] = 7
	p := must.Get(community.FromLabels(g, labels))(t)
	if got := p.NameByMembers(g, nil).Names; !slices.Equal(got, []string{"0 around hub and a", "1 around lone"}) {
		t.Errorf("names are %q", got)
	}
	captions := make([]string, g.Order())
	hub, _ := g.Index("hub")
	captions[hub] = strings.Repeat("ü", 100)
	if got, want := p.NameByMembers(g, captions).Names[0], "0 around "+strings.Repeat("ü", 39)+"… and a"; got != want {
		t.Errorf("with a long caption it is %q, want %q", got, want)
	}
	p.Names = []string{"north", "south"}
	if got := p.NameByMembers(g, captions).Names; got[0] != "north" {
		t.Errorf("a given name became %q", got[0])
	}
}
