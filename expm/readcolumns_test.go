// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// Columns from balls are off by no more than they say, entries beyond the ball included, and by
// little where the ball is not cut; so are those of picked and scaled rows.
func TestReadColumns(t *testing.T) {
	road, _, err := graph.RoadLike(3000, 1)
	must.Do(t, err)
	for _, c := range []struct {
		name string
		g    *graph.Graph
		kind laplacian.Kind
		js   []int
	}{
		{"road-like", road, laplacian.Combinatorial, []int{0, 77, 1500, 2999}},
		{"random walk", road, laplacian.RandomWalk, []int{0, 77, 1500, 2999}},
		{"hub", hub(t), laplacian.Normalized, []int{0, 50, 100, 150, 240, 299}},
	} {
		d := must.Get(expm.New(t.Context(), laplacian.New(c.g, c.kind), 2, expm.Options{Method: expm.Chebyshev}))(t)
		var pick []int
		var scale []float64
		for i := c.g.Order() - 1; i >= 0; i -= 2 {
			pick, scale = append(pick, i), append(scale, float64(i%3))
		}
		for what, a := range map[string]linop.Operator{
			"": d, "picked": linop.Rows(d, pick),
			"scaled": linop.Scaled{A: d, Rows: pick, Scale: scale},
		} {
			t.Run(c.name+" "+what, func(t *testing.T) { testReadColumns(t, a, c.js, c.name == "hub") })
		}
	}
}

func testReadColumns(t *testing.T, a linop.Operator, js []int, cut bool) {
	const tol = 1e-4
	read, ok := linop.ReadColumns(a, js, tol, 1<<20)
	if !ok {
		t.Fatal("columns cannot be read")
	}
	m, _ := a.Dims()
	want := make([]float64, m*len(js))
	linop.ColumnsTo(a, want, js)
	for k, j := range js {
		read(j, func(rows []int32, x []float64, off float64) {
			got := make([]float64, m)
			for z, i := range rows {
				got[i] = x[z]
			}
			norm := floats.Distance(got, want[k*m:(k+1)*m], 2)
			if norm > off+linop.Err(a) || !cut && off > 4*tol || norm < tol/1e6 {
				t.Errorf("column %d is off by %v, said to be by %v", j, norm, off)
			}
		})
	}
	if _, ok := linop.ReadColumns(a, js, tol, 0); ok {
		t.Error("balls are taken for cheaper than nothing")
	}
}
