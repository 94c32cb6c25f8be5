// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Against a shift of normal noise the best power is Φ(shift − z), at a level whose trials none of the model reach too.
func TestCeiling(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, shift := range []float64{.3, 1, 3} {
		logs := make([]float64, 20000)
		for k := range logs {
			logs[k] = shift*(shift+random.NormFloat64()) - shift*shift/2
		}
		for _, level := range []float64{.05, .001} {
			z := distuv.UnitNormal.Quantile(1 - level)
			want := distuv.UnitNormal.CDF(shift - z)
			if got := ceiling(logs, level); math.Abs(got-want) > .01+.2*want*(1-want) {
				t.Errorf("shift %v, level %v: %v, want %v", shift, level, got, want)
			}
		}
	}
}

// Every ratio of likelihoods has mean 1 under the model: those of its densities have, whatever the world.
func TestRatiosAreOfDensities(t *testing.T) {
	const trials = 4000
	err := withSensed(t.Context(), settings{data: "../../examples/data"}, "path,n=8", 1, .1, func(x *sensed) error {
		for k := range x.in.Sigmas { // so loud that no ratio is large in few trials alone
			x.in.Sigmas[k] *= 4
		}
		model, err := x.world(inModel())
		if err != nil {
			return err
		}
		for _, m := range misfits() {
			w, err := x.world(m)
			if err != nil {
				return err
			}
			ratio, err := w.ratio(context.Background())
			if err != nil {
				return err
			}
			sum, squares := 0.0, 0.0
			for k := range trials {
				random := rand.New(rand.NewPCG(9, uint64(k)))
				y, _, err := model.draw(t.Context(), random)
				if err != nil {
					return err
				}
				d := w.diffusion
				if w.weights > 0 || w.absent > 0 {
					if k > trials/10 {
						break
					}
					if d, err = w.diffuse(t.Context(), random); err != nil {
						return err
					}
				}
				v, err := ratio(y, d)
				if err != nil {
					return err
				}
				r := math.Exp(v)
				sum, squares = sum+r, squares+r*r
			}
			n := float64(trials)
			if w.weights > 0 || w.absent > 0 {
				n = trials/10 + 1
			}
			mean := sum / n
			t.Logf("%s: %v", w.name, mean)
			if deviation := math.Sqrt((squares/n - mean*mean) / n); math.Abs(mean-1) > 4.5*deviation+1e-9 {
				t.Errorf("%s: mean %v, want 1 within %v", w.name, mean, 4.5*deviation)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
