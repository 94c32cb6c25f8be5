// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

var (
	_ linop.Approximation = (*expm.Diffusion)(nil)
	_ linop.BlockOperator = (*expm.Diffusion)(nil)
	_ expm.Generator      = (*laplacian.Laplacian)(nil)
)

var background = context.Background()

// TestErrCountsRounding: with a polynomial so long that nothing is left of its tail, the
// error bound of Chebyshev is that of floating point, which no tolerance makes smaller.
func TestErrCountsRounding(t *testing.T) {
	for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.RandomWalk} {
		l := laplacian.New(random(t, 60), kind)
		d := must.Get(expm.New(background, l, 1, expm.Options{Method: expm.Chebyshev, Tolerance: 1e-30}))(t)
		if !(d.Rounding() > 1e-15) || d.Err() < d.Rounding() || d.Err() > 2*d.Rounding() {
			t.Errorf("%v: the error bound is %v, of which %v is rounding", kind, d.Err(), d.Rounding())
		}
	}
}

// random is a weighted graph with an isolated node and two components.
func random(t testing.TB, n int) *graph.Graph {
	r := rand.New(rand.NewPCG(5, uint64(n)))
	var edges [][3]float64
	for range 4 * n {
		u, v := r.IntN(n-1), r.IntN(n-1)
		if (u < n/3) == (v < n/3) {
			edges = append(edges, [3]float64{float64(u), float64(v), math.Exp(r.NormFloat64())})
		}
	}
	return build(t, n, edges)
}

// TestAgainstScalingAndSquaring: every kind, method and τ, the error in the 2-norm
// within Err, beside the 1e-13·(1 + τλ) that the oracle itself loses.
func TestAgainstScalingAndSquaring(t *testing.T) {
	g := random(t, 30)
	for kind := laplacian.Combinatorial; kind <= laplacian.RandomWalk; kind++ {
		l := laplacian.New(g, kind)
		for _, tau := range []float64{0, 1e-9, 0.1, 1, 10} {
			want := testgraph.Exponential(l, tau)
			for _, m := range methods {
				for _, tol := range []float64{0, 1e-3} {
					d := must.Get(expm.New(background, l, tau, expm.Options{Method: m, Tolerance: tol}))(t)
					var diff mat.Dense
					diff.Sub(asDense(d, false), want)
					oracle := 1e-13 * (1 + tau*l.Bound()) * spectral(want)
					if e := spectral(&diff); !(e <= d.Err()+oracle) {
						t.Errorf("%v %v τ=%v tol=%v: off by %g, Err() = %g", kind, m, tau, tol, e, d.Err())
					}
					if d.Err() > 1e-9 && d.Err() > 2*tol {
						t.Errorf("%v %v τ=%v: Err() = %g, asked for %g", kind, m, tau, d.Err(), tol)
					}
					diff.Sub(asDense(d, true), want.T())
					if e := spectral(&diff); !(e <= d.Err()+oracle) {
						t.Errorf("%v %v τ=%v transposed: off by %g, Err() = %g", kind, m, tau, e, d.Err())
					}
				}
			}
		}
	}
}

// spectral returns ‖a‖₂ from the eigenvalues of aᵀa, a scaled to Frobenius norm 1.
func spectral(a mat.Matrix) float64 {
	size := mat.Norm(a, 2)
	if math.IsNaN(size) {
		return math.NaN()
	}
	if size < 1e-300 {
		return 0
	}
	var b mat.Dense
	b.Scale(1/size, a)
	var s mat.SymDense
	s.SymOuterK(1, b.T())
	var e mat.EigenSym
	e.Factorize(&s, false)
	v := e.Values(nil)
	return size * math.Sqrt(v[len(v)-1])
}

func asDense(d *expm.Diffusion, trans bool) *mat.Dense {
	n, _ := d.Dims()
	x := make([]float64, n*n)
	for i := range n {
		x[i*n+i] = 1
	}
	y := make([]float64, n*n)
	d.MulBlockTo(y, trans, x, n)
	return mat.NewDense(n, n, y)
}

