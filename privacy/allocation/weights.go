// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"slices"
)

// means returns mean_a M_s· of every community a, a row for each; communities
// without probability are left out. With a prior the mean is weighted by it.
func (p *problem) means() [][]float64 {
	total := make([]float64, p.count)
	sums := make([][]float64, p.count)
	for a := range sums {
		sums[a] = make([]float64, p.rows.k)
	}
	for i, a := range p.labels {
		total[a] += p.prior[i]
		axpy(p.prior[i], p.rows.readings(int32(i)), sums[a])
	}
	for a := range sums {
		for s := range sums[a] {
			sums[a][s] /= total[a]
		}
	}
	return slices.DeleteFunc(sums, func(m []float64) bool { return math.IsNaN(m[0]) })
}

// separation returns w_s = Σ_{a<b} (mean_a M_s· − mean_b M_s·)²
// = C·Σ_a (mean_a M_s· − their mean)² for C communities.
func (p *problem) separation() []float64 {
	means := p.means()
	w := make([]float64, p.rows.k)
	for s := range w {
		var centre float64
		for _, m := range means {
			centre += m[s]
		}
		centre /= float64(len(means))
		for _, m := range means {
			d := m[s] - centre
			w[s] += d * d
		}
		w[s] *= float64(len(means))
	}
	return w
}

// location returns w_s = Σ (M_si − M_sj)² over the pairs of nodes at least two hops
// apart, weighted by the product of their priors: all pairs without the neighbours.
func (p *problem) location() []float64 {
	k := p.rows.k
	centre, w := make([]float64, k), make([]float64, k)
	var total float64
	for i, v := range p.prior {
		total += v
		axpy(v, p.rows.readings(int32(i)), centre)
	}
	for i, v := range p.prior {
		for s, x := range p.rows.readings(int32(i)) {
			d := x - centre[s]/total
			w[s] += total * v * d * d
		}
	}
	all := slices.Clone(w)
	for i, v := range p.prior {
		x := p.rows.readings(int32(i))
		for _, j := range p.model.Graph.Neighbors(i) {
			if int(j) < i {
				continue
			}
			c := v * p.prior[j]
			for s, y := range p.rows.readings(j) {
				d := x[s] - y
				w[s] -= c * d * d
			}
		}
	}
	for s := range w {
		if w[s] < all[s]*0x1p-40 { // rounding of the differences
			w[s] = 0
		}
	}
	return w
}
