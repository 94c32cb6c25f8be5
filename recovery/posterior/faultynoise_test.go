// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"math"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// With noise far below the rounding of what sensors read the posterior ends, finds the source and the stuck sensor,
// and says that it took them for noisier, also by products.
func TestFaultsUnderNoNoise(t *testing.T) {
	for _, amplitude := range []posterior.Amplitude{posterior.MixedAmplitude, posterior.UniformAmplitude, posterior.UnitAmplitude} {
		d, f := sensing(24, 1e-13, 20)
		opts := posterior.Options{Faults: f, Amplitude: amplitude}
		p := must.Get(posterior.New(t.Context(), d, opts))(t)
		hidden := must.Get(posterior.New(t.Context(), measurement.Data{A: productsOnly{d.A}, Y: d.Y}, opts))(t)
		for _, p := range []*posterior.Posterior{p, hidden} {
			if p.Best() != 4 || !(p.Probability[4] > .999) || !(p.Faulty[20] > .999) || !p.Raised || math.IsNaN(p.LogPresence) {
				t.Errorf("%v: node %d with %v, sensor 20 broken with %v, raised: %v", amplitude, p.Best(), p.Probability[4],
					p.Faulty[20], p.Raised)
			}
		}
	}
	d, f := sensing(24, .05, -1)
	if p, err := posterior.New(t.Context(), d, posterior.Options{Faults: f}); err != nil || p.Raised {
		t.Errorf("enough noise: raised, %v", err)
	}
}
