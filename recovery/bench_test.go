// SPDX-License-Identifier: Apache-2.0

package recovery_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
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

func line(i, n int) []int32 {
	var out []int32
	if i > 0 {
		out = append(out, int32(i-1))
	}
	if i < n-1 {
		out = append(out, int32(i+1))
	}
	return out
}

func BenchmarkColumnGeneration(b *testing.B) {
	in, sbm := load(b, "sbm500_c0.1")
	ui := interval(500, 1000, 0.01)
	for _, c := range []struct {
		name      string
		op        linop.Operator
		y         []float64
		eta       float64
		neighbors func(int) []int32
	}{
		{"sbm/n=500/eta=.1", sbm, in.Y, in.Eta, nil},
		{"sbm/n=500/eta=.01", sbm, noisy(sbm, 2, 0.0095, 1), 0, nil},
		{"interval/n=1000", ui, noisy(ui, 2, 0.0095, 1), 0, nil},
		{"interval/n=1000/neighbors", ui, noisy(ui, 2, 0.0095, 1), 0, func(i int) []int32 { return line(i, 1000) }},
	} {
		if c.eta == 0 {
			c.eta = 0.01 * floats.Norm(c.y, 2)
		}
		b.Run(c.name, func(b *testing.B) {
			var res *recovery.Result
			for b.Loop() {
				var err error
				res, err = recovery.ColumnGeneration{Options: recovery.Options{Neighbors: c.neighbors}}.Solve(b.Context(), recovery.Problem{A: c.op, Y: c.y, Radius: c.eta})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(res.Products), "products")
			b.ReportMetric(float64(res.Iterations), "iterations")
			b.ReportMetric(float64(res.Support), "support")
			b.ReportMetric(math.Log10(res.Gap), "log10(gap)")
		})
	}
}
