// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"cmp"
	"fmt"
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
		c := p.labels[p.node(sensors[i])]
		rank[i] = next[c]
		next[c]++
	}
	slices.SortStableFunc(all, func(a, b int) int { return rank[a] - rank[b] })
	return slices.Clone(all[:most])
}

// node is where a row is read.
func (p *problem) node(row int) int {
	if p.model.Nodes != nil {
		return p.model.Nodes[row]
	}
	return row
}

// scores estimates, for every row s, the ratio of the separation by a sensor there to its
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
	if p.model.Given == nil {
		center(between, probes) // M maps constants to themselves, and they separate no communities
	}
	across := make([]float64, n*probes)
	for _, e := range edgesOf(p.model) {
		r := math.Sqrt(e.scale)
		for k := range probes {
			v := sign() * r
			across[int(e.u)*probes+k] += v
			across[int(e.v)*probes+k] -= v
		}
	}
	top, bottom := squares(m, between), squares(m, across)
	for i := range top {
		if bottom[i] > 0 {
			top[i] /= bottom[i]
		}
	}
	return top
}

// squares returns the squared norms of the rows of M X.
func squares(m linop.Operator, x []float64) []float64 {
	rows, _ := m.Dims()
	y := make([]float64, rows*probes)
	linop.MulBlockTo(m, y, false, x, probes)
	out := make([]float64, rows)
	for i := range out {
		out[i] = floats.Dot(y[i*probes:(i+1)*probes], y[i*probes:(i+1)*probes])
	}
	return out
}

// read chooses the candidates among the sensors and reads their rows of M.
func (p *problem) read(diffusion Diffusion, sensors []int) error {
	p.index = p.chooseCandidates(diffusion, sensors)
	if err := p.ctx.Err(); err != nil {
		return err
	}
	pick := make([]int, len(p.index))
	for k, i := range p.index {
		pick[k] = sensors[i]
	}
	var err error
	block := blockRows * p.column()
	if p.rows, err = newRows(p.ctx, diffusion, pick, func() bool {
		p.work += block
		return p.limit > 0 && p.work > p.limit/2
	}, p.opts.Progress); err != nil {
		return err
	}
	p.rows.edges = edgesOf(p.model)
	if err := p.addWorlds(); err != nil {
		return err
	}
	p.value = make([]float64, len(p.rows.edges))
	if err := p.setCap(diffusion.Err()); err != nil {
		return err
	}
	return p.ctx.Err()
}

// addWorlds reads the same candidates under the other operators, and repeats the edges
// for each.
func (p *problem) addWorlds() error {
	own := p.rows.edges
	for k, d := range p.opts.Worlds {
		if _, c := d.Dims(); c != p.rows.n {
			return fmt.Errorf("%w: operator %d is of %d nodes, want %d", ErrInvalid, k, c, p.rows.n)
		}
		other, err := newRows(p.ctx, d, p.rows.pick, func() bool { return false }, p.opts.Progress)
		if err != nil {
			return err
		}
		p.rows.worlds = append(p.rows.worlds, other)
		for _, e := range own {
			e.world = int32(k + 1)
			p.rows.edges = append(p.rows.edges, e)
		}
	}
	return nil
}

// numericalError bounds what numerical errors may add to the whitened sensitivity, whose scale
// is 1.
const numericalError = 1e-3

// setCap sets h_s, the largest feasible weight of sensor s alone, and at most u_max: the
// equal weight or, if larger, the weight at which √u_max times the error of M and of its
// certificate is numericalError. It binds where the differences of M_s· across edges are
// below that error. A sensor that no edge reaches has none that bounds its weight, and gets that of equal allocation.
func (p *problem) setCap(norm float64) error {
	worst := p.rows.largestSquares()
	uniform := 1 / p.rows.constraints(p.value, ones(p.rows.k))
	if math.IsInf(uniform, 1) {
		return fmt.Errorf("%w: the candidates read the same from the two ends of every relationship", ErrNothing)
	}
	n := float64(p.rows.n)
	e := n*math.Sqrt(n)*0x1p-52 + 2*math.Sqrt(n)*norm
	most := max(uniform, numericalError*numericalError/(e*e))
	component, sizes := p.model.Graph.Components()
	p.cap = make([]float64, p.rows.k)
	for s, w := range worst {
		p.cap[s] = min(1/w, most)
		if p.model.Given != nil && w == 0 || p.model.Given == nil && sizes[component[p.rows.pick[s]]] == 1 {
			p.cap[s] = uniform
		}
	}
	return nil
}
