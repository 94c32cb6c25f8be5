// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
)

// least adds up the energies of the weights from the rows that a bound reads: with x̃ a row that is off
// by at most η in the 2-norm, m̃_b its means and t_a = Σ_b ρ_ab m̃_b,
//
//	Ẽ_i = Σ_s u_s (x̃_i² − 2x̃_i t_a + Σ_b ρ_ab m̃_b²)/r²,   a the community of i,
//
// of which all but the last term is 0 outside of the ball that the row is known on. Sums are of integers,
// rounded down, so that their bits do not depend on the order. A sensor is left out where η > 1: less energy
// is more F.
type least struct {
	unit    float64 // of the integers, a power of two
	own     []int64 // of each node, Σ_s u_s (x̃_i² − 2x̃_i t_a)/r²
	means   []int64 // of each community and of all nodes, Σ_s u_s m̃_b²/r²
	missed  []float64
	rounded []float64 // of each place, what the sums are rounded from
	slope   []float64 // p/r²
	against []float64
	spread  float64 // bounds the norm of Σ_i p_i Q_is
}

// leastTerm bounds |x̃_i² − 2x̃_i t_a| and m̃_b² where |x_i| ≤ 1 and η ≤ 1.
const leastTerm = 12

func (d *dual) newLeast(rows int) *least {
	noise := d.p.opts.Noise * d.p.opts.Noise
	l := &least{
		own: make([]int64, len(d.energies)), means: make([]int64, d.p.count+1),
		missed: make([]float64, rows), rounded: make([]float64, rows), slope: slices.Clone(d.p.prior),
	}
	floats.Scale(1/noise, l.slope)
	_, exponent := math.Frexp(leastTerm * floats.Sum(d.u) / noise)
	l.unit = math.Ldexp(1, exponent+1-62) // the sum of all is below 2⁶¹
	l.against, l.spread = d.spreadOf(l.slope)
	return l
}

// add adds the row in f of a sensor at place at, which is off by at most off.
func (l *least) add(d *dual, f *form, at, sensor int, off float64) {
	u := d.u[sensor]
	if u == 0 || off > 1 {
		return
	}
	scale := u / (d.p.opts.Noise * d.p.opts.Noise) / l.unit
	size := 0.0
	for _, i := range f.nodes {
		if x := f.x[i]; x != 0 {
			atomic.AddInt64(&l.own[i], int64(math.Floor(scale*x*(x-2*f.rival[d.p.labels[i]]))))
			size += l.slope[i] * x * x
		}
	}
	for _, b := range append(f.touched, d.p.count) {
		m := f.mean[b]
		atomic.AddInt64(&l.means[b], int64(math.Floor(scale*m*m)))
		size += l.against[b] * m * m
	}
	l.missed[at], l.rounded[at] = u*l.spread*off*off, u*size
}

// losses returns F of the energies, and what it is off by at most. With Q̃ and Q the forms of x̃ and of x,
// √E_i ≥ √Ẽ_i − d_i where Σ_i p_i d_i² ≤ Σ_s u_s‖Q‖η_s², by the triangle inequality; and F falls in √E by
// at most √(2 ln(1+K)): −φ' is at most ½, and as φ is convex at most ln(1+K)/E.
func (l *least) losses(d *dual) *losses {
	f := &losses{prior: d.p.prior, odds: d.odds, energies: make([]float64, len(l.own)), certified: true}
	f.blank = f.at(0)
	means := make([]float64, len(d.rho))
	for a, r := range d.rho {
		for z, b := range r.communities {
			means[a] += r.shares[z] * float64(l.means[b])
		}
	}
	for i, a := range d.p.labels {
		f.energies[i] = max(0, l.unit*(float64(l.own[i])+means[a]))
	}
	f.missed = math.Sqrt(2*f.blank*floats.Sum(l.missed)) * (1 + 1e-9)
	f.rounded = .5e-9 * floats.Sum(l.rounded)
	return f
}
