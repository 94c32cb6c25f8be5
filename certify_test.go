// SPDX-License-Identifier: Apache-2.0

package graphcloak_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
)

// social writes a graph with hubs of n nodes and, beside it, stars, cliques and pairs as
// components of their own, as social networks have them.
func social(t *testing.T, n int) graphcloak.Store {
	t.Helper()
	g, err := graph.BarabasiAlbert(n, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	var nodes, edges strings.Builder
	nodes.WriteString("id\n")
	edges.WriteString("source,target\n")
	for e := range g.Edges() {
		fmt.Fprintf(&edges, "%d,%d\n", e.U, e.V)
	}
	at := n
	small := func(k int, joined func(i, j int) bool) {
		for i := range k {
			for j := range i {
				if joined(j, i) {
					fmt.Fprintf(&edges, "%d,%d\n", at+j, at+i)
				}
			}
		}
		at += k
	}
	star := func(i, _ int) bool { return i == 0 }
	clique := func(int, int) bool { return true }
	for _, k := range []int{2, 2, 2, 3, 2, 4, 2, 3, 19, 2, 12} {
		small(k, star)
	}
	for _, k := range []int{3, 4, 5, 8, 9} {
		small(k, clique)
	}
	for i := range at {
		fmt.Fprintf(&nodes, "%d\n", i)
	}
	dir := t.TempDir()
	write(t, dir, "nodes.csv", nodes.String())
	write(t, dir, "relationships.csv", edges.String())
	s, err := folder.New(t.Context(), dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A sensor at the hub of a small star sees little but the mass of its component, and gets
// next to no noise. That M is known there to 1e-12 only takes nothing from the certificate
// of an answer elsewhere: every release ends with one, by both methods.
func TestSmallComponentsAreCertified(t *testing.T) {
	store := social(t, 260)
	for _, method := range []expm.Method{expm.Chebyshev, expm.Eigen} {
		job := graphcloak.Job{Settings: graphcloak.Settings{Tau: 2, Method: method}}
		job.Plan = graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: 4, Delta: 0.1}, Alpha: 1}
		m, p := studied(t, store, job)
		e, err := m.Evaluate(t.Context(), p, graphcloak.EvaluateOptions{Trials: 30, Amplitude: 1, Denoise: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range e.Each {
			if x.Denoised.Status == recovery.Stalled {
				t.Errorf("%v: a source at node %d ends without a certificate, at a gap of %.2g", method, x.Source, x.Denoised.Gap)
			}
		}
	}
}
