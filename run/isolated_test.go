// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
)

// TestIsolatedNodes: a source on a node without a relationship cannot be hidden, so nothing is
// spent unless the job says what is meant, wherever the source is: a refusal that depended on
// it would tell where it is.
func TestIsolatedNodes(t *testing.T) {
	const relationships = "source,target\na,b\nb,c\nlonely,lonely\n"
	for where, nodes := range map[string]string{
		"at the lonely node": "id,source\na,0\nb,0\nc,0\nlonely,1\n",
		"elsewhere":          "id,source\na,1\nb,0\nc,0\nlonely,0\n",
	} {
		s, _ := testkit.Graph(t, nodes, relationships)
		job := testkit.PaperJob()
		job.Communities.Property = ""
		if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); !errors.Is(err, plan.ErrIsolated) {
			t.Errorf("%s: %v, want ErrIsolated", where, err)
		}
		if scopes, err := s.Ledger().Scopes(t.Context()); err != nil || len(scopes) > 0 {
			t.Errorf("%s: a refusal spent from %q, %v", where, scopes, err)
		}
		job.Selection.Isolated = graph.AllowIsolated
		rep, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{})
		if err != nil || !strings.Contains(strings.Join(rep.Notes, "\n"), "a source there is not protected") || rep.NodeCount != 4 {
			t.Errorf("%s, allowed: %+v, %v", where, rep, err)
		}
		job.Selection.Isolated = graph.DropIsolated
		rep, err = graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{})
		if err != nil || !strings.Contains(strings.Join(rep.Notes, "\n"), "were left out") || rep.NodeCount != 3 || rep.SensorCount != 3 {
			t.Errorf("%s, dropped: %+v, %v", where, rep, err)
		}
	}
}

// TestPlanOfIsolatedNodes: a plan that was made elsewhere agrees for nobody.
func TestPlanOfIsolatedNodes(t *testing.T) {
	s, _ := testkit.Graph(t, "id,source\na,1\nb,0\nlonely,0\n", "source,target\na,b\n")
	job := testkit.PaperJob()
	job.Communities.Property = ""
	job.Selection.Isolated = graph.AllowIsolated
	m, p := testkit.Planned(t, s, job)
	m.Selection.Isolated = ""
	if err := m.Check(t.Context(), p, job); !errors.Is(err, plan.ErrIsolated) {
		t.Errorf("%v, want ErrIsolated", err)
	}
}
