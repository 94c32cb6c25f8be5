// SPDX-License-Identifier: Apache-2.0

package laplacian_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/laplacian"
)

var kinds = []laplacian.Kind{laplacian.Combinatorial, laplacian.Normalized, laplacian.RandomWalk}

// random is a weighted graph with an isolated node and two components.
func random(t testing.TB, n int) *graph.Graph {
	r := rand.New(rand.NewPCG(5, uint64(n)))
	var b graph.Builder
	for i := range n {
		must.Get(b.AddNode(graph.ID(fmt.Sprintf("%06d", i))))(t)
	}
	for range 4 * n {
		u, v := r.IntN(n-1), r.IntN(n-1)
		if (u < n/3) == (v < n/3) {
			must.Do(t, b.Connect(u, v, math.Exp(2*r.NormFloat64()), 1))
		}
	}
	return must.Get(b.Graph())(t)
}

// byDefinition is L from the weights, entry by entry.
func byDefinition(g *graph.Graph, k laplacian.Kind) *mat.Dense {
	n := g.Order()
	l, d := mat.NewDense(n, n, nil), make([]float64, n)
	for e := range g.Edges() {
		d[e.U] += e.Weight
		d[e.V] += e.Weight
	}
	for i := range n {
		switch {
		case k == laplacian.Combinatorial:
			l.Set(i, i, d[i])
		case d[i] > 0:
			l.Set(i, i, 1)
		}
	}
	for e := range g.Edges() {
		uv, vu := e.Weight, e.Weight
		switch k {
		case laplacian.Normalized:
			uv /= math.Sqrt(d[e.U] * d[e.V])
			vu = uv
		case laplacian.RandomWalk:
			uv, vu = uv/d[e.U], vu/d[e.V]
		}
		l.Set(e.U, e.V, -uv)
		l.Set(e.V, e.U, -vu)
	}
	return l
}

func TestMulVecToAgainstDefinition(t *testing.T) {
	g := random(t, 60)
	r := rand.New(rand.NewPCG(1, 1))
	for _, k := range kinds {
		l, want := laplacian.New(g, k), byDefinition(g, k)
		x, y := make([]float64, 60), make([]float64, 60)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for _, trans := range []bool{false, true} {
			var z mat.VecDense
			if z.MulVec(want, mat.NewVecDense(60, x)); trans {
				z.MulVec(want.T(), mat.NewVecDense(60, x))
			}
			l.MulVecTo(y, trans, x)
			for i, v := range y {
				if math.Abs(v-z.AtVec(i)) > 1e-12*l.Bound() {
					t.Fatalf("%v trans %v: (Lx)_%d = %v, want %v", k, trans, i, v, z.AtVec(i))
				}
			}
		}
	}
}

// TestRecur holds blocks, workers and accumulators against single products, and
// the rounding bound against the definition.
func TestRecur(t *testing.T) {
	g := random(t, 3000)
	r := rand.New(rand.NewPCG(2, 2))
	n := g.Order()
	for _, kind := range kinds {
		l := laplacian.New(g, kind)
		for _, k := range []int{1, 2, 8, 11, 16} {
			x, old, acc := make([]float64, n*k), make([]float64, n*k), make([]float64, n*k)
			for i := range x {
				x[i], old[i], acc[i] = r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
			}
			one, oneAcc := append([]float64(nil), old...), append([]float64(nil), acc...)
			many, manyAcc := append([]float64(nil), old...), append([]float64(nil), acc...)
			l.WithWorkers(1).Recur(one, oneAcc, x, k, 1.5, -0.25, 0.75, 2)
			l.WithWorkers(7).Recur(many, manyAcc, x, k, 1.5, -0.25, 0.75, 2)
			sx, col := make([]float64, n), make([]float64, n)
			for j := range k {
				for i := range n {
					col[i] = x[i*k+j]
				}
				l.Recur(sx, nil, col, 1, 1, 0, 0, 0)
				var err2, scale2 float64
				for i := range n {
					at := i*k + j
					if one[at] != many[at] || oneAcc[at] != manyAcc[at] {
						t.Fatalf("%v k=%d: bits differ between 1 and 7 workers", kind, k)
					}
					d := one[at] - (1.5*sx[i] - 0.25*col[i] + 0.75*old[at])
					err2 += d * d
					scale2 += col[i]*col[i] + old[at]*old[at]
					if a := acc[at] + 2*one[at]; math.Abs(a-oneAcc[at]) > 1e-15*math.Abs(a) {
						t.Fatalf("%v k=%d: accumulator is %v, want %v", kind, k, oneAcc[at], a)
					}
				}
				if limit := 2 * l.Rounding() * 1.5 * l.Bound() * math.Sqrt(scale2); math.Sqrt(err2) > limit {
					t.Errorf("%v k=%d: off by %g, want ≤ %g", kind, k, math.Sqrt(err2), limit)
				}
			}
		}
	}
}

