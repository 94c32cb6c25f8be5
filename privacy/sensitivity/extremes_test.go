// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// ways are the eigenpairs and the search.
var ways = map[string]func(context.Context, Model, []float64, Options) (Bracket, error){
	"exact": Bound, "search": searchBound,
}

// TestGap: with all eigenpairs the upper end is never looser than √2·α·e^{-τλ₂}.
func TestGap(t *testing.T) {
	for name, g := range families(t, 80) {
		if name == "weighted" { // λ₂ is not known to nine digits
			continue
		}
		scale := 3.0
		if !g.UnitLengths() {
			scale = 3 / slices.Min(g.Lengths())
		}
		l := laplacian.New(g, laplacian.Combinatorial)
		spec := must.Get(expm.Decompose(background, l, nil))(t)
		for _, tau := range []float64{1e-3, 1, 30, 1e3} {
			b := must.Get(Bound(background, Model{Graph: g, Laplacian: l, Tau: tau, Alpha: 3},
				nil, Options{}))(t)
			limit := scale * math.Sqrt2 * math.Exp(-tau*spec.Lambda()[spec.Nullity()])
			if b.Upper > limit*(1+1e-9)+1e-289 {
				t.Errorf("%s τ=%v: Upper = %v, √2αe^{-τλ₂} = %v", name, tau, b.Upper, limit)
			}
		}
	}
}

// TestWildWeights: weights from 10⁻³⁰⁰ to 10³⁰⁰ in one graph leave both ends finite and
// in agreement with the eigenpairs, or are refused: the random walk divides by the
// roots of degrees, whose squares may overflow.
func TestWildWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, decades := range []float64{5, 20, 150, 300} {
		var edges [][3]float64
		for i := 1; i < 60; i++ {
			for range 2 {
				edges = append(edges, [3]float64{float64(r.IntN(i)), float64(i), math.Pow(10, decades*(2*r.Float64()-1))})
			}
		}
		g := build(t, 60, edges, hops)
		for kind := laplacian.Combinatorial; kind <= laplacian.RandomWalk; kind++ {
			for _, tau := range []float64{1e-9, 1e-3, 1, 1e6} {
				m := Model{Graph: g, Laplacian: laplacian.New(g, kind), Tau: tau}
				opts := Options{Seed: [32]byte{2}}
				want, err := Bound(background, m, nil, opts)
				if err != nil && kind == laplacian.RandomWalk && decades > 200 {
					continue
				}
				want = must.Get(want, err)(t)
				got := must.Get(searchBound(background, m, nil, opts))(t)
				if !(got.Upper >= want.Lower) || !(got.Lower <= want.Upper) || math.IsInf(got.Upper, 0) || math.IsInf(want.Upper, 0) {
					t.Errorf("10^±%v %v τ=%v: search [%v, %v], eigenpairs [%v, %v]", decades, kind, tau, got.Lower, got.Upper,
						want.Lower, want.Upper)
				}
			}
		}
	}
}

// TestWeakBridge: two complete graphs of ten nodes joined by an edge of 10⁻¹². Once
// each is mixed and the bridge has carried nothing, its value is √(2/10)·e^{-0.2τw}.
func TestWeakBridge(t *testing.T) {
	const m, w = 10, 1e-12
	var edges [][3]float64
	for i := range m {
		for j := range i {
			edges = append(edges, [3]float64{float64(j), float64(i), 1}, [3]float64{float64(m + j), float64(m + i), 1})
		}
	}
	g := build(t, 2*m, append(edges, [3]float64{m - 1, m, w}), hops)
	for _, tau := range []float64{1e-9, 10, 1e3, 1e6} {
		want := math.Sqrt(2.0 / m * math.Exp(-4*tau*w/m))
		if tau < 1 {
			want = math.Sqrt2 * math.Exp(-2*tau*w) * math.Exp(-tau*m) // each end leaves at rate m − 1, below m
		}
		for name, way := range ways {
			b := must.Get(way(background, model(g, tau), nil, Options{Seed: [32]byte{1}}))(t)
			if !(b.Upper >= want*(1-1e-12)) || b.Lower > want*(1+1e-6) || b.Upper > 1.03*want {
				t.Errorf("%s τ=%g: [%v, %v], want about %v", name, tau, b.Lower, b.Upper, want)
			}
		}
	}
}

