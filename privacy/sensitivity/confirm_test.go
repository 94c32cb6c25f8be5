// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// Confirm takes what Bound gives, on graphs small and large, with a screen and without, weighted
// and not, and refuses the same bracket scaled down.
func TestConfirm(t *testing.T) {
	graphs := families(t, 100)
	for name, g := range families(t, 720) {
		if name != "complete" {
			graphs["large "+name] = g
		}
	}
	for name, g := range graphs {
		m := Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 2, Alpha: 1}
		ramp := make([]float64, g.Order())
		for i := range ramp {
			ramp[i] = 1 + float64(i%9)
		}
		for seed, u := range map[[32]byte][]float64{{}: nil, {1}: ramp} {
			b := must.Get(Bound(background, m, u, Options{Seed: seed, Tolerance: 0.05}))(t)
			b.Upper *= 1 + 0x1p-30
			got := must.Get(Confirm(background, m, u, b, Options{Seed: [32]byte{9}}))(t)
			if got.Upper > b.Upper || got.Failure > b.Failure {
				t.Errorf("%s: %+v does not confirm %+v", name, got, b)
			}
			for _, factor := range []float64{1 - 1e-6, .9, 1. / 16} {
				small := Bracket{Lower: b.Lower / 32, Upper: b.Lower * factor, Failure: b.Failure}
				if got := must.Get(Confirm(background, m, u, small, Options{Seed: [32]byte{9}}))(t); got.Upper <= small.Upper {
					t.Errorf("%s: %+v confirms %+v", name, got, small)
				}
			}
		}
	}
}
