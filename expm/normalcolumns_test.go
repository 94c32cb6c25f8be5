// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// Columns of the normal matrix of some scaled rows are off by no more than they say, and by about what
// is asked for.
func TestNormalColumns(t *testing.T) {
	g, _, err := graph.RoadLike(3000, 1)
	must.Do(t, err)
	d := must.Get(expm.New(t.Context(), laplacian.New(g, laplacian.Combinatorial), 2, expm.Options{Method: expm.Chebyshev}))(t)
	rnd := rand.New(rand.NewPCG(1, 1))
	scaled := linop.Scaled{}
	var sensors []int
	for i := range g.Order() {
		if i%3 > 0 {
			sensors = append(sensors, i)
			scaled.Rows, scaled.Scale = append(scaled.Rows, len(scaled.Rows)), append(scaled.Scale, 5*rnd.Float64())
		}
	}
	scaled.A = linop.Rows(d, sensors)
	js := []int{0, 77, 1500, 2999}
	for _, tol := range []float64{1e-3, 1e-10} {
		read, ok := linop.ReadNormalColumns(scaled, nil, js, tol, 1<<20)
		if !ok {
			t.Fatal("no column can be read")
		}
		for _, j := range js {
			column, middle, want := make([]float64, g.Order()), make([]float64, len(sensors)), make([]float64, g.Order())
			column[j] = 1
			scaled.MulVecTo(middle, false, column)
			scaled.MulVecTo(want, true, middle)
			read(j, func(rows []int32, x []float64, off float64) {
				for k, i := range rows {
					want[i] -= x[k]
				}
				norm := floats.Norm(want, 2)
				if norm > off+50*d.Err() || off > tol+25e-10 || tol == 1e-3 && norm < tol/1e6 {
					t.Errorf("tolerance %v: column %d is off by %v, said to be by %v", tol, j, norm, off)
				}
			})
		}
	}
	if _, ok := linop.ReadNormalColumns(scaled, nil, js, 1e-3, 0); ok {
		t.Error("balls are taken for cheaper than nothing")
	}
	walk := must.Get(expm.New(t.Context(), laplacian.New(g, laplacian.RandomWalk), 2, expm.Options{Method: expm.Chebyshev}))(t)
	if _, ok := linop.ReadNormalColumns(walk, nil, js, 1e-3, 1<<20); ok {
		t.Error("a matrix that is not symmetric is taken for one that is")
	}
}
