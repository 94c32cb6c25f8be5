// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// watched is a Laplacian that counts the subnormal numbers that its products meet:
// operands, results, and the terms of the sums.
type watched struct {
	*laplacian.Laplacian
	met int
}

func (w *watched) Recur(dst, acc, x []float64, k int, a, b, c, d float64) {
	ptr, adj, val, _ := w.CSR()
	place := w.Permutation()
	w.count(x...)
	for i := range w.Order() {
		for p := ptr[i]; p < ptr[i+1] && k == 1; p++ {
			j := int(adj[p])
			if place != nil {
				j = int(place[j])
			}
			if v := 1.0; val != nil {
				v = val[p]
				w.count(v * x[j])
			}
		}
	}
	w.Laplacian.Recur(dst, acc, x, k, a, b, c, d)
	w.count(dst...)
	w.count(acc...)
}

func (w *watched) count(x ...float64) {
	for _, v := range x {
		if v != 0 && math.Abs(v) < 0x1p-1022 {
			w.met++
		}
	}
}

// comb is a hub on which a few leaves and a long path hang: the polynomials fade along
// the path by the degree of the hub for each step.
func comb(leaves, length int, weight float64) [][3]float64 {
	var edges [][3]float64
	for i := range leaves {
		edges = append(edges, [3]float64{0, float64(1 + i), weight})
	}
	for i := range length {
		edges = append(edges, [3]float64{float64(leaves + i), float64(leaves + i + 1), weight})
	}
	return edges
}

// secrets are vectors in [0, 1] whose entries are of all sizes that a float64 has.
func secrets(n int) map[string][]float64 {
	r := rand.New(rand.NewPCG(4, 4))
	x := map[string][]float64{}
	for _, name := range []string{"zero", "one node", "subnormal", "edge of the grid", "dense", "every size"} {
		x[name] = make([]float64, n)
	}
	x["one node"][n-1] = 1
	for i := range n {
		x["subnormal"][i] = 1e-310
		x["edge of the grid"][i] = math.Ldexp(1+r.Float64(), -151+r.IntN(6))
		x["dense"][i] = r.Float64()
		x["every size"][i] = math.Ldexp(r.Float64(), -r.IntN(1074))
	}
	return x
}

// TestPrivateWorkMeetsNoSubnormal: whatever the private vector holds, no product of the
// private path meets a subnormal number; the public path does.
func TestPrivateWorkMeetsNoSubnormal(t *testing.T) {
	public := 0
	for kind := laplacian.Combinatorial; kind <= laplacian.RandomWalk; kind++ {
		for _, weight := range []float64{1, 1e-60} {
			n := 1401
			l := &watched{Laplacian: laplacian.New(build(t, n, comb(1000, 400, weight)), kind)}
			tau := 0.5
			if kind == laplacian.Combinatorial {
				tau /= weight
			}
			d := must.Get(expm.New(background, l, tau, expm.Options{Method: expm.Chebyshev}))(t)
			for name, x := range secrets(n) {
				y := make([]float64, n)
				l.met = 0
				d.MulVecTo(y, false, x)
				public += l.met
				l.met = 0
				must.Do(t, d.MulPrivateTo(background, y, x))
				if l.count(y...); l.met > 0 {
					t.Errorf("%v, weights %v, %s: %d subnormal numbers", kind, weight, name, l.met)
				}
			}
		}
	}
	if public == 0 {
		t.Error("the public path meets no subnormal number either, so this test shows nothing")
	}
}

// TestPrivateWorkIsWithinErr: settling stays within the bound that plans charge, against
// scaling and squaring, for each method and kind.
func TestPrivateWorkIsWithinErr(t *testing.T) {
	g := random(t, 60)
	n := g.Order()
	for kind := laplacian.Combinatorial; kind <= laplacian.RandomWalk; kind++ {
		l := laplacian.New(g, kind)
		want := testgraph.Exponential(l, 0.7)
		for _, m := range []expm.Method{expm.Eigen, expm.Chebyshev} {
			d := must.Get(expm.New(background, l, 0.7, expm.Options{Method: m}))(t)
			for name, x := range secrets(n) {
				y := make([]float64, n)
				must.Do(t, d.MulPrivateTo(background, y, x))
				var off, most float64
				for i := range y {
					exact := 0.0
					for j, v := range x {
						exact += want.At(i, j) * v
					}
					off, most = math.Hypot(off, y[i]-exact), max(most, math.Abs(y[i]))
				}
				if oracle := 1e-13 * (1 + 0.7*l.Bound()); !(off <= (d.Err()+oracle)*math.Sqrt(float64(n))) {
					t.Errorf("%v %v %s: off by %g, Err() = %g", kind, m, name, off, d.Err())
				}
				if (name == "zero" || name == "subnormal") && most > 0 {
					t.Errorf("%v %v %s: %g comes out, want 0", kind, m, name, most)
				}
				if name == "dense" && most < 0.1 {
					t.Errorf("%v %v: nothing comes out", kind, m)
				}
			}
		}
	}
}

