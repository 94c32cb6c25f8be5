// SPDX-License-Identifier: Apache-2.0

package analyst_test

import (
	"errors"
	"math"
	"testing"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// operatorOnPath returns the operator of a path through products, and so many listed graphs that are paths too.
func operatorOnPath(t *testing.T, n, listed int) (*analyst.Operator, []analyst.ListedGraph) {
	t.Helper()
	g := must.Get(graph.Path(n))(t)
	l := laplacian.New(g, laplacian.Combinatorial)
	d := must.Get(expm.New(t.Context(), l, 1, expm.Options{Method: expm.Chebyshev}))(t)
	list := make([]analyst.ListedGraph, listed)
	for k := range list {
		list[k] = analyst.ListedGraph{Name: "path", Graph: g, Laplacian: l}
	}
	return &analyst.Operator{Graph: g, Laplacian: l, Diffusion: d}, list
}

// A posterior is summed over listed graphs where that takes no more than a minute by estimate, eigenpairs included.
func TestProcessesAreBounded(t *testing.T) {
	for _, c := range []struct {
		nodes, listed, sensors int
		from, to               float64
		count                  int
		told                   bool
	}{
		{600, 20, 600, 0, 0, 21, true},
		{600, 20, 10, 0, 0, 21, true},
		{600, 99, 10, 0, 0, 1, false},
		{3000, 4, 2500, 0, 0, 1, false},
		{3000, 4, 1500, 0, 0, 5, true},
		{3000, 1, 10, 1, 1, 2, true},
		{3000, 1, 10, 1e12, 1e12, 1, false}, // beyond products: eigenpairs take a minute
		{100, 1, 10, 1, 1e12, 18, true},
	} {
		o, graphs := operatorOnPath(t, c.nodes, c.listed)
		if count, told := o.Processes(graphs, tau.Range{From: c.from, To: c.to}, c.sensors); count != c.count || told != c.told {
			t.Errorf("%+v: %d, %v", c, count, told)
		}
	}
}

// The rows of all processes are asked for at once, and the eigenpairs of listed graphs where these are needed; of a
// list that is left out, and of one process, what it takes alone.
func TestCheckProcesses(t *testing.T) {
	const n, sensors = 100, 10
	nodes := make([]int, sensors)
	for k := range nodes {
		nodes[k] = k
	}
	const rows = 8 * n * sensors
	for _, c := range []struct {
		listed      int
		from, to    float64
		least, most int64
	}{
		{0, 0, 0, 3 * rows, 3 * rows},
		{4, 0, 0, 7 * rows, 7*rows + 4*(32*n+1000)},
		{4, 1, 2, 47 * rows, 47*rows + 4*(32*n+1000)},
		{1, 1, 1e12, 20*rows + 24*n*n, 20*rows + 24*n*n},
		{0, 1, 2, 11 * rows, 11 * rows},
		{250, 0, 0, 3 * rows, 3 * rows},
		{250, 1, 2, 11 * rows, 11 * rows},
	} {
		o, graphs := operatorOnPath(t, n, c.listed)
		full := errors.New("full")
		var asked int64
		o.Guard = func(_ string, bytes int64) error { asked = bytes; return full }
		err := o.CheckProcesses(graphs, tau.Range{From: c.from, To: c.to}, nodes)
		if !errors.Is(err, full) || asked < c.least || asked > c.most {
			t.Errorf("%+v: %v, asked for %d bytes", c, err, asked)
		}
	}
	o, graphs := operatorOnPath(t, n, 1)
	if err := o.CheckProcesses(graphs, tau.Range{From: 1, To: 1e12}, nodes); err != nil {
		t.Errorf("without a guard: %v", err)
	}
	g := must.Get(graph.Star(n))(t)
	heavy := must.Get(g.Changed([]graph.Change{{Source: g.ID(0), Target: g.ID(1), Weight: math.MaxFloat64}}))(t)
	o.Guard = func(string, int64) error { return nil }
	graphs[0].Laplacian = laplacian.New(heavy, laplacian.Combinatorial)
	if err := o.CheckProcesses(graphs, tau.Range{}, nodes); !errors.Is(err, expm.ErrAccuracy) {
		t.Errorf("a graph whose operator is out of reach: %v", err)
	}
}
