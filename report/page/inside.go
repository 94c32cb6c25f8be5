// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak/report"
)

// inside is a closer map of one of the communities that are drawn as circles.
type inside struct {
	report.Community
	Scene *scene
}

// What is drawn of the insides of communities: so many of them, and nodes of each.
const (
	insides = 6
	members = 500
)

// insideID is the id of the map of the community at a rank from 0.
func insideID(rank int) string { return fmt.Sprintf("inside-%d", rank+1) }

// insideLink leads from a circle to the map of its community, where there is one.
func insideLink(rank int) string {
	if rank < insides {
		return "#" + insideID(rank)
	}
	return ""
}

// drawInsides makes a map of each of the likeliest communities: of its nodes that are
// nearest to the likeliest one of it, as far as ways through the community lead.
func (c *content) drawInsides() error {
	for rank, row := range c.Report.Communities[:min(insides, len(c.Report.Communities))] {
		within := func(v int) bool { return c.labels[v] == row.CommunityID }
		nodes := ball(c.graph, c.likeliestOf(row.CommunityID), members, within)
		at, err := c.placeSome(nodes)
		if err != nil {
			return err
		}
		s := c.nodeScene(insideID(rank), nodes, at)
		c.explainInside(s, row, len(nodes))
		c.Insides = append(c.Insides, inside{row, s})
	}
	return nil
}

// likeliestOf is the likeliest node of a community.
func (c *content) likeliestOf(community int) int {
	best := slices.Index(c.labels, community)
	for v, k := range c.labels {
		if k == community && c.probability(v) > c.probability(best) {
			best = v
		}
	}
	return best
}

// explainInside writes the title and the text of the map of one community, in which no
// band tells what is outside of it.
func (c *content) explainInside(s *scene, row report.Community, shown int) {
	s.Title = "The community " + cut(row.Name)
	s.Halo = ""
	s.Legend = slices.DeleteFunc(s.Legend, func(l legendItem) bool { return l.Sign == "halo" })
	s.Labels = slices.DeleteFunc(s.Labels, func(l label) bool { return !l.Bold })
	s.Text = "All its nodes are drawn."
	if shown < row.Size {
		s.Text = fmt.Sprintf("%s of its %s nodes are drawn, those nearest to its likeliest.", thousands(shown), thousands(row.Size))
	}
}