// TestLargeHub: a star of 10⁵ leaves, by its closed form.
func TestLargeHub(t *testing.T) {
	const n = 100_001
	g := must.Get(graph.Star(n))(t)
	for _, tau := range []float64{1e-8, 1e-5, 1} {
		want := math.Sqrt(float64(n)/(n-1)*math.Exp(-2*tau*n) + float64(n-2)/(n-1)*math.Exp(-2*tau))
		b := must.Get(Bound(background, model(g, tau), nil, Options{}))(t)
		if !(b.Upper >= want) || !(b.Lower <= want) || b.Upper > math.Sqrt2 {
			t.Errorf("τ=%g: [%v, %v], want %v inside", tau, b.Lower, b.Upper, want)
		}
	}
}

// TestTolerances: at each tolerance and seed the bracket overlaps the exact one.
func TestTolerances(t *testing.T) {
	for name, g := range families(t, 300) {
		if name == "complete" {
			continue // its value is below rounding
		}
		want := must.Get(Bound(background, model(g, 0.7), nil, Options{}))(t)
		for _, seed := range [][32]byte{{}, {9}} {
			for _, tolerance := range []float64{10, 1, .1, .001} {
				b := must.Get(searchBound(background, model(g, 0.7), nil, Options{Seed: seed, Tolerance: tolerance}))(t)
				if !(b.Upper >= want.Lower) || b.Lower > want.Upper {
					t.Errorf("%s: [%v, %v], exact [%v, %v]", name, b.Lower, b.Upper, want.Lower, want.Upper)
				}
			}
		}
	}
}

// precision of the reference in bits. After 40 squarings an entry of e^{-τL} keeps
// an absolute error below 10⁻⁸⁰.
const precision = 320

func exactly(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }

// matrix is a square matrix of big numbers.
type matrix [][]*big.Float

func newMatrix(n int) matrix {
	m := make(matrix, n)
	for i := range m {
		for range n {
			m[i] = append(m[i], exactly(0))
		}
	}
	return m
}

// times sets c to ab, where a and b are symmetric and commute.
func (c matrix) times(a, b matrix) {
	term := exactly(0)
	for i := range a {
		for j := range i + 1 {
			sum := exactly(0)
			for k := range a {
				sum.Add(sum, term.Mul(a[i][k], b[k][j]))
			}
			c[i][j].Set(sum)
			c[j][i].Set(sum)
		}
	}
}

// preciseKernel returns e^{-τL} by scaling, Taylor's series and squaring, from the weights as
// they are given. It uses nothing of the program.
func preciseKernel(n int, edges [][3]float64, kind laplacian.Kind, tau float64) matrix {
	l, size := newMatrix(n), 1.0
	for _, e := range edges {
		i, j, w := int(e[0]), int(e[1]), exactly(e[2])
		l[i][i].Add(l[i][i], w)
		l[j][j].Add(l[j][j], w)
		l[i][j].Sub(l[i][j], w)
		l[j][i].Sub(l[j][i], w)
		size += 2 * e[2]
	}
	root := make([]*big.Float, n)
	for i := range n {
		root[i] = exactly(1)
		if kind != laplacian.Combinatorial && l[i][i].Sign() > 0 {
			root[i].Sqrt(l[i][i])
		}
	}
	squarings := max(0, int(math.Ceil(math.Log2(size*tau)))) + 8
	step := exactly(-tau)
	step.SetMantExp(step, -squarings)
	for i := range n {
		for j := range n {
			l[i][j].Mul(l[i][j], step)
			l[i][j].Quo(l[i][j], root[i])
			l[i][j].Quo(l[i][j], root[j])
		}
	}
	sum, term, next := newMatrix(n), newMatrix(n), newMatrix(n)
	for i := range n {
		sum[i][i].SetInt64(1)
		term[i][i].SetInt64(1)
	}
	for k := 1; k <= 32; k++ { // 2⁻⁸ᵏ/k!
		next.times(term, l)
		term, next = next, term
		for i := range n {
			for j := range n {
				term[i][j].Quo(term[i][j], exactly(float64(k)))
				sum[i][j].Add(sum[i][j], term[i][j])
			}
		}
	}
	for range squarings {
		next.times(sum, sum)
		sum, next = next, sum
	}
	if kind == laplacian.RandomWalk {
		for i := range n {
			for j := range n {
				sum[i][j].Mul(sum[i][j], root[j])
				sum[i][j].Quo(sum[i][j], root[i])
			}
		}
	}
	return sum
}