// TestPrivateMemoryIsCleared: nothing of a private vector is left in memory that others get next.
func TestPrivateMemoryIsCleared(t *testing.T) {
	const n = 1 << 18 // large enough that the memory is kept
	g := must.Get(graph.BarabasiAlbert(n, 1, 1))(t)
	d, err := expm.New(t.Context(), laplacian.New(g, laplacian.Combinatorial), .01, expm.Options{Method: expm.Chebyshev, Tolerance: 1e-2})
	must.Do(t, err)
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	if err := d.MulPrivateTo(t.Context(), y, x); err != nil || y[n-1] == 0 {
		t.Fatalf("heat %v, %v", y[n-1], err)
	}
	for range 4 {
		b := linop.GetBlock(n)
		defer b.Put()
		for i, v := range b.V {
			if v != 0 {
				t.Fatalf("memory that others get holds %v at node %d", v, i)
			}
		}
	}
}

// TestSettle: 0 or a grid point, within the bound that is charged.
func TestSettle(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	const c = 0x1.8p-148
	for range 200000 {
		v := math.Ldexp(r.Float64()-0.5, -r.IntN(1074))
		if r.IntN(2) == 0 {
			v = math.Ldexp(r.Float64()-0.5, -140-r.IntN(16))
		}
		x := []float64{v}
		expm.RoundToGrid(x, c)
		if x[0] != 0 && math.Abs(x[0]) < 0x1p-201 {
			t.Fatalf("%g rounds to %g", v, x[0])
		}
		if off := math.Abs(x[0] - v); off > expm.GridUnits*0x1p-53*math.Abs(v)+0x1p-201 {
			t.Fatalf("%g rounds to %g, off by %g", v, x[0], off)
		}
	}
}

// TestEigenvectorsAreNotTiny: products of a vector on the grid with an eigenvector of a long
// path are normal.
func TestEigenvectorsAreNotTiny(t *testing.T) {
	for _, weight := range []float64{1, 1e-3} {
		edges := comb(30, 90, 1)
		for i := range edges {
			edges[i][2] = math.Pow(weight, float64(i%7))
		}
		l := laplacian.New(build(t, 121, edges), laplacian.Combinatorial)
		d := must.Get(expm.New(background, l, 1, expm.Options{Method: expm.Eigen}))(t)
		for _, v := range d.Spectrum().Vectors().RawMatrix().Data {
			if v != 0 && math.Abs(v) < 0x1p-200 {
				t.Fatalf("an entry of an eigenvector is %g", v)
			}
		}
	}
}

// TestEigenErrIsNearTheTruth: on graphs with a hub, where λ_max times the loss of
// orthogonality is most of the backward error, the bound is above the distance from
// Chebyshev, whose own bound is added, and below what the backward error gives.
func TestEigenErrIsNearTheTruth(t *testing.T) {
	for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.Normalized} {
		l := laplacian.New(build(t, 301, comb(200, 100, 1)), kind)
		for _, tau := range []float64{1e-3, 0.1, 2, 30} {
			e := must.Get(expm.New(background, l, tau, expm.Options{Method: expm.Eigen}))(t)
			c := must.Get(expm.New(background, l, tau, expm.Options{Method: expm.Chebyshev}))(t)
			var diff mat.Dense
			diff.Sub(asDense(e, false), asDense(c, false))
			if off := spectral(&diff); off > e.Err()+c.Err() {
				t.Errorf("%v τ=%v: off by %g, Err() = %g", kind, tau, off, e.Err())
			}
			if s := e.Spectrum(); kind == laplacian.Combinatorial && tau > 1 && e.Err() > tau*s.BackwardError()/10 {
				t.Errorf("τ=%v: Err() = %g, and the backward error alone gives %g", tau, e.Err(), tau*s.BackwardError())
			}
		}
	}
}
