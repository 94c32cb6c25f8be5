// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"strings"

	"github.com/graphcloak/graphcloak/report"
)

// Truth is where the sources really were, which only a demonstration knows.
type Truth struct {
	Nodes []int
	Right bool // the first community holds one of them
	Text  string
}

// NewTruth compares an answer with the true sources, by node.
func NewTruth(rep *report.Report, source []float64) *Truth {
	t := &Truth{}
	nodes, name := rep.Nodes(), map[int]string{}
	for _, c := range rep.Communities {
		name[c.CommunityID] = c.Name
	}
	where, and := "the source was at ", "; at "
	if rep.Whisper != nil {
		where, and = "the whisper was started by ", "; and by "
	}
	var places []string
	for v, x := range source {
		if !(x > 0) {
			continue
		}
		t.Nodes = append(t.Nodes, v)
		t.Right = t.Right || nodes.Community[v] == rep.Communities[0].CommunityID
		who, in := string(nodes.Graph.ID(v)), name[nodes.Community[v]]
		switch {
		case rep.Whisper == nil:
			places = append(places, fmt.Sprintf("node %s, in community %s", who, in))
		case nodes.Captions != nil:
			places = append(places, fmt.Sprintf("%s (%s), of community %s", nodes.Captions[v], who, in))
		default:
			places = append(places, fmt.Sprintf("%s, of community %s", who, in))
		}
	}
	verdict := "The likeliest community is another: a run at these settings is wrong now and then."
	switch {
	case len(rep.Communities) == 1:
		verdict = "There is a single community."
	case t.Right:
		verdict = "The likeliest community is the right one."
	}
	t.Text = fmt.Sprintf("What really happened: %s%s. %s", where, strings.Join(places, and), verdict)
	return t
}
