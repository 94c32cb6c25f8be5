// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// rowOf returns the row of a sensor, with its nodes.
func rowOf(d *dual, rows *mat.Dense, k int) (nodes []int32, x []float64) {
	x = mat.Row(nil, d.sensors[k], rows)
	for i := range x {
		nodes = append(nodes, int32(i))
	}
	return nodes, x
}

// F is no more than what rows say that are off in the worst way, towards more energy, and it is near
// where they are not: at all of the weights and at a share.
func TestLeastEnergies(t *testing.T) {
	d, rows := newTestDual(t, true)
	told, _ := exactly(d, rows)
	random := rand.New(rand.NewPCG(5, 6))
	for k := range d.u {
		d.u[k] *= math.Exp(2 * random.NormFloat64())
	}
	d.u[3] = 0
	mat.NewVecDense(len(d.energies), d.energies).MulVec(told, mat.NewVecDense(len(d.u), d.u))
	for _, more := range []float64{0, .01, .1} {
		d.reserve(len(d.chosen))
		d.least = d.newLeast(len(d.chosen))
		for k := range d.chosen {
			nodes, x := rowOf(d, rows, k)
			norm := floats.Norm(x, 2)
			floats.Scale(1+more, x)
			d.readRow(k, nodes, x, more*norm)
		}
		f := d.least.losses(d)
		for _, share := range []float64{.3, 1} {
			e := make([]float64, len(d.energies))
			floats.AddScaled(e, share, d.energies)
			want := finely(d, e)
			if got := f.at(share); got < want || got > want+1e-6+50*more {
				t.Errorf("rows off by %v, share %v: F is at most %v, want %v", more, share, got, want)
			}
		}
		for i, e := range d.energies {
			if got := f.energies[i]; got > (1+more)*(1+more)*e*(1+1e-12) || got < e*(1-1e-9) {
				t.Errorf("rows off by %v: energy %v, want %v", more, got, e)
			}
		}
	}
}

// A row of which nothing is known tells nothing, and nothing of it is added to what F may be more by.
func TestUnknownRow(t *testing.T) {
	d, rows := newTestDual(t, true)
	d.reserve(len(d.chosen))
	d.least = d.newLeast(len(d.chosen))
	nodes, x := rowOf(d, rows, 7)
	d.readRow(7, nodes, x, 1.5)
	f := d.least.losses(d)
	if floats.Sum(f.energies) != 0 || f.missed != 0 || f.at(1) != f.blank {
		t.Errorf("energies of %v, missed %v, F %v of %v", floats.Sum(f.energies), f.missed, f.at(1), f.blank)
	}
}

// φ is convex and falls by at most ½, against one rival or many.
func TestConvexity(t *testing.T) {
	for odds := 0.0; odds <= 21; odds += 1.5 {
		before, steep := 0.0, .5
		for e := 0.0; e < 120; e += .25 {
			v, slope := quadrature(e, odds, fineStep)
			if slope > steep+slopeError || e > 0 && v > before {
				t.Fatalf("φ(%v) = %v after %v, slope %v after %v, against e^%v rivals", e, v, before, slope, steep, odds)
			}
			before, steep = v, slope
		}
	}
}
