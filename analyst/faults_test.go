// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"math"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/response"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// TestOffsetOfNeighbours: on a path of five sensors the groups are pairs, each a sensor with the first of its neighbours, and beside
// a source the pair of the likeliest node counts for both of its sensors.
func TestOffsetOfNeighbours(t *testing.T) {
	g := must.Get(graph.Path(5))(t)
	l := laplacian.New(g, laplacian.Combinatorial)
	o := &Operator{Graph: g, Laplacian: l, Diffusion: must.Get(expm.New(t.Context(), l, 1, expm.Options{}))(t)}
	w := must.Get(o.Whiten(t.Context(), Measurements{
		Nodes: []int{0, 1, 2, 3, 4}, Values: []float64{.1, .5, -.2, .3, .7}, Sigmas: []float64{.1, .2, .1, .3, .2},
	}))(t)
	var want []float64
	for v := range 5 {
		u := int(g.Neighbors(v)[0])
		h := make([]float64, 5)
		h[v], h[u] = 1/w.in.Sigmas[v], 1/w.in.Sigmas[u]
		want = append(want, posterior.Offset(patchOffset, floats.Dot(h, h), floats.Dot(h, w.Data.Y)))
		if v == 3 {
			want = append(want, must.Get(posterior.Background(t.Context(), w.Data, h, posterior.Options{}))(t)+math.Ln2)
		}
	}
	got := must.Get(w.offset(t.Context(), posterior.Options{}, 3))(t)
	if off := got - floats.LogSumExp(want) + math.Log(5); math.Abs(off) > 1e-12 {
		t.Errorf("the log evidence is %v, off by %v", got, off)
	}
}

// TestOffsetOfSensorsWithTimes: a group is of sensors, with all that each of them read.
func TestOffsetOfSensorsWithTimes(t *testing.T) {
	g := must.Get(graph.Path(5))(t)
	b := response.NewBuilder(g, nil)
	b.Begin("two times")
	for k := range 2 * 5 * 5 {
		must.Do(t, b.AddAt(k/2/5, k/2%5, 1/float64(1+k), strconv.Itoa(k%2)))
	}
	o := &Operator{Graph: g, Given: must.Get(b.Build())(t)[0]}
	in := Measurements{Values: []float64{.1, .5, -.2, .3, .7, .2, -.1, .4, .6, 0}}
	for k := range in.Values {
		in.Nodes, in.Sigmas = append(in.Nodes, k), append(in.Sigmas, .1+.02*float64(k))
	}
	w := must.Get(o.Whiten(t.Context(), in))(t)
	var want []float64
	for v := range 5 {
		h := make([]float64, 10)
		for _, u := range []int{v, int(g.Neighbors(v)[0])} {
			h[2*u], h[2*u+1] = 1/in.Sigmas[2*u], 1/in.Sigmas[2*u+1]
		}
		want = append(want, posterior.Offset(patchOffset, floats.Dot(h, h), floats.Dot(h, w.Data.Y)))
		if v == 3 {
			want = append(want, must.Get(posterior.Background(t.Context(), w.Data, h, posterior.Options{}))(t)+math.Ln2)
		}
	}
	got := must.Get(w.offset(t.Context(), posterior.Options{}, 3))(t)
	if off := got - floats.LogSumExp(want) + math.Log(5); math.Abs(off) > 1e-12 {
		t.Errorf("the log evidence is %v, off by %v", got, off)
	}
}
