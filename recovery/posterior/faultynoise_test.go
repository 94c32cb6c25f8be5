// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// With noise far below the rounding of what sensors read the posterior ends, finds the source and the stuck sensor,
// and says how many measurements it took for noisier; by products, where no entry is read, it is refused.
func TestFaultsUnderNoNoise(t *testing.T) {
	for _, amplitude := range []posterior.Amplitude{posterior.MixedAmplitude, posterior.UniformAmplitude, posterior.UnitAmplitude} {
		d, f := sensing(24, 1e-13, 20)
		opts := posterior.Options{Faults: f, Amplitude: amplitude}
		p, err := posterior.New(t.Context(), d, opts)
		if err != nil {
			t.Fatal(err)
		}
		if p.Best() != 4 || !(p.Probability[4] > .999) || !(p.Faulty[20] > .999) || p.Raised != 24 || math.IsNaN(p.LogPresence) {
			t.Errorf("%v: node %d with %v, sensor 20 broken with %v, %d raised", amplitude, p.Best(), p.Probability[4],
				p.Faulty[20], p.Raised)
		}
		b, err := posterior.NewBreakdown(t.Context(), d, opts, make([]int, 24))
		if err != nil || b.AtLeast < 1 {
			t.Errorf("breakdown: %+v, %v", b, err)
		}
		hidden := measurement.Data{A: productsOnly{d.A}, Y: d.Y}
		if _, err := posterior.New(t.Context(), hidden, opts); !errors.Is(err, posterior.ErrInvalid) {
			t.Errorf("by products: %v", err)
		}
	}
}

// Where only some sensors have too little noise the others keep theirs, and where none has nothing changes.
func TestOnlyTooLittleNoiseIsRaised(t *testing.T) {
	d, f := sensing(24, .05, -1)
	before, err := posterior.New(t.Context(), d, posterior.Options{Faults: f})
	if err != nil || before.Raised != 0 {
		t.Fatalf("%d raised, %v", before.Raised, err)
	}
	scale := make([]float64, 24)
	rows := make([]int, 24)
	for s := range scale {
		scale[s], rows[s] = 1, s
	}
	for _, s := range []int{3, 4} {
		scale[s] = 1e12
		d.Y[s] *= 1e12
		f.High[s] *= 1e12
	}
	p, err := posterior.New(t.Context(), measurement.Data{A: linop.Scaled{A: d.A, Rows: rows, Scale: scale}, Y: d.Y},
		posterior.Options{Faults: f})
	if err != nil || p.Raised != 2 || p.Best() != 4 || floats.Max(p.Faulty[5:]) > .5 {
		t.Errorf("%+v, %v", p, err)
	}
}