// TestWithTolerance: another tolerance gives what a new diffusion gives, and both can be applied in
// turn with the memory that they share.
func TestWithTolerance(t *testing.T) {
	g, _, err := graph.SBM(150, 3, 0.2, 0.02, 1)
	l := laplacian.New(must.Get(g, err)(t), laplacian.Combinatorial)
	f := make([]float64, l.Order())
	for i := range f {
		f[i] = float64(i % 7)
	}
	for _, m := range methods {
		coarse := must.Get(expm.New(background, l, 0.3, expm.Options{Method: m, Tolerance: 1e-3}))(t)
		before := apply(coarse, f)
		fine := must.Get(coarse.WithTolerance(1e-11))(t)
		fresh := must.Get(expm.New(background, l, 0.3, expm.Options{Method: m, Tolerance: 1e-11}))(t)
		if got, want := apply(fine, f), apply(fresh, f); !slices.Equal(got, want) || fine.Err() != fresh.Err() ||
			fine.Degree() != fresh.Degree() {
			t.Errorf("%v: another tolerance gives Err %v and degree %d, want %v and %d", m, fine.Err(), fine.Degree(), fresh.Err(),
				fresh.Degree())
		}
		if !slices.Equal(apply(coarse, f), before) {
			t.Errorf("%v: the first diffusion changed", m)
		}
	}
	if _, err := must.Get(expm.New(background, l, 1, expm.Options{}))(t).WithTolerance(-1); err == nil {
		t.Error("a tolerance below 0 is accepted")
	}
}

func apply(d *expm.Diffusion, f []float64) []float64 {
	y := make([]float64, len(f))
	d.MulVecTo(y, false, f)
	return y
}

// TestStiff: ‖|S|‖ of 1e12 beside 1, a long time, and two cliques joined by a weak
// edge: bounds hold, or there is a refusal.
func TestStiff(t *testing.T) {
	cliques := [][3]float64{{0, 3, 1e-12}}
	for _, c := range [][]float64{{0, 1, 2}, {3, 4, 5}} {
		cliques = append(cliques, [3]float64{c[0], c[1], 1}, [3]float64{c[0], c[2], 1}, [3]float64{c[1], c[2], 1})
	}
	for _, edges := range [][][3]float64{
		cliques,
		{{0, 1, 1e12}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1e-3}, {4, 5, 1}},
		{{0, 1, 1e300}, {1, 2, 1e-300}, {2, 3, 1}},
		{{0, 1, 1e-300}, {1, 2, 1e-300}},
		{{0, 1, 1e300}, {1, 2, 1e300}},
		{{0, 1, 1e308}, {1, 2, 1e308}, {1, 3, 1e308}},
	} {
		l := laplacian.New(build(t, 6, edges), laplacian.Combinatorial)
		for _, tau := range []float64{1e-9, 1, 1e6} {
			for _, m := range append(methods, expm.Auto) {
				d, err := expm.New(background, l, tau, expm.Options{Method: m})
				if err != nil {
					if !errors.Is(err, expm.ErrAccuracy) {
						t.Errorf("%v τ=%v %v: %v", edges, tau, m, err)
					}
					continue
				}
				// Mass and contraction hold for the exact operator.
				y := apply(d, []float64{1, 0, 0, 1, 0, 0})
				var sum, square float64
				for _, v := range y {
					sum, square = sum+v, square+v*v
				}
				if limit := 6 * d.Err(); math.Abs(sum-2) > limit+1e-14 || math.Sqrt(square) > math.Sqrt2+limit {
					t.Errorf("%v τ=%v %v: mass %v, ‖y‖² = %v, Err() = %g", edges, tau, m, sum, square, d.Err())
				}
			}
		}
	}
}

// TestWeakBridge: two triangles joined by 1e-12 for τ = 1e6. Heat that crosses is
// 1e-6·(1 ± 1e-5), by first-order perturbation.
func TestWeakBridge(t *testing.T) {
	l := laplacian.New(build(t, 6, [][3]float64{{0, 1, 1}, {0, 2, 1}, {1, 2, 1}, {3, 4, 1}, {3, 5, 1}, {4, 5, 1}, {0, 3, 1e-12}}),
		laplacian.Combinatorial)
	d := must.Get(expm.New(background, l, 1e6, expm.Options{}))(t)
	y := apply(d, []float64{1, 0, 0, 0, 0, 0})
	// Mass crosses at a rate of 1e-12·(1/3), and spreads over three nodes.
	if want := 1e-6 / 9; math.Abs(y[4]-want) > d.Err() {
		t.Errorf("heat across the bridge %v, want %v within Err() = %g", y[4], want, d.Err())
	}
}

// TestLongTimes: eigenpairs and a polynomial of high degree agree.
func TestLongTimes(t *testing.T) {
	l := laplacian.New(must.Get(graph.Path(400))(t), laplacian.Combinatorial)
	f := make([]float64, 400)
	f[0], f[399] = 1, 1
	for _, tau := range []float64{300, 1e4} {
		var all [2][]float64
		var errs float64
		for k, m := range methods {
			d := must.Get(expm.New(background, l, tau, expm.Options{Method: m}))(t)
			all[k], errs = apply(d, f), errs+d.Err()*math.Sqrt2
		}
		for i := range f {
			if a, b := all[0][i], all[1][i]; math.Abs(a-b) > errs || errs > 1e-6 {
				t.Fatalf("τ=%v node %d: %v, %v; bounds add up to %g", tau, i, a, b, errs)
			}
		}
	}
}