// TestBound: λ_max from gonum's eigensolver must stay below Bound, and the power
// steps must come near to it: on a star Q and L have one spectrum.
func TestBound(t *testing.T) {
	star := must.Get(graph.Star(200))(t)
	for _, g := range []*graph.Graph{random(t, 80), star, must.Get(graph.BarabasiAlbert(200, 3, 1))(t)} {
		for _, k := range kinds {
			l := laplacian.New(g, k)
			var e mat.EigenSym
			e.Factorize(testgraph.Symmetric(l.CSR()), false)
			v := e.Values(nil)
			top := v[len(v)-1]
			if !(l.Bound() >= top*(1-1e-13)) || l.Bound() > 2.001*top {
				t.Errorf("%v: Bound() = %v, λ_max = %v", k, l.Bound(), top)
			}
			zero := 0
			for _, x := range v {
				if math.Abs(x) < 1e-10*top {
					zero++
				}
			}
			if zero != l.Nullity() {
				t.Errorf("%v: Nullity() = %d, the spectrum has %d zeros", k, l.Nullity(), zero)
			}
		}
	}
	if l := laplacian.New(star, laplacian.Combinatorial); l.Bound() > 200*1.0001 {
		t.Errorf("star of 200 nodes: Bound() = %v, λ_max = 200", l.Bound())
	}
}

func TestDegenerate(t *testing.T) {
	for _, n := range []int{1, 3} {
		var b graph.Builder
		for i := range n {
			b.AddNode(graph.ID(fmt.Sprint(i)))
		}
		g := must.Get(b.Graph())(t)
		for _, k := range kinds {
			l := laplacian.New(g, k)
			if l.Bound() != 0 || l.Nullity() != n {
				t.Errorf("%v without edges: Bound %v, Nullity %d, want 0, %d", k, l.Bound(), l.Nullity(), n)
			}
			y := []float64{1, 2, 3}[:n]
			l.MulVecTo(y, false, []float64{4, 5, 6}[:n])
			for _, v := range y {
				if v != 0 {
					t.Errorf("%v without edges: L x = %v, want 0", k, y)
				}
			}
		}
	}
}

func TestExtremeWeights(t *testing.T) {
	for _, w := range [][2]float64{{1e-300, 1e300}, {1e-300, 1e-300}, {1e300, 1e300}, {1.7e308, 1.7e308}} {
		var b graph.Builder
		for i := range 3 {
			b.AddNode(graph.ID(fmt.Sprint(i)))
		}
		b.Connect(0, 1, w[0], 1)
		b.Connect(1, 2, w[1], 1)
		g := must.Get(b.Graph())(t)
		for _, k := range kinds {
			l := laplacian.New(g, k)
			// λ_max of a path of three with weights v, w is at least max(v, w) and at
			// most 2(v + w).
			top := max(w[0], w[1])
			if k != laplacian.Combinatorial {
				top = 1
			}
			if !(l.Bound() >= top) {
				t.Errorf("%v weights %v: Bound() = %v, want ≥ %v", k, w, l.Bound(), top)
			}
		}
	}
}

