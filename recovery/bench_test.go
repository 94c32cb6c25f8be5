// SPDX-License-Identifier: Apache-2.0

package recovery_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery"
)

// noisy is y = M f₀ + noise of length level·‖M f₀‖ for k unit sources.
func noisy(op linop.Operator, k int, level float64, seed uint64) []float64 {
	rnd := rand.New(rand.NewPCG(seed, 0))
	m, n := op.Dims()
	f, y := make([]float64, n), make([]float64, m)
	for range k {
		f[rnd.IntN(n)] = 1
	}
	op.MulVecTo(y, false, f)
	e := make([]float64, m)
	for i := range e {
		e[i] = rnd.NormFloat64()
	}
	floats.AddScaled(y, level*floats.Norm(y, 2)/floats.Norm(e, 2), e)
	return y
}

func line(n int) func(int) []int32 {
	return func(i int) []int32 {
		var out []int32
		if i > 0 {
			out = append(out, int32(i-1))
		}
		if i < n-1 {
			out = append(out, int32(i+1))
		}
		return out
	}
}

// scaleFree is e^{−L} of a Barabási–Albert graph with 5 edges a node.
func scaleFree(b *testing.B, n int) *expm.Diffusion {
	g, err := graph.BarabasiAlbert(n, 5, 1)
	if err != nil {
		b.Fatal(err)
	}
	d, err := expm.New(b.Context(), laplacian.New(g, laplacian.Combinatorial), 1, expm.Options{Method: expm.Chebyshev, Tolerance: 1e-12})
	if err != nil {
		b.Fatal(err)
	}
	return d
}

func solve(b *testing.B, s recovery.ColumnGeneration, p recovery.Problem) {
	var res *recovery.Result
	for b.Loop() {
		var err error
		if res, err = s.Solve(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(res.Products), "products")
	b.ReportMetric(float64(res.Iterations), "iterations")
	b.ReportMetric(float64(res.Support), "support")
	b.ReportMetric(math.Log10(max(res.Gap, 1e-17)), "log10(gap)")
}

func BenchmarkSolvers(b *testing.B) {
	in, sbm := load(b, "sbm500_c0.1")
	small, smallOp := load(b, "ui100_c0.01")
	ui := interval(500, 1000, 0.01)
	near := func(op linop.Operator, k int) recovery.Problem {
		y := noisy(op, k, 0.0095, 1)
		return recovery.Problem{A: op, Y: y, Radius: 0.01 * floats.Norm(y, 2)}
	}
	for _, c := range []struct {
		name string
		p    recovery.Problem
		next func(int) []int32
	}{
		{"interval/n=100", recovery.Problem{A: smallOp, Y: small.Y, Radius: small.Eta}, nil},
		{"sbm/n=500/eta=.1", recovery.Problem{A: sbm, Y: in.Y, Radius: in.Eta}, nil},
		{"sbm/n=500/eta=.01", near(sbm, 2), nil},
		{"interval/n=1000", near(ui, 2), nil},
		{"interval/n=1000/neighbors", near(ui, 2), line(1000)},
	} {
		o := recovery.Options{Neighbors: c.next}
		b.Run("columnGeneration/"+c.name, func(b *testing.B) { solve(b, recovery.ColumnGeneration{Options: o}, c.p) })
	}
}

// Barabási–Albert, n = 100,000, through products; η = 0.5‖y‖.
func BenchmarkScaleFreeOperator(b *testing.B) {
	d := scaleFree(b, 100_000)
	y := noisy(d, 20, 0.475, 1)
	b.Run("n=1e5", func(b *testing.B) {
		solve(b, recovery.ColumnGeneration{Options: recovery.Options{Tol: 1e-8}},
			recovery.Problem{A: d, Y: y, Radius: 0.5 * floats.Norm(y, 2)})
	})
}
