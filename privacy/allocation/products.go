// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// width is the number of columns of a block: random vectors that an estimate is made of. Its
// relative standard error is √(2/width).
const width = 16

// center subtracts from every column of a row-major block its mean.
func center(x []float64, columns int) {
	mean := make([]float64, columns)
	n := float64(len(x) / columns)
	for at := 0; at < len(x); at += columns {
		for k, v := range x[at : at+columns] {
			mean[k] += v / n
		}
	}
	for at := 0; at < len(x); at += columns {
		floats.Sub(x[at:at+columns], mean)
	}
}

// readings returns what sensors read of unit sources at some nodes, a row for each source.
func readings(m linop.Operator, nodes, sensors []int) *mat.Dense {
	x := mat.NewDense(len(nodes), len(sensors), nil)
	linop.ColumnsTo(linop.Rows(m, sensors), x.RawMatrix().Data, nodes)
	return x
}

// equalPeak estimates max (α/ℓ)² Σ_s (M_si − M_sj)² over the edges: random signs at the
// sensors, mapped by Mᵀ, have mean square differences of that size (Johnson &
// Lindenstrauss 1984), and the largest ones are computed exactly.
func (p *problem) equalPeak(m Diffusion, sensors []int) float64 {
	n := p.model.Graph.Order()
	edges := edgesOf(p.model)
	value := make([]float64, len(edges))
	random := rand.New(rand.NewPCG(2, 5)) // public on purpose: these numbers hide nothing
	in, out := make([]float64, n*blockRows), make([]float64, n*blockRows)
	for range probesFor(n) / blockRows {
		for _, s := range sensors {
			for k := range blockRows {
				in[s*blockRows+k] = float64(2*int(random.Uint64()&1) - 1)
			}
		}
		linop.MulBlockTo(m, out, true, in, blockRows)
		parallel.Rows(len(edges), 2*blockRows, func(lo, hi int) {
			for k := lo; k < hi; k++ {
				e := edges[k]
				u, v := out[int(e.u)*blockRows:][:blockRows], out[int(e.v)*blockRows:][:blockRows]
				for j, x := range u {
					value[k] += e.scale * (x - v[j]) * (x - v[j])
				}
			}
		})
	}
	return slices.Max(p.edgeSquares(m, sensors, ones(len(sensors)), edges, largest(value, sketchEdges)))
}

// probesFor is the number of random vectors of [problem.equalPeak].
func probesFor(n int) int {
	if n > RowsLimit {
		return sketchProbes / 2
	}
	return sketchProbes
}

// largest returns the places of the count largest values, largest first and equal ones in
// order, in O(len(value)) where few are large.
func largest(value []float64, count int) []int {
	pick := make([]int, 0, count+1)
	for k, v := range value {
		if len(pick) == count && !(v > value[pick[count-1]]) {
			continue
		}
		at := slices.IndexFunc(pick, func(i int) bool { return v > value[i] })
		if at < 0 {
			at = len(pick)
		}
		pick = slices.Insert(pick, at, k)
		pick = pick[:min(count, len(pick))]
	}
	return pick
}

// edgeSquares returns (α/ℓ)² Σ_s u_s (M_si − M_sj)² of the picked edges, by a product for each.
func (p *problem) edgeSquares(m Diffusion, sensors []int, u []float64, edges []edge, pick []int) []float64 {
	n, k := p.model.Graph.Order(), len(pick)
	in, out, sums := make([]float64, n*k), make([]float64, n*k), make([]float64, k)
	for j, i := range pick {
		in[int(edges[i].u)*k+j], in[int(edges[i].v)*k+j] = 1, -1
	}
	linop.MulBlockTo(m, out, false, in, k)
	for t, s := range sensors {
		for j, v := range out[s*k:][:k] {
			sums[j] += u[t] * v * v
		}
	}
	for j, i := range pick {
		sums[j] *= edges[i].scale
	}
	return sums
}

// The random vectors and the exact differences behind [problem.equalPeak].
const (
	sketchProbes = 32 // random vectors for the differences across all edges; half beyond RowsLimit
	sketchEdges  = 16 // of the largest differences, computed exactly
)