func TestDegenerate(t *testing.T) {
	for _, n := range []int{1, 4} {
		l := laplacian.New(build(t, n, nil), laplacian.Normalized)
		for _, m := range methods {
			d := must.Get(expm.New(background, l, 3, expm.Options{Method: m}))(t)
			f := []float64{1, -2, 3, 4}[:n]
			for i, v := range apply(d, f) {
				if math.Abs(v-f[i]) > 10*d.Err() {
					t.Errorf("%v without edges: %v becomes %v", m, f[i], v)
				}
			}
		}
	}
	var b graph.Builder
	empty := laplacian.New(must.Get(b.Graph())(t), laplacian.Combinatorial)
	one := laplacian.New(build(t, 1, nil), laplacian.Combinatorial)
	for _, c := range []struct {
		name string
		l    *laplacian.Laplacian
		tau  float64
		tol  float64
	}{
		{"empty", empty, 1, 0},
		{"tau < 0", one, -1, 0},
		{"tau NaN", one, math.NaN(), 0},
		{"tau Inf", one, math.Inf(1), 0},
		{"tol", one, 1, -1},
	} {
		if _, err := expm.New(background, c.l, c.tau, expm.Options{Tolerance: c.tol}); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}

func TestRowsAndColumns(t *testing.T) {
	g := random(t, 50)
	l := laplacian.New(g, laplacian.RandomWalk)
	for _, m := range []expm.Method{expm.Eigen, expm.Chebyshev} {
		d := must.Get(expm.New(background, l, 0.7, expm.Options{Method: m}))(t)
		full := asDense(d, false)
		pick := rand.New(rand.NewPCG(1, 2)).Perm(50)[:37]
		rows := must.Get(d.Rows(background, pick))(t)
		cols := must.Get(d.Columns(background, pick))(t)
		for k, p := range pick {
			for i := range 50 {
				if math.Abs(rows.At(k, i)-full.At(p, i)) > 2*d.Err() || math.Abs(cols.At(k, i)-full.At(i, p)) > 2*d.Err() {
					t.Fatalf("%v: row or column %d differs from the matrix at %d", m, p, i)
				}
			}
		}
		for _, pick := range [][]int{{50}, {-1}, {3, 50, 4}} { // also where another one in the block would be written instead
			if _, err := d.Rows(background, pick); err == nil {
				t.Errorf("%v: there are rows %v", m, pick)
			}
			if _, err := d.Columns(background, pick); err == nil {
				t.Errorf("%v: there are columns %v", m, pick)
			}
		}
	}
}

// TestSameBits: 1, 2 and 5 processors, for the decomposition too.
func TestSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	g := must.Get(graph.BarabasiAlbert(300, 4, 1))(t)
	for _, m := range methods {
		var first []float64
		for _, procs := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(procs)
			d := must.Get(expm.New(background, laplacian.New(g, laplacian.Combinatorial), 0.3, expm.Options{Method: m}))(t)
			f := make([]float64, 300)
			f[7] = 1
			y := apply(d, f)
			if first == nil {
				first = y
			}
			for i := range y {
				if y[i] != first[i] {
					t.Fatalf("%v: bits differ with %d processors", m, procs)
				}
			}
		}
	}
}

