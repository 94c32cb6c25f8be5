// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graphcloak/graphcloak/laplacian"
)

// An upper end that was certified is confirmed with another seed, at any tolerance and
// by every tier; one below Δ₂ never is. The exact value is the judge.
func TestThreshold(t *testing.T) {
	n := 120
	for name, g := range families(t, n) {
		r := rand.New(rand.NewPCG(3, 4))
		n := g.Order()
		u := make([]float64, n)
		for i := range u {
			u[i] = math.Exp(r.NormFloat64())
		}
		for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.Normalized} {
			l := laplacian.New(g, kind)
			for k, weights := range [][]float64{nil, u} {
				m := Model{Graph: g, Laplacian: l, Tau: 0.3, Alpha: 1.5}
				exact := must[Bracket](t)(Bound(background, m, weights, Options{}))
				for _, tolerance := range []float64{0.05, 1e-3} {
					what := fmt.Sprintf("%s %v weights %d, tolerance %v", name, kind, k, tolerance)
					was := must[Bracket](t)(searchBound(background, m, weights,
						Options{Seed: [32]byte{1}, Tolerance: tolerance}))
					enough := was.Upper * (1 + 0x1p-30)
					width := max(1e-6, (was.Upper-was.Lower)/was.Upper)
					opts := Options{Seed: [32]byte{2}, Tolerance: width, Threshold: enough}
					got := must[Bracket](t)(searchBound(background, m, weights, opts))
					if got.Upper > enough || got.Upper < exact.Lower {
						t.Errorf("%s: [%v, %v] after [%v, %v], exact [%v, %v]", what, got.Lower, got.Upper, was.Lower, was.Upper,
							exact.Lower, exact.Upper)
					}
					for _, factor := range []float64{1 - 1e-6, 0.9, 1. / 16} {
						opts.Threshold = exact.Lower * factor
						if got := must[Bracket](t)(searchBound(background, m, weights,
							opts)); got.Upper <= opts.Threshold {
							t.Errorf("%s: %v is confirmed, Δ₂ ≥ %v", what, opts.Threshold, exact.Lower)
						}
					}
				}
			}
		}
	}
}

// Confirm takes what Bound gives, on graphs small and large, with a screen and without,
// cut short or not, and refuses the same bracket scaled down.
func TestConfirm(t *testing.T) {
	graphs := families(t, 100)
	for name, g := range families(t, 1000) {
		if name != "complete" {
			graphs["large "+name] = g
		}
	}
	for name, g := range graphs {
		m := Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 2, Alpha: 1}
		for _, seed := range [][32]byte{{}, {1}} {
			b := must[Bracket](t)(Bound(background, m, nil, Options{Seed: seed, Tolerance: 0.05}))
			b.Upper *= 1 + 0x1p-30
			got := must[Bracket](t)(Confirm(background, m, nil, b, Options{Seed: [32]byte{9}}))
			if got.Upper > b.Upper || got.Failure > b.Failure {
				t.Errorf("%s: %+v does not confirm %+v", name, got, b)
			}
			small := b
			small.Lower, small.Upper = b.Lower/16, b.Lower*0.99
			if got := must[Bracket](t)(Confirm(background, m, nil, small,
				Options{Seed: [32]byte{9}})); got.Upper <= small.Upper {
				t.Errorf("%s: %+v confirms %+v", name, got, small)
			}
		}
	}
}
