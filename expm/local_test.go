// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// Bounds on the squared norms of columns hold against the columns themselves, are as narrow
// as the tolerance asks for where balls are small, and hold where a hub keeps them from
// growing. Their bits do not depend on the number of workers.
func TestColumnSquares(t *testing.T) {
	road, _, err := graph.RoadLike(3000, 1)
	must.Do(t, err)
	rnd := rand.New(rand.NewPCG(3, 4))
	weighted := must.Get(road.Reweigh(func(graph.Edge) float64 { return 0.5 + 1.5*rnd.Float64() }))(t)
	for name, g := range map[string]*graph.Graph{"road-like": road, "weighted": weighted, "hub": hub(t)} {
		for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.Normalized, laplacian.RandomWalk} {
			if name == "hub" && kind == laplacian.Combinatorial {
				continue // its spectrum is so long that the recurrence reads everything
			}
			l := laplacian.New(g, kind)
			d := must.Get(expm.New(t.Context(), l, 2, expm.Options{Method: expm.Chebyshev, Tolerance: 1e-9}))(t)
			for _, tol := range []float64{1e-2, 1e-5, 0} {
				for _, every := range []int{1, 60} { // balls of columns, and of rows
					t.Run(fmt.Sprint(name, " ", kind, " ", tol, " ", every), func(t *testing.T) {
						testColumnSquares(t, d, tol, name == "hub", every)
					})
				}
			}
		}
	}
}

// Columns of a Laplacian whose rows are renumbered are bounded in the order of the rows, and each bound is where its
// column was asked for.
func TestColumnSquaresOfPermutedRows(t *testing.T) {
	g, _, err := graph.KNN(33_000, 6, 1)
	must.Do(t, err)
	l := laplacian.New(g, laplacian.Combinatorial)
	if l.Permutation() == nil {
		t.Fatal("rows are numbered as nodes are")
	}
	d := must.Get(expm.New(t.Context(), l, 1, expm.Options{Method: expm.Chebyshev, Tolerance: 1e-9}))(t)
	ones := slices.Repeat([]float64{1}, g.Order())
	squares := func(js ...int) []float64 {
		low, high := make([]float64, len(js)), make([]float64, len(js))
		if ok, err := d.ColumnSquares(t.Context(), js, ones, 1e-5, 1<<20, low, high); !ok || err != nil {
			t.Fatal(ok, err)
		}
		return append(low, high...)
	}
	js := rand.New(rand.NewPCG(1, 2)).Perm(g.Order())[:300]
	all := squares(js...)
	for k, j := range js {
		if one := squares(j); all[k] != one[0] || all[len(js)+k] != one[1] {
			t.Errorf("column %d, asked for as number %d: %v to %v, alone %v", j, k, all[k], all[len(js)+k], one)
		}
	}
}

func testColumnSquares(t *testing.T, d *expm.Diffusion, tol float64, cut bool, every int) {
	n, _ := d.Dims()
	rnd := rand.New(rand.NewPCG(1, 2))
	weights := make([]float64, n)
	for i := range weights {
		if i%every == 0 && (every == 1 || i < 300) {
			weights[i] = float64(rnd.IntN(3)) * rnd.Float64() // some nodes carry no sensor
		}
	}
	js := []int{0, 2, 50, 77, 100, 120, 150, 180, 240, 299}
	low, high := make([]float64, len(js)), make([]float64, len(js))
	if ok, err := d.ColumnSquares(t.Context(), js, weights, tol, 1<<20, low, high); !ok || err != nil {
		t.Fatal(ok, err)
	}
	m := must.Get(d.Columns(t.Context(), js))(t)
	scale := slices.Max(weights)
	if s := d.Generator().Similarity(); s != nil {
		scale *= slices.Max(s) / slices.Min(s) * slices.Max(s) / slices.Min(s)
	}
	for k := range js {
		want := 0.0
		for i, v := range m.RawRowView(k) {
			want += weights[i] * v * v
		}
		if slack := 4e-9 * scale; !(low[k] <= want+slack && want <= high[k]+slack) {
			t.Errorf("column %d: %v is not from %v to %v", js[k], want, low[k], high[k])
		}
		if width := high[k] - low[k]; !cut && !(width <= (4*tol+1e-8)*scale) {
			t.Errorf("column %d: bounds are %v apart", js[k], width)
		}
	}
	for _, workers := range []int{1, 3} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
		l, h := make([]float64, len(js)), make([]float64, len(js))
		if _, err := d.ColumnSquares(t.Context(), js, weights, tol, 1<<20, l, h); err != nil || !slices.Equal(l, low) ||
			!slices.Equal(h, high) {
			t.Errorf("other bits with %d workers, or %v", workers, err)
		}
	}
}