func TestProductAllocatesNothing(t *testing.T) {
	l := laplacian.New(random(t, 500), laplacian.RandomWalk)
	for _, m := range []expm.Method{expm.Eigen, expm.Chebyshev} {
		d := must.Get(expm.New(background, l, 0.3, expm.Options{Method: m}))(t)
		x, y := make([]float64, 500), make([]float64, 500)
		if a := testing.AllocsPerRun(10, func() { d.MulVecTo(y, false, x) }); a > 0 {
			t.Errorf("%v: a product allocates %v times", m, a)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	cancel()
	l := laplacian.New(random(t, 200), laplacian.Combinatorial)
	if _, err := expm.New(ctx, l, 1, expm.Options{Method: expm.Eigen}); !errors.Is(err, context.Canceled) {
		t.Errorf("decomposition: %v, want context.Canceled", err)
	}
	for _, m := range methods {
		d := must.Get(expm.New(background, l, 1, expm.Options{Method: m}))(t)
		if _, err := d.Rows(ctx, []int{1}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: Rows: %v, want context.Canceled", m, err)
		}
	}
}

func TestParseMethod(t *testing.T) {
	for _, m := range append(methods, expm.Auto) {
		if got, err := expm.ParseMethod(m.String()); err != nil || got != m {
			t.Errorf("ParseMethod(%q) = %v, %v", m, got, err)
		}
	}
	if _, err := expm.ParseMethod("pade"); err == nil {
		t.Error("ParseMethod(pade) succeeds")
	}
}

func TestEstimate(t *testing.T) {
	l := laplacian.New(random(t, 3000), laplacian.Combinatorial)
	for _, m := range []expm.Method{expm.Eigen, expm.Chebyshev} {
		c := must.Get(expm.Estimate(l, 1, expm.Options{Method: m}))(t)
		if c.Method != m || c.Bytes <= 0 || c.Apply <= 0 {
			t.Errorf("%v: estimate %+v", m, c)
		}
		if m == expm.Chebyshev {
			d := must.Get(expm.New(background, l, 1, expm.Options{Method: m}))(t)
			if d.Degree() != c.Degree {
				t.Errorf("degree %d, estimated %d", d.Degree(), c.Degree)
			}
		}
	}
}

func Example() {
	var b graph.Builder
	for _, id := range []graph.ID{"a", "b", "c"} {
		b.AddNode(id)
	}
	b.AddEdge("a", "b", 1)
	b.AddEdge("b", "c", 1)
	g, _ := b.Graph()
	d, err := expm.New(context.Background(), laplacian.New(g, laplacian.Combinatorial), 1, expm.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	y := make([]float64, 3)
	d.MulVecTo(y, false, []float64{1, 0, 0})
	fmt.Printf("%.4f %v\n", y, d.Err() < 1e-12)
	// Output: [0.5256 0.3167 0.1577] true
}

// unsolvable is a Laplacian whose dense form no eigenvalue iteration solves.
type unsolvable struct{ *laplacian.Laplacian }

func (u unsolvable) Recur(dst, acc, x []float64, k int, a, b, c, d float64) {
	u.Laplacian.Recur(dst, acc, x, k, a, b, c, d)
	if k == u.Order() {
		dst[0] = math.NaN()
	}
}

// Where the eigenvalue iteration fails, Auto goes on with products that are certified; Eigen
// returns an error.
func TestWithoutEigenvalues(t *testing.T) {
	g := must.Get(graph.Star(40))(t)
	l := laplacian.New(g, laplacian.Combinatorial)
	want := must.Get(expm.New(t.Context(), l, 128, expm.Options{Method: expm.Chebyshev}))(t)
	got, err := expm.New(t.Context(), unsolvable{l}, 128, expm.Options{})
	if err != nil || got.Method() != expm.Chebyshev || got.Err() != want.Err() {
		t.Fatalf("%v: method %v, error %g, want chebyshev and %g", err, got.Method(), got.Err(), want.Err())
	}
	if _, err := expm.New(t.Context(), unsolvable{l}, 128, expm.Options{Method: expm.Eigen}); err == nil ||
		!strings.Contains(err.Error(), "chebyshev needs no eigenvalues") {
		t.Errorf("%v, want advice to take chebyshev", err)
	}
}

// A τ that neither method carries is refused by name.
func TestRefusedTau(t *testing.T) {
	l := laplacian.New(must.Get(graph.Star(40))(t), laplacian.Combinatorial)
	for tau, l := range map[float64]expm.Generator{1e7: unsolvable{l}, 1e18: heavyTail(t)} {
		_, err := expm.New(t.Context(), l, tau, expm.Options{})
		if !errors.Is(err, expm.ErrAccuracy) || !strings.Contains(err.Error(), fmt.Sprintf("tau = %v", tau)) {
			t.Errorf("%v, want a refusal of τ = %v", err, tau)
		}
	}
}

// heavyTail has relationships of twelve magnitudes, so that its eigenpairs are not near enough
// where τ is large.
func heavyTail(t *testing.T) *laplacian.Laplacian {
	t.Helper()
	var edges [][3]float64
	for i := 1; i < 13; i++ {
		edges = append(edges, [3]float64{float64(i - 1), float64(i), math.Pow(10, float64(i))})
	}
	return laplacian.New(build(t, 13, edges), laplacian.Combinatorial)
}

// citations has hubs with leaves, many small components, and two relationships of a
// weight, in an order of its own: eigenvalues of high multiplicity, far below the norm.
func citations(t *testing.T, n int, heavy float64, seed uint64) *graph.Graph {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var edges [][3]float64
	perm := r.Perm(n)
	seen := map[[2]int]bool{}
	join := func(u, v int, weight float64) {
		if u == v || seen[[2]int{u, v}] {
			return
		}
		seen[[2]int{u, v}] = true
		edges = append(edges, [3]float64{float64(perm[u]), float64(perm[v]), weight})
	}
	join(0, 1, heavy)
	join(1, 2, heavy)
	at, ends := n*85/100, []int{0, 1}
	for i := 3; i < at; i++ {
		k := 1
		if r.IntN(3) == 0 {
			k += r.IntN(6)
		}
		for range k {
			v := ends[r.IntN(len(ends))] % i
			join(v, i, 1)
			ends = append(ends, i, v)
		}
	}
	for at < n {
		k := min(n-at, 1+r.IntN(7))
		for j := 1; j < k; j++ {
			join(at+r.IntN(j), at+j, 1)
		}
		at += k
	}
	return build(t, n, edges)
}

// Eigenvalues that are alike and far below the norm are found in a few sweeps, and the
// eigenpairs are those of S within the roundoff of its norm.
func TestEigenvaluesFarBelowTheNorm(t *testing.T) {
	for _, heavy := range []float64{1, 1e2, 1e4, 1e5, 1e6} {
		for seed := range uint64(20) {
			l := laplacian.New(citations(t, 150, heavy, seed), laplacian.Combinatorial)
			s, err := expm.Decompose(t.Context(), l, nil)
			if err != nil {
				t.Fatalf("weight %v, seed %d: %v", heavy, seed, err)
			}
			if limit := 1e-10 * l.Bound(); s.BackwardError() > limit {
				t.Errorf("weight %v, seed %d: backward error %g, want at most %g", heavy, seed, s.BackwardError(), limit)
			}
		}
	}
}

// TestRowsOfManyBlocks: rows that fill many blocks of columns have the bits of the product with each block by itself,
// by any number of workers: on a small graph, where a block is one worker's, and on one where all share it.
func TestRowsOfManyBlocks(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range []struct{ n, rows int }{{300, 300}, {17_000, 40}} {
		g := must.Get(graph.BarabasiAlbert(c.n, 2, 1))(t)
		var pick []int
		for k := range c.rows {
			pick = append(pick, (k*7919+5)%c.n)
		}
		for _, workers := range []int{1, 3, 16} {
			runtime.GOMAXPROCS(workers)
			d := must.Get(expm.New(background, laplacian.New(g, laplacian.RandomWalk), .3,
				expm.Options{Method: expm.Chebyshev}))(t)
			rows := must.Get(d.Rows(background, pick))(t)
			for first := 0; first < c.rows; first += 16 {
				k := min(16, c.rows-first)
				x, y := make([]float64, c.n*k), make([]float64, c.n*k)
				for j, p := range pick[first : first+k] {
					x[p*k+j] = 1
				}
				must.Do(t, d.Apply(background, y, true, x, k))
				for j := range k {
					column := make([]float64, c.n)
					for i := range column {
						column[i] = y[i*k+j]
					}
					if !slices.Equal(rows.RawRowView(first+j), column) {
						t.Fatalf("%d nodes, %d workers: row %d is not the product", c.n, workers, first+j)
					}
				}
			}
		}
	}
}

// TestPaddedColumns: any number of columns has the bits of as many among sixteen, with rows and columns that are
// copied and with those that are not.
func TestPaddedColumns(t *testing.T) {
	g := must.Get(graph.BarabasiAlbert(300, 3, 1))(t)
	const most = 16
	n := g.Order()
	for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.RandomWalk} {
		d := must.Get(expm.New(t.Context(), laplacian.New(g, kind), 2, expm.Options{Method: expm.Chebyshev, Tolerance: 1e-9}))(t)
		rnd := rand.New(rand.NewPCG(1, 2))
		x, want := make([]float64, n*most), make([]float64, n*most)
		for i := range x {
			x[i] = rnd.NormFloat64()
		}
		d.MulBlockTo(want, false, x, most)
		for k := 2; k < most; k++ {
			part, got := make([]float64, n*k), make([]float64, n*k)
			for i := range n {
				copy(part[i*k:(i+1)*k], x[i*most:])
			}
			d.MulBlockTo(got, false, part, k)
			for i := range n {
				if !slices.Equal(got[i*k:(i+1)*k], want[i*most:i*most+k]) {
					t.Fatalf("%v, %d columns: row %d has other bits than among %d", kind, k, i, most)
				}
			}
		}
	}
}