// preciseJoint returns max ‖diag(√u)M_S(e_i − e_j)‖/length over the edges.
func preciseJoint(m matrix, edges [][3]float64, length func(float64) float64, sensors []int, u []float64) *big.Float {
	worst := exactly(0)
	for _, e := range edges {
		sum := exactly(0)
		for k, s := range sensors {
			d := exactly(0)
			d.Sub(m[s][int(e[0])], m[s][int(e[1])])
			d.Mul(d, d)
			if u != nil {
				d.Mul(d, exactly(u[k]))
			}
			sum.Add(sum, d)
		}
		if sum.Sqrt(sum); sum.Quo(sum, exactly(length(e[2]))).Cmp(worst) > 0 {
			worst = sum
		}
	}
	return worst
}

// mixedCase is a small graph with weights of many magnitudes, and sensors with noise of many.
type mixedCase struct {
	n       int
	edges   [][3]float64
	tau     float64
	sensors []int
	u       []float64 // nil: ones
	kind    laplacian.Kind
	length  func(float64) float64
}

// drawEdges draws a graph of n nodes, in one part or two, whose weights span 10^±3 to 10^±6.
func drawEdges(r *rand.Rand, n int) (edges [][3]float64) {
	decades, second := 3+3*r.Float64(), 0 // the first node of a second part
	if r.IntN(4) == 0 {
		second = 2 + r.IntN(n-3)
	}
	for i := 1; i < n; i++ {
		first := 0
		if i >= second {
			first = second
		}
		for k, j := range r.Perm(i - first) {
			if k == 0 || k == 1 && r.IntN(2) == 0 {
				edges = append(edges, [3]float64{float64(first + j), float64(i), math.Pow(10, decades*(2*r.Float64()-1))})
			}
		}
	}
	return edges
}

func drawMixedCase(r *rand.Rand) mixedCase {
	c := mixedCase{n: 5 + r.IntN(6), tau: 0.1 * math.Pow(200, r.Float64())}
	c.edges = drawEdges(r, c.n)
	c.sensors = r.Perm(c.n)
	if r.IntN(4) > 0 {
		c.sensors = c.sensors[:1+r.IntN(c.n-1)]
	}
	if r.IntN(3) == 0 {
		for range c.sensors {
			c.u = append(c.u, math.Pow(10, 12*r.Float64()-6))
		}
	}
	if r.IntN(4) == 0 {
		c.kind = laplacian.Normalized + laplacian.Kind(r.IntN(2))
	}
	lengths := []func(float64) float64{hops, hops, func(w float64) float64 { return 1 / w }, func(w float64) float64 { return w }}
	c.length = lengths[r.IntN(len(lengths))]
	return c
}

// TestManyMagnitudes holds every bracket of small graphs against a reference of more than 50 digits.
func TestManyMagnitudes(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 1))
	opts := Options{Seed: [32]byte{7}}
	for i := range 200 {
		c := drawMixedCase(r)
		other := drawEdges(r, c.n)
		m := Model{Graph: build(t, c.n, c.edges, c.length), Tau: c.tau, Sensors: c.sensors}
		m.Laplacian = laplacian.New(m.Graph, c.kind)
		holds := func(name string, b Bracket, want *big.Float) {
			t.Helper()
			if exactly(b.Upper+1e-50).Cmp(want) < 0 || exactly(b.Lower-1e-50).Cmp(want) > 0 {
				t.Errorf("case %d, %v, τ = %v, %d of %d nodes are sensors, %s: [%v, %v], want %v",
					i, c.kind, c.tau, len(c.sensors), c.n, name, b.Lower, b.Upper, want.Text('g', 20))
			}
		}
		kernel := preciseKernel(c.n, c.edges, c.kind, c.tau)
		want := preciseJoint(kernel, c.edges, c.length, c.sensors, c.u)
		for name, way := range ways {
			holds(name, must.Get(way(background, m, c.u, opts))(t), want)
		}
		second := preciseJoint(preciseKernel(c.n, other, c.kind, c.tau), c.edges, c.length, c.sensors, c.u)
		if second.Cmp(want) > 0 {
			want = second
		}
		set := Uncertainty{Alternatives: []*laplacian.Laplacian{laplacian.New(build(t, c.n, other, hops), c.kind)}}
		holds("listed graphs", must.Get(WorstCase(background, m, c.u, set, opts))(t).Bracket, want)
		perSensor := must.Get(PerSensor(background, m, opts))(t)
		byRows := must.Get(perSensorByRows(background, m, opts))(t)
		for k, s := range c.sensors {
			want := preciseJoint(kernel, c.edges, c.length, []int{s}, nil)
			holds("each reading", perSensor[k], want)
			holds("each row", byRows[k], want)
		}
	}
}
