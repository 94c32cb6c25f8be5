// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"context"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// A programme that has lost one of its tight edges gives weights that are not
// private; the certificate over every edge says so.
func TestLostEdgeIsCaught(t *testing.T) {
	ctx := context.Background()
	g, labels, err := graph.SBM(200, 4, .1, .005, 8)
	if err != nil {
		t.Fatal(err)
	}
	l := laplacian.New(g, laplacian.Combinatorial)
	d, err := expm.New(ctx, l, 2, expm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := sensitivity.Model{Graph: g, Laplacian: l, Tau: 2, Diffusion: d}
	opts := Options{Objective: Separation, Gap: 1e-8}
	whole, err := Optimize(ctx, m, d, labels, opts)
	if err != nil {
		t.Fatal(err)
	}
	caught := 0
	for _, lost := range whole.ActiveEdges {
		p, err := newProblem(ctx, m, d, labels, opts)
		if err != nil {
			t.Fatal(err)
		}
		p.rows.edges = slices.DeleteFunc(p.rows.edges, func(e edge) bool { return int(e.u) == lost[0] && int(e.v) == lost[1] })
		p.value = p.value[:len(p.rows.edges)]
		r, err := p.optimize()
		if err != nil {
			t.Fatal(err)
		}
		b, err := sensitivity.Bound(ctx, m, r.Weights, sensitivity.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if b.Lower > 1+1e-4 && b.Edge == lost {
			caught++
		} else {
			t.Errorf("without edge %v the certificate is [%v, %v] at %v", lost, b.Lower, b.Upper, b.Edge)
		}
	}
	if caught == 0 {
		t.Error("no tight edges")
	}
}
