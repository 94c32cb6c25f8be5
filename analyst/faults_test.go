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

// TestOffsetOfNeighbours: on a path of five sensors the groups are pairs, each a sensor with the first of its neighbours and all that
// both read, and beside a source the pair of the likeliest node counts for both of its sensors.
func TestOffsetOfNeighbours(t *testing.T) {
	g := must.Get(graph.Path(5))(t)
	l := laplacian.New(g, laplacian.Combinatorial)
	once := &Operator{Graph: g, Laplacian: l, Diffusion: must.Get(expm.New(t.Context(), l, 1, expm.Options{}))(t)}
	testOffset(t, once, 1, []float64{.1, .5, -.2, .3, .7})
	b := response.NewBuilder(g, nil)
	b.Begin("two times")
	for k := range 2 * 5 * 5 {
		must.Do(t, b.AddAt(k/2/5, k/2%5, 1/float64(1+k), strconv.Itoa(k%2)))
	}
	twice := &Operator{Graph: g, Given: must.Get(b.Build())(t)[0]}
	testOffset(t, twice, 2, []float64{.1, .5, -.2, .3, .7, .2, -.1, .4, .6, 0})
}

// testOffset is for the values of five sensors on a path that read so many times.
func testOffset(t *testing.T, o *Operator, times int, values []float64) {
	t.Helper()
	in := Measurements{Values: values}
	for k := range values {
		in.Nodes, in.Sigmas = append(in.Nodes, k), append(in.Sigmas, .1+.02*float64(k))
	}
	w := must.Get(o.Whiten(t.Context(), in))(t)
	var want []float64
	for v := range 5 {
		h := make([]float64, len(values))
		for k := range h {
			if u := k / times; u == v || u == int(o.Graph.Neighbors(v)[0]) {
				h[k] = 1 / in.Sigmas[k]
			}
		}
		want = append(want, posterior.Offset(patchOffset, floats.Dot(h, h), floats.Dot(h, w.Data.Y)))
		if v == 3 {
			want = append(want, must.Get(posterior.Background(t.Context(), w.Data, h, posterior.Options{}))(t)+math.Ln2)
		}
	}
	got := must.Get(w.offset(t.Context(), posterior.Options{}, 3))(t)
	if off := got - floats.LogSumExp(want) + math.Log(5); math.Abs(off) > 1e-12 {
		t.Errorf("%d times: the log evidence is %v, off by %v", times, got, off)
	}
}
