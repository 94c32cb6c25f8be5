// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"context"
	"encoding/csv"
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

type fixture struct {
	name   string
	g      *graph.Graph
	labels []int
}

func (f fixture) complete() bool { return f.g.Size() == f.g.Order()*(f.g.Order()-1)/2 }

// fixtures are small graphs, each in hops and with random lengths and weights.
func fixtures(t testing.TB) []fixture {
	t.Helper()
	sbm, _, err := graph.SBM(60, 3, .3, .03, 5)
	near, _, err2 := graph.KNN(50, 3, 6)
	road, _, err3 := graph.RoadLike(64, 7)
	must.Do(t, errors.Join(err, err2, err3))
	list := []fixture{
		{name: "path", g: must.Get(graph.Path(12))(t)},
		{name: "cycle", g: must.Get(graph.Cycle(11))(t)},
		{name: "star", g: must.Get(graph.Star(9))(t)},
		{name: "complete", g: must.Get(graph.Complete(7))(t)},
		{name: "grid", g: must.Get(graph.Grid(5, 6))(t)},
		{name: "hypercube", g: must.Get(graph.Hypercube(4))(t)},
		{name: "sbm", g: sbm},
		{name: "knn", g: near},
		{name: "road", g: road},
		{name: "karate", g: read(t, "karate")},
		{name: "net3", g: read(t, "net3")},
	}
	for _, f := range list {
		list = append(list, fixture{name: f.name + " with lengths", g: measured(t, f.g)})
	}
	for i := range list {
		p := must.Get(community.Leiden{}.Detect(context.Background(), list[i].g))(t)
		list[i].labels = p.Labels
		if p.Count == 1 {
			list[i].labels = make([]int, list[i].g.Order())
			for k := range list[i].labels {
				list[i].labels[k] = min(1, k/2)
			}
		}
	}
	return list
}

// read reads a graph of the examples.
func read(t testing.TB, name string) *graph.Graph {
	t.Helper()
	f := must.Get(os.Open("../../examples/data/" + name + "/relationships.csv"))(t)
	defer f.Close()
	lines := must.Get(csv.NewReader(f).ReadAll())(t)
	b := graph.Builder{Aggregation: graph.Single}
	for _, line := range lines[1:] {
		for _, id := range line[:2] {
			if _, ok := b.Handle(graph.ID(id)); !ok {
				must.Get(b.AddNode(graph.ID(id)))(t)
			}
		}
		must.Do(t, b.AddEdge(graph.ID(line[0]), graph.ID(line[1]), 1))
	}
	return must.Get(b.Graph())(t)
}

// measured gives the edges of g random weights and lengths.
func measured(t testing.TB, g *graph.Graph) *graph.Graph {
	t.Helper()
	random := rand.New(rand.NewPCG(3, uint64(g.Order())))
	var b graph.Builder
	for i := range g.Order() {
		must.Get(b.AddNode(g.ID(i)))(t)
	}
	for e := range g.Edges() {
		must.Do(t, b.Connect(e.U, e.V, .3+random.Float64(), .3+2*random.Float64()))
	}
	return must.Get(b.Graph())(t)
}

func model(t testing.TB, g *graph.Graph, kind laplacian.Kind, tau float64) (sensitivity.Model, *expm.Diffusion) {
	t.Helper()
	l := laplacian.New(g, kind)
	d := must.Get(expm.New(context.Background(), l, tau, expm.Options{}))(t)
	return sensitivity.Model{Graph: g, Laplacian: l, Tau: tau, Diffusion: d}, d
}

// unread checks the input, and makes an objective that of the search.
func unread(t testing.TB, m sensitivity.Model, d Diffusion, labels []int, o Objective, opts Options) (*problem, []int) {
	t.Helper()
	p, sensors, err := newUnread(t.Context(), m, d, labels, opts)
	must.Do(t, err)
	p.objective = o
	return p, sensors
}

// optimizeAs is [Optimize] with the given objective.
func optimizeAs(t testing.TB, m sensitivity.Model, d Diffusion, labels []int, o Objective, opts Options) (*Result, error) {
	t.Helper()
	p, sensors := unread(t, m, d, labels, o, opts)
	return p.optimize(d, sensors)
}
