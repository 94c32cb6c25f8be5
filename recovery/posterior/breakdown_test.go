// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// TestBreakdown: the certificate is below what an attack does, both grow as noise falls, and no single
// lie on a fine grid breaks an answer that is certified against one.
func TestBreakdown(t *testing.T) {
	const n = 40
	labels := make([]int, n)
	for i := range labels {
		labels[i] = i / 10
	}
	before := 0
	for _, sigma := range []float64{.3, .1, .03, .01} {
		d, f := sensing(n, sigma, -1)
		opts := posterior.Options{Faults: f}
		b, err := posterior.NewBreakdown(t.Context(), d, opts, labels)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("σ = %v: %+v", sigma, b)
		if b.AtLeast > b.AtMost || b.AtLeast < 1 || len(b.Liars) != b.AtMost && b.AtMost <= n || b.AtMost < before {
			t.Errorf("σ = %v: %+v after %d", sigma, b, before)
		}
		before = b.AtMost
		if b.AtLeast < 2 {
			continue
		}
		p, err := posterior.New(t.Context(), d, opts)
		if err != nil {
			t.Fatal(err)
		}
		groups, _ := p.Groups(labels)
		first := floats.MaxIdx(groups)
		for s := 0; s < n; s += 2 {
			honest := d.Y[s]
			for k := range 7 {
				d.Y[s] = f.High[s] * (float64(k)/3 - .5)
				p, err := posterior.New(t.Context(), d, opts)
				if err != nil {
					t.Fatal(err)
				}
				if groups, _ := p.Groups(labels); floats.MaxIdx(groups) != first {
					t.Fatalf("σ = %v: sensor %d alone breaks the answer with %v", sigma, s, d.Y[s])
				}
			}
			d.Y[s] = honest
		}
	}
}

func TestBreakdownRefusals(t *testing.T) {
	d, f := sensing(8, .1, -1)
	labels := make([]int, 8)
	for name, opts := range map[string]posterior.Options{"trusting": {}, "no range": {Faults: posterior.Faults{Rate: .1}}} {
		if _, err := posterior.NewBreakdown(t.Context(), d, opts, labels); !errors.Is(err, posterior.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := posterior.NewBreakdown(t.Context(), d, posterior.Options{Faults: f}, labels[:3]); !errors.Is(err, posterior.ErrInvalid) {
		t.Errorf("labels: %v", err)
	}
	b, err := posterior.NewBreakdown(t.Context(), d, posterior.Options{Faults: f}, labels)
	if err != nil || b.AtLeast != 9 || b.AtMost != 9 {
		t.Errorf("one label: %+v, %v", b, err)
	}
}

// TestBreakdownOfCertainAnswers: where the second label has a probability below all numbers,
// the certificate is still below what an attack does.
func TestBreakdownOfCertainAnswers(t *testing.T) {
	const m = 400
	a, y := mat.NewDense(m, 2, nil), make([]float64, m)
	f := posterior.Faults{Rate: .01, Low: make([]float64, m), High: make([]float64, m)}
	for s := range m {
		a.Set(s, s%2, 3)
		y[s], f.High[s] = a.At(s, 0), 3
	}
	b, err := posterior.NewBreakdown(t.Context(), measurement.Data{A: linop.Dense{M: a}, Y: y}, posterior.Options{Faults: f}, []int{0, 1})
	if err != nil || b.AtLeast > b.AtMost || b.AtLeast < 20 || b.AtMost > m {
		t.Errorf("%+v (%v)", b, err)
	}
}

// TestBreakdownWeighsTheUnlikely: a node whose bound is high and whose evidence is so low that the
// posterior leaves it out still counts against the certificate.
func TestBreakdownWeighsTheUnlikely(t *testing.T) {
	const agree, scatter, clones, entry = 16, 8, 17, 100
	a := mat.NewDense(agree+scatter, clones+1, nil)
	d := measurement.Data{A: linop.Dense{M: a}, Y: make([]float64, agree+scatter)}
	f := posterior.Faults{Rate: .01, Low: make([]float64, agree+scatter), High: make([]float64, agree+scatter)}
	for s := range d.Y {
		f.High[s] = entry
		if s >= agree {
			a.Set(s, clones, entry)
			d.Y[s] = float64(6 + 12*(s-agree)) // of another amplitude each
			continue
		}
		d.Y[s] = entry
		for i := range clones {
			a.Set(s, i, entry)
		}
	}
	labels := make([]int, clones+1)
	labels[clones] = 1
	b, err := posterior.NewBreakdown(t.Context(), d, posterior.Options{Faults: f, Amplitude: posterior.UniformAmplitude}, labels)
	if err != nil || b.AtLeast > b.AtMost || b.AtLeast < 2 || b.AtMost > agree+scatter {
		t.Errorf("%+v (%v)", b, err)
	}
}
