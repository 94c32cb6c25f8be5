// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// A programme that has lost one of its tight edges gives weights that are not
// private; the certificate over every edge says so.
func TestLostEdgeIsCaught(t *testing.T) {
	g, labels, err := graph.SBM(200, 4, .1, .005, 8)
	must.Do(t, err)
	l := laplacian.New(g, laplacian.Combinatorial)
	d := must.Get(expm.New(t.Context(), l, 2, expm.Options{}))(t)
	m := sensitivity.Model{Graph: g, Laplacian: l, Tau: 2, Diffusion: d}
	allocate := func(lost []edge) (*problem, []float64) {
		p, sensors := unread(t, m, d, labels, Information, Options{})
		p.gap = 1e-8
		must.Do(t, p.read(d, sensors))
		p.rows.edges = slices.DeleteFunc(p.rows.edges, func(e edge) bool { return slices.Contains(lost, e) })
		p.value = p.value[:len(p.rows.edges)]
		u := must.Get(p.newProgramme(p.cap).maximise(p.separation()))(t)
		p.normalise(u)
		return p, u
	}
	whole, u := allocate(nil)
	whole.rows.constraints(whole.value, u)
	caught := 0
	for k, v := range whole.value {
		if v < 1-1e-6 {
			continue
		}
		lost := whole.rows.edges[k]
		_, u := allocate([]edge{lost})
		b := must.Get(sensitivity.Bound(t.Context(), m, u, sensitivity.Options{}))(t)
		if at := [2]int{int(lost.u), int(lost.v)}; b.Lower > 1+1e-4 && b.Edge == at {
			caught++
		} else {
			t.Errorf("without edge %v the certificate is [%v, %v] at %v", at, b.Lower, b.Upper, b.Edge)
		}
	}
	if caught == 0 {
		t.Error("no tight edges")
	}
}
