// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// eachHeat takes all Lanczos steps for every edge and calls f with the bound on the error of x, and the exact error from e^{-τS}.
func eachHeat(t *testing.T, m Model, exact matrix, f func(steps int, bound float64, err *big.Float)) {
	k := newKrylov(must.Get(newProblem(m, nil, &Options{}))(t))
	for _, e := range k.p.edges.all() {
		for k.start(e, krylovEntries); k.step(); {
			bound := k.heat(math.Inf(1))
			if math.IsInf(bound, 1) {
				continue
			}
			x := make([]float64, m.Graph.Order())
			for i, v := range k.x {
				x[k.nodes[i]] = v
			}
			sum, root := exactly(0), exactly(2)
			root.Sqrt(root)
			for i, v := range x {
				d := exactly(0)
				d.Sub(exact[i][e.u], exact[i][e.v])
				d.Sub(d.Quo(d, root), exactly(v))
				sum.Add(sum, d.Mul(d, d))
			}
			f(len(k.alpha), bound, sum.Sqrt(sum))
		}
	}
}

// TestKrylovError: after any number of steps the error of x is at most what heat returns, and in some cases close to it.
func TestKrylovError(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	closest := 0.0
	for range 60 {
		n := 4 + r.IntN(5)
		edges := drawEdges(r, n)
		m := model(build(t, n, edges, hops), 1)
		m.Tau = math.Pow(10, 15*r.Float64()-8) / m.Laplacian.Bound()
		eachHeat(t, m, preciseKernel(n, edges, laplacian.Combinatorial, m.Tau), func(steps int, bound float64, exact *big.Float) {
			err, _ := exact.Float64()
			if closest = max(closest, err/bound); err > bound {
				t.Errorf("τ·‖S‖ ≈ %v, %d steps: error %v, bound %v", m.Tau*m.Laplacian.Bound(), steps, err, bound)
			}
		})
	}
	if closest < .9 {
		t.Errorf("the error is at most %v of its bound", closest)
	}
}

// TestKrylovSensor: a sensor that two steps do not reach reads nothing but their error.
func TestKrylovSensor(t *testing.T) {
	const tau, n = .1, 9
	var edges [][3]float64
	for i := 1; i < n; i++ {
		edges = append(edges, [3]float64{float64(i - 1), float64(i), 1})
	}
	m := model(must.Get(graph.Path(n))(t), tau)
	m.Sensors = []int{3}
	exact := preciseKernel(n, edges, laplacian.Combinatorial, tau)
	k := newKrylov(must.Get(newProblem(m, nil, &Options{}))(t))
	up, low := k.bracket(k.p.edges.at(0), math.Inf(1), 0)
	want, _ := exactly(0).Sub(exact[3][0], exact[3][1]).Float64()
	if up < math.Abs(want) || low > math.Abs(want) || up > 2*math.Abs(want) {
		t.Errorf("[%v, %v], want %v", low, up, want)
	}
}

// TestKrylovRounding: where two steps leave nothing the bound on the error is what rounding may do, a little more at most.
func TestKrylovRounding(t *testing.T) {
	m := model(must.Get(graph.Star(4))(t), 1)
	for _, m.Tau = range []float64{1e-30, 1e5} {
		k := newKrylov(must.Get(newProblem(m, nil, &Options{}))(t))
		k.start(k.p.edges.at(0), krylovEntries)
		k.step()
		k.step()
		n, size := float64(len(k.nodes)), max(k.alpha[0]+2*k.beta[0], k.alpha[1])
		wrong := 2*(2+4)*unit + m.Tau*8*2*unit*size
		least := math.Sqrt2 * (wrong + 16*(2+8)*unit + m.Tau*4*(n+16)*unit*m.Laplacian.Bound())
		closeAbove(t, fmt.Sprint("τ = ", m.Tau), k.heat(math.Inf(1)), least, .15)
	}
}