func TestProductAllocatesNothing(t *testing.T) {
	g := must.Get(graph.BarabasiAlbert(20000, 5, 1))(t)
	for _, k := range kinds {
		l := laplacian.New(g, k).WithWorkers(4)
		x, y := make([]float64, 20000), make([]float64, 20000)
		x[1] = 1
		for _, f := range []func(){
			func() { l.Recur(y, nil, x, 1, 1, 0, 0, 0) },
			func() { l.MulVecTo(y, true, x) },
		} {
			if a := testing.AllocsPerRun(20, f); a > 0 {
				t.Errorf("%v: a product allocates %v times", k, a)
			}
		}
	}
}

func TestParseKind(t *testing.T) {
	for _, k := range kinds {
		if got, err := laplacian.ParseKind(k.String()); err != nil || got != k {
			t.Errorf("ParseKind(%q) = %v, %v", k, got, err)
		}
	}
	if _, err := laplacian.ParseKind("heat"); err == nil {
		t.Error("ParseKind(heat) succeeds")
	}
}

// shuffled is a grid whose nodes are numbered at random, with a node of degree 303.
func shuffled(t testing.TB, side int, weighted bool) *graph.Graph {
	var b graph.Builder
	at := rand.New(rand.NewPCG(4, 4)).Perm(side * side)
	for i := range side * side {
		must.Get(b.AddNode(graph.ID(fmt.Sprintf("%08d", i))))(t)
	}
	join := func(i, j, weight int) {
		if !weighted {
			weight = 1
		}
		must.Do(t, b.Connect(at[i], at[j], float64(weight), 1))
	}
	for i := range side * side {
		if (i+1)%side != 0 {
			join(i, i+1, 1+i%7)
		}
		if i+side < side*side {
			join(i, i+side, 1)
		}
	}
	for i := range 300 {
		join(side*side/2, side*side/2+side+2+i, 2)
	}
	return must.Get(b.Graph())(t)
}

// TestReordered: a large local graph is renumbered inside, and nothing shows, at any
// number of workers.
func TestReordered(t *testing.T) {
	for _, weighted := range []bool{true, false} {
		g := shuffled(t, 190, weighted)
		for _, k := range []laplacian.Kind{laplacian.Combinatorial, laplacian.RandomWalk} {
			checkReordered(t, g, k)
		}
	}
}

func checkReordered(t *testing.T, g *graph.Graph, k laplacian.Kind) {
	r := rand.New(rand.NewPCG(1, 1))
	x, y, want := make([]float64, g.Order()), make([]float64, g.Order()), make([]float64, g.Order())
	for i := range x {
		x[i] = r.NormFloat64()
	}
	l := laplacian.New(g, k)
	if l.Permutation() == nil {
		t.Errorf("%v: a shuffled grid of %d nodes is not renumbered", k, g.Order())
	}
	for e := range g.Edges() {
		d := e.Weight * (x[e.U] - x[e.V])
		want[e.U] += d
		want[e.V] -= d
	}
	if k == laplacian.RandomWalk {
		for i, d := range l.Degrees() {
			want[i] /= d
		}
	}
	l.MulVecTo(y, false, x)
	for i := range y {
		if math.Abs(y[i]-want[i]) > 1e-13*l.Bound() {
			t.Fatalf("%v: (Lx)_%d = %v, want %v", k, i, y[i], want[i])
		}
	}
	for workers := 1; workers < 4; workers++ {
		again := make([]float64, len(y))
		l.WithWorkers(workers).MulVecTo(again, false, x)
		if !slices.Equal(again, y) {
			t.Errorf("%v: other bits with %d workers", k, workers)
		}
	}
}
