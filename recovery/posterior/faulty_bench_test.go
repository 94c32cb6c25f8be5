// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// BenchmarkFaults: one source, with and without faults, of 500 sensors on 3,000 nodes that all move
// all of them, and of 100,000 nodes known by products.
func BenchmarkFaults(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	op := mat.NewDense(500, 3000, nil)
	for i := range op.RawMatrix().Data {
		op.RawMatrix().Data[i] = .25 * math.Abs(rnd.NormFloat64())
	}
	y := mat.Col(nil, 7, op)
	for i := range y {
		y[i] += rnd.NormFloat64()
	}
	run(b, "n=3000", measurement.Data{A: linop.Dense{M: op}, Y: y}, 50)
	if testing.Short() {
		return
	}
	const n = 100_000
	g, err := graph.BarabasiAlbert(n, 3, 1)
	if err != nil {
		b.Fatal(err)
	}
	d, err := expm.New(b.Context(), laplacian.New(g, laplacian.Combinatorial), 1, expm.Options{})
	if err != nil {
		b.Fatal(err)
	}
	unit, heat := make([]float64, n), make([]float64, n)
	unit[77] = 1
	d.MulVecTo(heat, false, unit)
	const sigma = .05
	for i := range heat {
		heat[i] += sigma * rnd.NormFloat64()
	}
	w, err := measurement.Whiten(d, heat, measurement.Uniform(sigma, n))
	if err != nil {
		b.Fatal(err)
	}
	run(b, "n=100000", w, 1/sigma)
}

func run(b *testing.B, name string, d measurement.Data, high float64) {
	f := posterior.Faults{Rate: .01, Low: make([]float64, len(d.Y)), High: make([]float64, len(d.Y))}
	for s := range f.High {
		f.High[s] = high
	}
	for kind, opts := range map[string]posterior.Options{"trusting/": {}, "faults/": {Faults: f}} {
		b.Run(kind+name, func(b *testing.B) {
			for b.Loop() {
				p, err := posterior.New(b.Context(), d, opts)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(p.ProbabilityError, "open")
			}
		})
	}
}
