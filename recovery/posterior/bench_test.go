// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

func BenchmarkPosterior(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	op := linop.Dense{M: mat.NewDense(500, 500, nil)}
	for i := range op.M.RawMatrix().Data {
		op.M.RawMatrix().Data[i] = 0.1 * rnd.NormFloat64()
	}
	y := mat.Col(nil, rnd.IntN(500), op.M)
	for i := range y {
		y[i] += 0.05 * rnd.NormFloat64()
	}
	d := measurement.Data{A: op, Y: y}
	b.Run("one/n=500", func(b *testing.B) {
		for b.Loop() {
			if _, err := posterior.New(b.Context(), d, posterior.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("pairs/n=500", func(b *testing.B) {
		for b.Loop() {
			if _, err := posterior.NewPairs(b.Context(), d, posterior.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	large := linop.Dense{M: mat.NewDense(5000, 5000, nil)}
	for i := range large.M.RawMatrix().Data {
		large.M.RawMatrix().Data[i] = 0.1 * rnd.NormFloat64()
	}
	w, err := measurement.Whiten(large, mat.Col(nil, rnd.IntN(5000), large.M), measurement.Uniform(0.01, 5000))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("one/n=5000", func(b *testing.B) {
		for b.Loop() {
			if _, err := posterior.New(b.Context(), w, posterior.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
