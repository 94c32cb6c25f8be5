// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"
	"testing"
)

// TestOtherLaws: the evidence of an offset and of readings that follow no source is their density against that of noise, summed by
// brute force.
func TestOtherLaws(t *testing.T) {
	const steps = 4000
	normal := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	y, one := []float64{.3, 4.1, -1.2, 9.7, 5.2}, []float64{4, 4, 5, 9, 8}
	mean := func(of func(x float64) float64) float64 { // over [0, 1]
		sum := 0.0
		for k := range steps {
			sum += of((float64(k) + .5) / steps)
		}
		return sum / steps
	}
	noise := 1.0
	for s := range y {
		noise *= normal(y[s])
	}
	law := func(density func(s int) float64) float64 {
		d := make([]float64, len(y))
		for s := range d {
			d[s] = density(s)
		}
		return math.Log(mean(func(p float64) float64 {
			product := 1.0
			for s := range y {
				product *= (1-p)*normal(y[s]) + p*d[s]
			}
			return product
		}) / noise)
	}
	answers, anything := Unsmoothed(y, one)
	if want := law(func(s int) float64 { return normal(y[s] - one[s]) }); math.Abs(answers-want) > 1e-5 {
		t.Errorf("answers of yes or no have log evidence %v, want %v", answers, want)
	}
	want := law(func(s int) float64 { return mean(func(x float64) float64 { return normal(y[s] - x*one[s]) }) })
	if math.Abs(anything-want) > 1e-5 {
		t.Errorf("anything has log evidence %v, want %v", anything, want)
	}
	const deviation = .3
	square, along := 0.0, 0.0
	for s := range y {
		square, along = square+one[s]*one[s], along+one[s]*y[s]
	}
	offset := mean(func(u float64) float64 {
		b := 6 * deviation * (2*u - 1)
		return 12 * normal(b/deviation) * math.Exp(b*along-b*b*square/2)
	})
	if got := Offset(deviation, square, along); math.Abs(got-math.Log(offset)) > 1e-5 {
		t.Errorf("an offset has log evidence %v, want %v", got, math.Log(offset))
	}
}
