// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/dense"
	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Limits of a surrogate: its nodes, the entries read to choose them, and the steps
// of its Lanczos process.
const (
	surrogateNodes   = 96
	surrogateEntries = 1 << 11
	surrogateSteps   = 12
	// surrogateWork is the cost of one, in entries of a product.
	surrogateWork = 1 << 17
)

// surrogate is a sparse approximation of column j of M: diag(1/s)e^{-τS_A}s_j e_j on a set
// A of nodes near j, S_A the principal submatrix. It chooses edges, and no bound rests on it.
type surrogate struct {
	nodes  []int32 // ascending
	values []float64
}

// surrogates makes the surrogate of each node in pick, in parallel.
func (p *problem) surrogates(ctx context.Context, pick []int32) ([]surrogate, error) {
	out := make([]surrogate, len(pick))
	builder := func() *surrogateBuilder { return newSurrogateBuilder(p) }
	parallel.RowsWith(len(pick), surrogateWork/16, builder, func(m *surrogateBuilder, lo, hi int) {
		for k := lo; k < hi && ctx.Err() == nil; k++ {
			out[k] = m.build(pick[k])
		}
	})
	return out, ctx.Err()
}

// surrogateBuilder makes surrogates one after the other.
type surrogateBuilder struct {
	p        *problem
	ptr      []int64
	adj      []int32
	val      []float64
	diag     []float64
	position []int32 // 1 + index in nodes, −1: in the queue, 0: not seen
	nodes    []int32
	queue    []candidate
	start    []int32 // rows of S_A
	columns  []int32
	entries  []float64
	basis    [surrogateSteps + 1][]float64
}

// candidate is a node that may enter a surrogate, and its estimated share of the heat.
type candidate struct {
	node  int32
	share float64
}

func newSurrogateBuilder(p *problem) *surrogateBuilder {
	m := &surrogateBuilder{p: p, position: make([]int32, p.lap.Order())}
	m.ptr, m.adj, m.val, m.diag = p.lap.CSR()
	return m
}

func (m *surrogateBuilder) weight(k int64) float64 {
	if m.val == nil {
		return 1
	}
	return m.val[k]
}

func (m *surrogateBuilder) build(j int32) surrogate {
	m.chooseNodes(j)
	m.restrict()
	x := m.diffuse()
	s := surrogate{nodes: slices.Clone(m.nodes), values: make([]float64, len(x))}
	slices.Sort(s.nodes)
	for k, t := range s.nodes {
		s.values[k] = x[m.position[t]-1]
		if m.p.s != nil {
			s.values[k] *= m.p.s[j] / m.p.s[t]
		}
	}
	for _, t := range m.nodes {
		m.position[t] = 0
	}
	for _, c := range m.queue {
		m.position[c.node] = 0
	}
	return s
}

// chooseNodes chooses the nodes by best-first search: a neighbour k of i receives about
// w_ik/(1/τ + |a_k − a_j|) of what i holds.
func (m *surrogateBuilder) chooseNodes(j int32) {
	m.nodes, m.queue = m.nodes[:0], append(m.queue[:0], candidate{j, 1})
	read := int64(0)
	for len(m.queue) > 0 && len(m.nodes) < surrogateNodes {
		best := 0
		for k, c := range m.queue {
			if b := &m.queue[best]; c.share > b.share || c.share == b.share && c.node < b.node {
				best = k
			}
		}
		c := m.queue[best]
		m.queue[best] = m.queue[len(m.queue)-1]
		m.queue = m.queue[:len(m.queue)-1]
		m.nodes = append(m.nodes, c.node)
		m.position[c.node] = int32(len(m.nodes))
		from, to := m.ptr[c.node], m.ptr[c.node+1]
		if read += to - from; read > surrogateEntries {
			read -= to - from
			continue
		}
		for k := from; k < to; k++ {
			t := m.adj[k]
			if m.position[t] != 0 {
				continue
			}
			share := c.share * m.weight(k) / (1/m.p.tau + math.Abs(m.diag[t]-m.diag[j]))
			if share > 1e-4 {
				m.position[t] = -1
				m.queue = append(m.queue, candidate{t, share})
			}
		}
	}
}

