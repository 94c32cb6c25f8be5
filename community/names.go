// SPDX-License-Identifier: Apache-2.0

package community

import (
	"strconv"

	"github.com/graphcloak/graphcloak/graph"
)

// longest bounds the characters of a node's name within that of a community.
const longest = 40

// NameByMembers names communities that only have numbers by those and their two
// best-connected members: "3 around a and b". Names are ids, or captions where a node
// has one. Equally connected nodes come in the order of the graph.
func (p Partition) NameByMembers(g *graph.Graph, captions []string) Partition {
	if p.Names != nil {
		return p
	}
	best := make([][2]int, p.Count)
	for c := range best {
		best[c] = [2]int{-1, -1}
	}
	for i, c := range p.Labels {
		switch b := &best[c]; {
		case b[0] < 0 || g.Degree(i) > g.Degree(b[0]):
			b[0], b[1] = i, b[0]
		case b[1] < 0 || g.Degree(i) > g.Degree(b[1]):
			b[1] = i
		}
	}
	name := func(i int) string {
		text := string(g.ID(i))
		if captions != nil && captions[i] != "" {
			text = captions[i]
		}
		if r := []rune(text); len(r) > longest {
			return string(r[:longest-1]) + "…"
		}
		return text
	}
	p.Names = make([]string, p.Count)
	for c, b := range best {
		p.Names[c] = strconv.Itoa(c) + " around " + name(b[0])
		if b[1] >= 0 {
			p.Names[c] += " and " + name(b[1])
		}
	}
	return p
}
