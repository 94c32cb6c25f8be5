// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// probes is the number of random vectors that a score is estimated from.
const probes = 32

// chooseCandidates returns the candidates among the sensors: all, or as many as the memory
// holds, the same number from each community; sorted by decreasing score, so that the first
// ones serve where time runs out.
func (p *problem) chooseCandidates(m Diffusion, sensors []int) []int {
	all := make([]int, len(sensors))
	for i := range all {
		all[i] = i
	}
	n := len(p.labels)
	most := max(1, int(p.memory/(8*int64(n)*int64(1+len(p.opts.Worlds)))))
	if len(all) <= most {
		return all
	}
	score := p.scores(m)
	if p.ctx.Err() != nil {
		return nil
	}
	// Rank within the community first.
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Compare(score[sensors[b]], score[sensors[a]])
	})
	rank, next := make([]int, len(all)), make([]int, p.count)
	for _, i := range all {
		c := p.labels[sensors[i]]
		rank[i] = next[c]
		next[c]++
	}
	slices.SortStableFunc(all, func(a, b int) int { return rank[a] - rank[b] })
	return slices.Clone(all[:most])
}

// scores estimates, for every node s, the ratio of the separation by a sensor there to its
// sensitivity, Σ_a (mean_a M_s·)² / Σ_e (α/ℓ_e)²(M_si − M_sj)² (over communities
// a and edges e; nodes in place of communities for Location). Both sums are the
// mean squares of M times random signs (Hutchinson 1990).
func (p *problem) scores(m Diffusion) []float64 {
	n := len(p.labels)
	// The seed is public on purpose: these numbers hide nothing.
	random := rand.New(rand.NewPCG(2, 3))
	sign := func() float64 { return float64(2*int(random.Uint64()&1) - 1) }
	share := make([]float64, p.count)
	for i, c := range p.labels {
		share[c] += p.prior[i]
	}
	between := make([]float64, n*probes)
	signs := make([]float64, p.count)
	for k := range probes {
		for c := range signs {
			signs[c] = sign()
		}
		for i, c := range p.labels {
			v := sign()
			if p.objective != Location && share[c] > 0 {
				v = signs[c] * p.prior[i] / share[c]
			}
			between[i*probes+k] = v
		}
	}
	center(between, probes) // M maps constants to themselves, and they separate no communities
	across := make([]float64, n*probes)
	for _, e := range edgesOf(p.model.Graph, p.model.Alpha) {
		r := math.Sqrt(e.scale)
		for k := range probes {
			v := sign() * r
			across[int(e.u)*probes+k] += v
			across[int(e.v)*probes+k] -= v
		}
	}
	top, bottom := squares(m, between, n), squares(m, across, n)
	for i := range top {
		if bottom[i] > 0 {
			top[i] /= bottom[i]
		}
	}
	return top
}

// squares returns the squared norms of the rows of M X.
func squares(m linop.Operator, x []float64, n int) []float64 {
	y := make([]float64, n*probes)
	linop.MulBlockTo(m, y, false, x, probes)
	out := make([]float64, n)
	for i := range out {
		out[i] = floats.Dot(y[i*probes:(i+1)*probes], y[i*probes:(i+1)*probes])
	}
	return out
}