// hub returns a path of 300 nodes at whose end a node has 40,000 leaves.
func hub(t *testing.T) *graph.Graph {
	t.Helper()
	return hubOf(t, 40_000)
}

func hubOf(t *testing.T, leaves int) *graph.Graph {
	t.Helper()
	var edges [][3]float64
	for i := 1; i < leaves+300; i++ {
		before := i - 1
		if i >= 300 {
			before = 0
		}
		edges = append(edges, [3]float64{float64(before), float64(i), 1})
	}
	return build(t, leaves+300, edges)
}

// Where heat reaches everything, balls are refused: they cost more than products.
func TestColumnSquaresRefused(t *testing.T) {
	const n = 12_000
	g := must.Get(graph.BarabasiAlbert(n, 5, 1))(t)
	d := must.Get(expm.New(t.Context(), laplacian.New(g, laplacian.Combinatorial), 4, expm.Options{Method: expm.Chebyshev}))(t)
	js, ones := make([]int, n), make([]float64, n)
	for i := range js {
		js[i], ones[i] = i, 1
	}
	if ok, err := d.ColumnSquares(t.Context(), js, ones, 1e-2, 128, make([]float64, n), make([]float64, n)); ok || err != nil {
		t.Errorf("%v, %v: want false and no error", ok, err)
	}
}

// Where few rows weigh, their balls take a time in which those of the columns are refused, and bounds are as narrow as is asked for,
// however many rows add to what a column misses. One ball that would be cut leaves it to the columns.
func TestColumnSquaresOfFewRows(t *testing.T) {
	const every, tol = 100, 1e-5
	g, _, err := graph.KNN(12_000, 6, 1)
	must.Do(t, err)
	d := must.Get(expm.New(t.Context(), laplacian.New(g, laplacian.Combinatorial), 1, expm.Options{Method: expm.Chebyshev}))(t)
	js, weights := make([]int, g.Order()), make([]float64, g.Order())
	for i := range js {
		js[i], weights[i] = i, 1
	}
	low, high := make([]float64, len(js)), make([]float64, len(js))
	const products = 40
	if ok, err := d.ColumnSquares(t.Context(), js, weights, tol, products, low, high); ok || err != nil {
		t.Fatalf("%v, %v: all rows weigh, want false and no error", ok, err)
	}
	for i := range weights {
		if i%every != 0 {
			weights[i] = 0
		}
	}
	if ok, err := d.ColumnSquares(t.Context(), js, weights, tol, products, low, high); !ok || err != nil {
		t.Fatalf("%v, %v: want true and no error", ok, err)
	}
	for k := range js {
		if width := math.Sqrt(high[k]) - math.Sqrt(low[k]); !(width <= 2.1*tol) {
			t.Fatalf("column %d: bounds of its norm are %v apart, want at most 2·%v", k, width, tol)
		}
	}
	far := hubOf(t, 300_000)
	d = must.Get(expm.New(t.Context(), laplacian.New(far, laplacian.Normalized), 2, expm.Options{Method: expm.Chebyshev}))(t)
	weights = make([]float64, far.Order())
	for _, row := range []int{1, 150, 160, 170, 180, 190} { // heat of the first reaches the hub
		weights[row] = 1
	}
	narrow := []int{152, 155, 162, 164, 171, 182, 191}
	if ok, err := d.ColumnSquares(t.Context(), narrow, weights, 0, 1<<20, low, high); !ok || err != nil || !(high[0]-low[0] < 1e-9) {
		t.Errorf("%v, %v, from %v to %v: want narrow bounds by the balls of columns", ok, err, low[0], high[0])
	}
}

// The rounding bound of a ball counts the row of a node that it reaches last: a hub adds up as
// many terms as it has neighbours, whether or not the ball goes beyond it.
func TestBallCountsTheLastRow(t *testing.T) {
	g := hub(t)
	d, err := expm.New(t.Context(), laplacian.New(g, laplacian.Normalized), 2, expm.Options{Method: expm.Chebyshev, Tolerance: 1e-9})
	must.Do(t, err)
	ones := make([]float64, g.Order())
	for i := range ones {
		ones[i] = 1
	}
	for j, terms := range map[int]float64{0: 40_001, 2: 40_001, 250: 2} {
		if got, least := expm.BallGamma(d, j, ones), terms*0x1p-53; !(got >= least && got <= 2*least+0x1p-49) {
			t.Errorf("node %d: gamma is %v, want at least %v and about that", j, got, least)
		}
	}
}

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
