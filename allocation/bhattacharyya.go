// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// pairs is the Bhattacharyya bound on the probability of naming a wrong community,
//
//	F(u) = Σ_{i<j} √(p_i p_j) e^{−d²_ij/8} [c_i ≠ c_j],   d²_ij = Σ_s u_s (M_si − M_sj)²/r²,
//
// over the nodes, or over a sample of them, stratified by community, in which every
// node has weight n/m. It is convex in u.
type pairs struct {
	p      *problem
	nodes  []int
	factor *mat.Dense // √(p_i p_j)[c_i ≠ c_j]
	x      *mat.Dense // rows of M, node by node
}

// maxPairNodes is the largest number of nodes whose pairs are compared.
const maxPairNodes = 600

// maxSteps is the largest number of Frank-Wolfe steps.
const maxSteps = 24

// perStep is the multiplications that take as long as what a step computes of a pair beside products.
const perStep = 13 * 20

func (p *problem) newPairs() *pairs {
	b := &pairs{p: p}
	b.nodes = p.sampleNodes(maxPairNodes)
	m := len(b.nodes)
	b.x = mat.NewDense(m, p.rows.k, nil)
	b.factor = mat.NewDense(m, m, nil)
	share := float64(p.rows.n) / float64(m)
	for k, i := range b.nodes {
		b.x.SetRow(k, p.rows.readings(int32(i)))
		row := b.factor.RawRowView(k)
		for l, j := range b.nodes {
			if p.labels[i] != p.labels[j] {
				row[l] = share * math.Sqrt(p.prior[i]*p.prior[j])
			}
		}
	}
	return b
}

// distances returns d²_ij under u.
func (b *pairs) distances(u []float64) *mat.Dense {
	m := len(b.nodes)
	var on []int
	for s, v := range u {
		if v > 0 {
			on = append(on, s)
		}
	}
	z := mat.NewDense(m, len(on), nil)
	for i := range m {
		x, dst := b.x.RawRowView(i), z.RawRowView(i)
		for k, s := range on {
			dst[k] = math.Sqrt(u[s]) / b.p.opts.Noise * x[s]
		}
	}
	g := mat.NewDense(m, m, nil)
	g.Mul(z, z.T())
	norms := make([]float64, m)
	for i := range norms {
		norms[i] = g.At(i, i)
	}
	for i := range m {
		row := g.RawRowView(i)
		for j := range row {
			row[j] = max(0, norms[i]+norms[j]-2*row[j])
		}
	}
	return g
}

// terms sets e to √(p_i p_j) e^{−d²_ij/8}[c_i ≠ c_j] at d² = (1−f)·from + f·to, and
// returns F with its derivative in f.
func (b *pairs) terms(e, from, to *mat.Dense, f float64) (value, slope float64) {
	m := len(b.nodes)
	sums, slopes := make([]float64, m), make([]float64, m)
	parallel(m, func(i int) {
		w, x, y, dst := b.factor.RawRowView(i), from.RawRowView(i), to.RawRowView(i), e.RawRowView(i)
		for j, v := range w {
			dst[j] = 0
			if v > 0 {
				dst[j] = v * math.Exp(-((1-f)*x[j]+f*y[j])/8)
				sums[i] += dst[j]
				slopes[i] -= dst[j] * (y[j] - x[j]) / 8
			}
		}
	})
	for i := range m {
		value += sums[i] / 2
		slope += slopes[i] / 2
	}
	return value, slope
}

// weights returns −∇F = Σ_{i<j} E_ij (M_si − M_sj)²/8r², by ⅛ diag(M(diag(E1) − E)Mᵀ).
func (b *pairs) weights(e *mat.Dense) []float64 {
	m := len(b.nodes)
	var ex mat.Dense
	ex.Mul(e, b.x)
	w := make([]float64, b.p.rows.k)
	for i := range m {
		var total float64
		for _, v := range e.RawRowView(i) {
			total += v
		}
		x, y := b.x.RawRowView(i), ex.RawRowView(i)
		for s, v := range x {
			w[s] += v * (total*v - y[s])
		}
	}
	for s := range w {
		w[s] = max(0, w[s]) / (8 * b.p.opts.Noise * b.p.opts.Noise)
	}
	return w
}

// bhattacharyya minimises F by the method of Frank and Wolfe (1956): each step is a
// packing programme with the weights −∇F, warm-started from the rows and the vertex of
// the one before, and gives a lower bound F(u) − max (v − u)ᵀ(−∇F).
func (p *problem) bhattacharyya(h []float64) (u []float64, value, limit float64, err error) {
	u = p.equalWeights(h)
	if p.expired() {
		return u, math.NaN(), math.NaN(), nil
	}
	b := p.newPairs()
	g := p.newProgramme(h)
	from := b.distances(u)
	e := mat.NewDense(len(b.nodes), len(b.nodes), nil)
	value, _ = b.terms(e, from, from, 0)
	for step := range maxSteps {
		p.opts.Progress("allocate: error bound", int64(step), maxSteps)
		w := b.weights(e)
		p.charge(len(b.nodes) * len(b.nodes) * (2*p.rows.k + perStep))
		v, _, most, err := g.maximise(w)
		if err != nil {
			return nil, 0, 0, err
		}
		limit = max(limit, value-(most-floats.Dot(w, u)))
		if step > 0 && (value-limit <= p.opts.Gap*value || p.expired()) {
			break
		}
		to := b.distances(v)
		f := b.search(e, from, to)
		if step == 0 {
			f = 1 // leaves the first point, at which every sensor reports
		}
		value, _ = b.terms(e, from, to, f)
		blend(f, u, v)
		from.Apply(func(i, j int, x float64) float64 { return (1-f)*x + f*to.At(i, j) }, from)
	}
	p.normalise(u)
	from = b.distances(u)
	value, _ = b.terms(e, from, from, 0)
	return u, value, limit, nil
}

func blend(f float64, u, v []float64) {
	for s := range u {
		u[s] = (1-f)*u[s] + f*v[s]
	}
}

// search returns the step in [0, 1] at which F is least between from and to, by bisection of its
// derivative.
func (b *pairs) search(e, from, to *mat.Dense) float64 {
	lo, hi := 0.0, 1.0
	for range 12 {
		f := (lo + hi) / 2
		if _, slope := b.terms(e, from, to, f); slope < 0 {
			lo = f
		} else {
			hi = f
		}
	}
	return (lo + hi) / 2
}
