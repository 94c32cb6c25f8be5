// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// energy is the objective of large graphs. A source at node i is distinguished from one in a rival
// community b by the energy
//
//	E_ib = Σ_s u_s (M_si − mean_b M_s·)²/r²
//
// of their difference: the log-likelihood ratio of the two is normal with mean E/2 and
// variance E. Against K_i rivals as likely, the expected log loss is about
//
//	φ(E_i) = E log(1 + K_i e^{−E_i/2 − √E_i z}),   z ~ N(0, 1),
//
// for the mean E_i of E_ib over the rivals of its community: those that relationships lead
// to, in proportion. F(u) = Σ_i p_i φ(E_i) is convex, and −∂F/∂u_s = Σ_i p_i
// ½E[σ²] (M_si − mean_b M_s·)²/r² with the logistic σ of the exponent (Stein's lemma).
//
// E, F, the gradient and the constraints are mean squares of M or Mᵀ times random signs
// (Hutchinson 1990), so that no row of M is kept.
type energy struct {
	p       *problem
	m       Diffusion
	sensors []int
	edges   []edge
	random  *rand.Rand

	rivals []rivals  // of each community
	share  []float64 // of the prior in each community
	odds   []float64 // ln K_i

	in, out []float64 // blocks of width columns
}

// half is the number of columns for each of two estimates that share a product.
const half = width / 2

// rivals are communities with their shares.
type rivals struct {
	communities []int
	shares      cumulative
}

// newEnergy takes two products with M, and one with Mᵀ.
func (p *problem) newEnergy(m Diffusion, sensors []int) *energy {
	n := p.model.Graph.Order()
	s := &energy{
		p: p, m: m, sensors: sensors, edges: edgesOf(p.model), share: make([]float64, p.count),
		// The seed is public on purpose: these numbers hide nothing.
		random: rand.New(rand.NewPCG(2, 11)), in: make([]float64, n*width), out: make([]float64, n*width),
	}
	for i, a := range p.labels {
		s.share[a] += p.prior[i]
	}
	s.findRivals()
	s.findOdds()
	return s
}

// findRivals lists for each community those that relationships lead to, or all others where
// none does.
func (s *energy) findRivals() {
	count := make([]map[int]float64, s.p.count)
	for a := range count {
		count[a] = make(map[int]float64)
	}
	for _, e := range s.edges {
		if a, b := s.p.labels[e.u], s.p.labels[e.v]; a != b {
			count[a][b]++
			count[b][a]++
		}
	}
	s.rivals = make([]rivals, s.p.count)
	for a := range s.rivals {
		s.rivals[a] = s.rivalsOf(a, func(b int) float64 { return count[a][b] })
		if len(s.rivals[a].communities) == 0 {
			s.rivals[a] = s.rivalsOf(a, func(int) float64 { return 1 })
		}
	}
}

func (s *energy) rivalsOf(a int, weight func(b int) float64) rivals {
	var r rivals
	var shares []float64
	for b := range s.p.count {
		if w := weight(b); b != a && w > 0 && s.share[b] > 0 {
			r.communities, shares = append(r.communities, b), append(shares, w)
		}
	}
	r.shares = cumulate(shares)
	return r
}

// drawRivals returns a rival of every community for every column; count stands for all
// nodes, where there is no other community.
func (s *energy) drawRivals() [][]int {
	drawn := make([][]int, s.p.count)
	for a, r := range s.rivals {
		drawn[a] = make([]int, width)
		for k := range drawn[a] {
			drawn[a][k] = s.p.count
			if len(r.communities) > 0 {
				drawn[a][k] = r.communities[r.shares.at(s.random.Float64())]
			}
		}
	}
	return drawn
}

// findOdds estimates K_i: the nodes elsewhere, in units of those that are hard to distinguish from
// i. Of the latter there are Σ_j G_ij²/G_ii², where G is the Gram matrix of the centred
// columns of M.
func (s *energy) findOdds() {
	n := s.p.model.Graph.Order()
	own, all := make([]float64, n), make([]float64, n)
	s.project(ones(len(s.sensors)))
	center(s.out, width)
	s.addSquares(own, 1)
	for i := range n {
		s.setSigns(s.in[i*width:(i+1)*width], 1)
	}
	center(s.in, width)
	linop.MulBlockTo(s.m, s.out, false, s.in, width)
	clear(s.in)
	for _, i := range s.sensors {
		copy(s.in[i*width:(i+1)*width], s.out[i*width:(i+1)*width])
	}
	linop.MulBlockTo(s.m, s.out, true, s.in, width)
	center(s.out, width)
	s.addSquares(all, 1)
	s.odds = make([]float64, n)
	for i, a := range s.p.labels {
		alike, elsewhere := 1.0, 1-s.share[a]
		if own[i] > 0 {
			alike = max(1, all[i]/(own[i]*own[i]))
		}
		if s.p.count == 1 {
			elsewhere = 1
		}
		s.odds[i] = math.Log(max(1, elsewhere*float64(n)/alike))
	}
}

// setSigns sets a row of a block to ±r.
func (s *energy) setSigns(row []float64, r float64) {
	bits := s.random.Uint64()
	for k := range row {
		row[k] = r
		if bits>>k&1 == 1 {
			row[k] = -r
		}
	}
}