// TestKrylovTarget: an error just above what is enough is not taken for the value.
func TestKrylovTarget(t *testing.T) {
	m := model(must.Get(graph.Path(40))(t), 1)
	k := newKrylov(must.Get(newProblem(m, nil, &Options{}))(t))
	for _, m.Alpha = range []float64{.3, .7, 1, 1.1, 1.3, 3, 7} {
		e := k.p.edges.at(20)
		e.scale = m.Alpha
		exact, _ := k.bracket(e, math.Inf(1), 0)
		for steps := 2; steps <= 14; steps++ {
			for k.start(e, krylovEntries); len(k.alpha) < steps; k.step() {
			}
			target := e.scale * math.Sqrt2 * k.heat(math.Inf(1))
			if up, low := k.bracket(e, target, 0); up < low || up < exact/2 {
				t.Errorf("scale %v, target %v: [%v, %v], exact %v", e.scale, target, low, up, exact)
			}
		}
	}
}

// TestTinyWeights: Δ₂ depends on the product of τ and the weights alone.
func TestTinyWeights(t *testing.T) {
	const n = 30
	want := must.Get(Bound(background, model(must.Get(graph.Path(n))(t), 1), nil, Options{}))(t)
	for _, w := range []float64{1e-305, 1e-200, 1e-162, 1e-150, 1e-60, 1e-30, 1e40, 1e150, 1e300} {
		var edges [][3]float64
		for i := 1; i < n; i++ {
			edges = append(edges, [3]float64{float64(i - 1), float64(i), w})
		}
		b := must.Get(searchBound(background, model(build(t, n, edges, hops), 1/w), nil, Options{Seed: [32]byte{1}}))(t)
		if b.Upper < want.Lower || b.Lower > want.Upper {
			t.Errorf("weights %v: [%v, %v], want [%v, %v]", w, b.Lower, b.Upper, want.Lower, want.Upper)
		}
	}
}

// TestNearRounding: the bound counts what the polynomial and rounding may add.
func TestNearRounding(t *testing.T) {
	m := model(must.Get(graph.BarabasiAlbert(60, 3, 1))(t), .1)
	c, _, err := screenOf(background, m, nil, [32]byte{1}, .1)
	must.Do(t, err)
	must.Do(t, c.project(background))
	c.near.make(background)
	c.near.bound()
	root, rounding := c.projectionScale(c.columns)
	for i := range c.edges.all() {
		a := c.near.list[i]
		off := rounding + 2*math.Sqrt(float64(c.columns*c.n))*float64(len(a.x)+8)*unit*a.length
		closeAbove(t, "edge", c.upper[i]-a.norm, (math.Sqrt(c.near.squares[i])+off)/root+c.slackB, 1e-3)
	}
}

// TestSensorWeights: Δ₂ is proportional to the root of the weights of sensors, and those whose squares would under- or overflow
// are refused.
func TestSensorWeights(t *testing.T) {
	m := model(must.Get(graph.Path(30))(t), 30)
	u := make([]float64, 30)
	for _, e := range []int{0, -1060, -900, -790, 790, 900, 1020} {
		for i := range u {
			u[i] = math.Ldexp(float64(1+i%3), e)
		}
		for _, bound := range []func(context.Context, Model, []float64, Options) (Bracket, error){Bound, searchBound} {
			b, err := bound(background, m, u, Options{Seed: [32]byte{1}})
			if refused := e < -790 || e > 790; refused != (err != nil) ||
				!refused && !near(Bracket{Lower: math.Ldexp(b.Lower, -e/2), Upper: math.Ldexp(b.Upper, -e/2)}, .0303872522, 5e-4) {
				t.Errorf("weights 2^%d: [%v, %v], %v", e, b.Lower, b.Upper, err)
			}
		}
	}
}

// TestOverflow: a bracket that is no number is an error.
func TestOverflow(t *testing.T) {
	g := build(t, 4, [][3]float64{{0, 1, 1e-320}, {1, 2, 1e-320}, {2, 3, 1}}, hops)
	m := Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Normalized), Tau: 1}
	if b, err := searchBound(background, m, nil, Options{Seed: [32]byte{1}}); !errors.Is(err, expm.ErrAccuracy) {
		t.Errorf("[%v, %v], %v", b.Lower, b.Upper, err)
	}
}