// restrict stores the rows of S_A off the diagonal.
func (m *surrogateBuilder) restrict() {
	m.start, m.columns, m.entries = append(m.start[:0], 0), m.columns[:0], m.entries[:0]
	for _, t := range m.nodes {
		row := m.adj[m.ptr[t]:m.ptr[t+1]]
		if len(row) <= 8*len(m.nodes) {
			for k, x := range row {
				if index := m.position[x]; index > 0 {
					m.columns, m.entries = append(m.columns, index-1), append(m.entries, m.weight(m.ptr[t]+int64(k)))
				}
			}
		} else {
			for index, x := range m.nodes {
				if k, ok := slices.BinarySearch(row, x); ok {
					m.columns, m.entries = append(m.columns, int32(index)), append(m.entries, m.weight(m.ptr[t]+int64(k)))
				}
			}
		}
		m.start = append(m.start, int32(len(m.columns)))
	}
}

// diffuse approximates e^{-τS_A}e_j, j the first of the nodes, by Lanczos with full
// reorthogonalisation.
func (m *surrogateBuilder) diffuse() []float64 {
	n := len(m.nodes)
	for k := range m.basis {
		m.basis[k] = append(m.basis[k][:0], make([]float64, n)...)
	}
	m.basis[0][0] = 1
	var alpha, beta [surrogateSteps + 1]float64
	steps := 0
	for steps < min(n, surrogateSteps) {
		v, w := m.basis[steps], m.basis[steps+1]
		for i := range n {
			sum := m.diag[m.nodes[i]] * v[i]
			for k := m.start[i]; k < m.start[i+1]; k++ {
				sum -= m.entries[k] * v[m.columns[k]]
			}
			w[i] = sum
		}
		alpha[steps] = dot(v, w)
		for range 2 {
			dense.Orthogonalize(w, m.basis[:steps+1], nil)
		}
		beta[steps] = math.Sqrt(dot(w, w))
		steps++
		if !(beta[steps-1] > 1e-10*alpha[0]) {
			break
		}
		for i := range w {
			w[i] /= beta[steps-1]
		}
	}
	y := make([]float64, n)
	if size := floats.Norm(alpha[:], 1) + floats.Norm(beta[:], 1); !(size < math.Inf(1)) {
		return y // weights near the end of the exponent range
	}
	for k, c := range firstColumn(alpha[:steps], beta[:steps], m.p.tau) {
		for i, v := range m.basis[k] {
			y[i] += c * v
		}
	}
	return y
}

// distance returns ‖diag(√u)(a − b)‖₂.
func (s *search) distance(a, b *surrogate) float64 {
	var sum float64
	put := func(t int32, v float64) {
		w := s.peak
		if s.omega != nil {
			w = s.omega[t]
		}
		if s.s != nil {
			w *= s.s[t] * s.s[t]
		}
		sum += w * v * v
	}
	i, j := 0, 0
	for i < len(a.nodes) || j < len(b.nodes) {
		switch {
		case j == len(b.nodes) || i < len(a.nodes) && a.nodes[i] < b.nodes[j]:
			put(a.nodes[i], a.values[i])
			i++
		case i == len(a.nodes) || b.nodes[j] < a.nodes[i]:
			put(b.nodes[j], b.values[j])
			j++
		default:
			put(a.nodes[i], a.values[i]-b.values[j])
			i, j = i+1, j+1
		}
	}
	return math.Sqrt(sum)
}

func dot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// firstColumn returns e^{-τT}e_1 for the Jacobi matrix T.
func firstColumn(alpha, beta []float64, tau float64) []float64 {
	m := len(alpha)
	t := mat.NewSymDense(m, nil)
	for k := range m {
		t.SetSym(k, k, alpha[k])
		if k+1 < m {
			t.SetSym(k, k+1, beta[k])
		}
	}
	y := make([]float64, m)
	var eigen mat.EigenSym
	if !eigen.Factorize(t, true) {
		return y
	}
	var q mat.Dense
	eigen.VectorsTo(&q)
	for k, theta := range eigen.Values(nil) {
		f := math.Exp(-tau*max(0, theta)) * q.At(0, k)
		for i := range y {
			y[i] += f * q.At(i, k)
		}
	}
	return y
}