// addSigned adds ±r to two rows of a block, in the second with the other sign.
func (s *energy) addSigned(plus, minus []float64, r float64) {
	bits := s.random.Uint64()
	for k := range plus {
		v := r
		if bits>>k&1 == 1 {
			v = -r
		}
		plus[k] += v
		minus[k] -= v
	}
}

// project sets out to Mᵀ diag(√u) times random signs: the squared difference of its rows i and
// j is, in the mean, Σ_s u_s (M_si − M_sj)².
func (s *energy) project(u []float64) {
	clear(s.in)
	for k, i := range s.sensors {
		s.setSigns(s.in[i*width:(i+1)*width], math.Sqrt(u[k]))
	}
	linop.MulBlockTo(s.m, s.out, true, s.in, width)
}

// addSquares blends the mean squares of the rows of out into dst: dst ← (1−f)·dst + f·them.
func (s *energy) addSquares(dst []float64, f float64) {
	each(len(dst), width, func(i int) {
		x := s.out[i*width : (i+1)*width]
		dst[i] = (1-f)*dst[i] + f*floats.Dot(x, x)/width
	})
}

// addConstraints blends the constraints of all edges into dst, of the u that was projected.
func (s *energy) addConstraints(dst []float64, f float64) {
	each(len(dst), 2*width, func(j int) {
		e := s.edges[j]
		x, y := s.out[int(e.u)*width:][:width], s.out[int(e.v)*width:][:width]
		sum := 0.0
		for k, v := range x {
			sum += (v - y[k]) * (v - y[k])
		}
		dst[j] = (1-f)*dst[j] + f*e.scale*sum/width
	})
}

// addEnergies blends E into dst, of the u that was projected and the rivals drawn.
func (s *energy) addEnergies(dst []float64, drawn [][]int, f float64) {
	count, noise := s.p.count, s.p.opts.Noise*s.p.opts.Noise
	mean := make([]float64, (count+1)*width)
	for i, a := range s.p.labels {
		axpy(s.p.prior[i], s.out[i*width:(i+1)*width], mean[a*width:(a+1)*width])
	}
	for a, v := range s.share {
		axpy(1, mean[a*width:(a+1)*width], mean[count*width:])
		if v > 0 {
			floats.Scale(1/v, mean[a*width:(a+1)*width])
		}
	}
	each(len(dst), width, func(i int) {
		sum := 0.0
		for k, b := range drawn[s.p.labels[i]] {
			d := s.out[i*width+k] - mean[b*width+k]
			sum += d * d
		}
		dst[i] = (1-f)*dst[i] + f*sum/(width*noise)
	})
}

// slopes returns −∂F/∂u_s for the rivals drawn, at energies e, and the prices Σ_e y_e D_es² of
// every sensor, where D²u are the constraints: each by half of a block.
func (s *energy) slopes(e []float64, drawn [][]int, y []float64) (gradient, prices []float64) {
	s.setGradient(e, drawn)
	each(len(s.in)/width, width, func(i int) { clear(s.in[i*width+half : (i+1)*width]) })
	for j, e := range s.edges {
		u, v := s.in[int(e.u)*width+half:][:half], s.in[int(e.v)*width+half:][:half]
		s.addSigned(u, v, math.Sqrt(e.scale*y[j]))
	}
	linop.MulBlockTo(s.m, s.out, false, s.in, width)
	gradient, prices = make([]float64, len(s.sensors)), make([]float64, len(s.sensors))
	each(len(gradient), width, func(k int) {
		x := s.out[s.sensors[k]*width:][:width]
		gradient[k], prices[k] = floats.Dot(x[:half], x[:half])/half, floats.Dot(x[half:], x[half:])/half
	})
	return gradient, prices
}

// setGradient sets in to random vectors whose images under M have, in the mean, the squares
// −∂F/∂u_s.
func (s *energy) setGradient(e []float64, drawn [][]int) {
	count := s.p.count
	root := make([]float64, len(e))
	each(len(e), 64*width, func(i int) {
		_, slope := confusion(e[i], s.odds[i])
		root[i] = math.Sqrt(s.p.prior[i]*slope) / s.p.opts.Noise
	})
	sums := make([]float64, (count+1)*width)
	for i, a := range s.p.labels {
		row := s.in[i*width : (i+1)*width]
		s.setSigns(row, root[i])
		for k, b := range drawn[a] {
			sums[b*width+k] += row[k]
		}
	}
	for i, a := range s.p.labels {
		if s.p.prior[i] == 0 {
			continue
		}
		row := s.in[i*width : (i+1)*width]
		axpy(-s.p.prior[i]/s.share[a], sums[a*width:(a+1)*width], row)
		axpy(-s.p.prior[i], sums[count*width:], row)
	}
}

// confusion returns φ(E) and −φ'(E) = ½E[σ²] against e^odds rivals, to about 10⁻³, by the trapezoidal rule.
func confusion(e, odds float64) (loss, slope float64) {
	const most, step = 8, .5
	root, total := math.Sqrt(e), 0.0
	for z := -float64(most); z <= most; z += step {
		q := math.Exp(-z * z / 2)
		t := odds - e/2 + root*z
		x := math.Exp(-math.Abs(t))
		right := 1 / (1 + x)
		if t < 0 {
			right = x / (1 + x)
		}
		total += q
		loss += q * (max(t, 0) + math.Log1p(x))
		slope += q * right * right
	}
	return loss / total, slope / total / 2
}
