// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// unread is an operator whose columns come from products.
type unread struct{ linop.Operator }

func (u unread) Norm() float64 { return linop.Norm(u.Operator) }

func (u unread) Err() float64 { return linop.Err(u.Operator) }

// Where columns of the normal equations are read, the answer has its certificate and is that of
// products, of which it takes fewer; and where what is read is off, a product serves that column.
func TestLocalColumnsOfNormalEquations(t *testing.T) {
	const n = 10_000
	g, _, err := graph.RoadLike(n, 1)
	must.Do(t, err)
	d := must.Get(expm.New(t.Context(), laplacian.New(g, laplacian.Combinatorial), .25, expm.Options{Method: expm.Chebyshev}))(t)
	rnd := rand.New(rand.NewPCG(5, 1))
	w := linop.Scaled{}
	for i := range n {
		if i%2 == 0 {
			w.Rows, w.Scale = append(w.Rows, i), append(w.Scale, 4+rnd.Float64())
		}
	}
	var blocks [2][]int32
	blocks[0], blocks[1] = make([]int32, n), make([]int32, n)
	w.A = must.Get(Separate(linop.Rows(d, upTo(n)), blocks[0], blocks[1]))(t)
	f, y := make([]float64, n), make([]float64, len(w.Rows))
	for range 12 {
		f[rnd.IntN(n)] = 1
	}
	w.MulVecTo(y, false, f)
	for i := range y {
		y[i] += rnd.NormFloat64()
	}
	solver := ColumnGeneration{Options: Options{Tol: 1e-8, Neighbors: g.Neighbors}}
	var results [2]*Result
	for k, op := range []linop.Operator{w, unread{w}} {
		if results[k], _, err = Recover(t.Context(), measurement.Data{A: op, Y: y}, solver, NormalEquations, nil); err != nil {
			t.Fatal(err)
		}
	}
	read, computed := results[0], results[1]
	if read.Status != Optimal || read.Support < 5 || math.Abs(read.Objective-computed.Objective) > 2e-8*computed.Objective {
		t.Errorf("%v, mass %v at %d nodes, want that of products: %v", read.Status, read.Objective, read.Support, computed.Objective)
	}
	if 2*read.Products > computed.Products {
		t.Errorf("%d products where columns are read, %d where they are not", read.Products, computed.Products)
	}
	testCutColumns(t, normal{w, linop.Norm(w)}, upTo(20))
}

// Noise 5 % louder than supposed takes hundreds of columns, of which neighbours are nearly dependent: they are still solved for from
// what was read of them. An orthogonal basis would hold them at their full length, 2 GB at a million nodes, by a product each.
func TestNearlyDependentColumns(t *testing.T) {
	const n = 40_000
	g, _, err := graph.RoadLike(n, 1)
	must.Do(t, err)
	d := must.Get(expm.New(t.Context(), laplacian.New(g, laplacian.Combinatorial), 4, expm.Options{Method: expm.Chebyshev}))(t)
	rnd := rand.New(rand.NewPCG(2, 1))
	w := linop.Scaled{A: linop.Rows(d, upTo(n)), Rows: upTo(n), Scale: slices.Repeat([]float64{22}, n)}
	f, y := make([]float64, n), make([]float64, n)
	f[rnd.IntN(n)] = 1
	w.MulVecTo(y, false, f)
	for i := range y {
		y[i] += 1.05 * rnd.NormFloat64()
	}
	solver := ColumnGeneration{Options: Options{Tol: 1e-8, Neighbors: g.Neighbors}}
	r, _, err := Recover(t.Context(), measurement.Data{A: w, Y: y}, solver, NormalEquations, nil)
	if err != nil || r.Status != Optimal || r.Support < 100 {
		t.Fatalf("%v at %d nodes: %v", r.Status, r.Support, err)
	}
	if r.Products > r.Iterations+2 {
		t.Errorf("%d products in %d iterations, want one in each", r.Products, r.Iterations)
	}
}

// testCutColumns reads columns of which every second is said to be off.
func testCutColumns(t *testing.T, a normal, js []int) {
	_, n := a.Dims()
	s := &gram{certifier: newTestCertifier(t, Problem{A: a, Y: ones(n), Radius: 1})}
	read := a.reader()
	s.thin, s.local = &thinColumns{}, func(j int, do func(rows []int32, x []float64, off float64)) {
		read(j, func(rows []int32, x []float64, off float64) {
			if j%2 == 1 {
				floats.Scale(2, x)
				off = a.norm
			}
			do(rows, x, off)
		})
	}
	s.addThin(js)
	want := s.columns(js)
	entries := 0
	for k, c := range s.thin.columns {
		entries += len(c.rows)
		c.addTo(want[k*n:(k+1)*n], -1)
		if norm := floats.Norm(want[k*n:(k+1)*n], 2); norm > 1e-12*a.norm*a.norm {
			t.Errorf("column %d is off by %v", js[k], norm)
		}
	}
	if len(s.thin.columns) != len(js) || s.thin.entries != entries {
		t.Errorf("%d columns of %d entries, counted as %d", len(s.thin.columns), entries, s.thin.entries)
	}
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}
