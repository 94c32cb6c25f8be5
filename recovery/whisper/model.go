// SPDX-License-Identifier: Apache-2.0

package whisper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/parallel"
)

// ErrInvalid marks an input that is not well defined: the caller must change it.
var ErrInvalid = errors.New("whisper: invalid input")

// Options of [New].
type Options struct {
	Flip   float64 // f: the probability that the channel flips an answer, in (0, ½); liars at random are part of it
	Labels []int   // community of each node, 0 … C−1
	Reach  int     // how many have heard, where that is known; 0: from 3 to half of the nodes, log-uniform
	Asked  []bool  // who was or will be asked; nil: everybody
}

// Model is the likelihood of answers given who started a rumour, on one graph. It is safe for concurrent use.
type Model struct {
	ptr                []int64
	adj                []int32
	rate               []float64 // nil: all 1
	component          []int32
	components         []int // their sizes
	flip               float64
	labels             []int
	orders             []int // of communities
	asked              []bool
	askedOf            []int // people asked in each community
	sizes              []float64
	smallest, greatest float64 // size of a cascade
	order              []int32 // nodes, those of a neighbourhood together
}

// least is the smallest number of people of a rumour that is looked for.
const least = 3

// New checks the options and prepares the model.
func New(g *graph.Graph, o Options) (*Model, error) {
	n := g.Order()
	switch {
	case n == 0:
		return nil, fmt.Errorf("%w: the graph has no nodes", ErrInvalid)
	case !(o.Flip > 0 && o.Flip < .5):
		return nil, fmt.Errorf("%w: answers are flipped with probability %v, want more than 0 and less than 1/2", ErrInvalid, o.Flip)
	case o.Reach < 0 || o.Reach > n:
		return nil, fmt.Errorf("%w: reach is %d, want 1 to %d, or 0 where it is not known", ErrInvalid, o.Reach, n)
	case o.Asked != nil && len(o.Asked) != n:
		return nil, fmt.Errorf("%w: it is said of %d people whether they were asked, want %d", ErrInvalid, len(o.Asked), n)
	case len(o.Labels) != n:
		return nil, fmt.Errorf("%w: %d labels for %d nodes", ErrInvalid, len(o.Labels), n)
	}
	m := &Model{flip: o.Flip, labels: o.Labels, asked: o.Asked}
	var weight []float64
	m.ptr, m.adj, weight = g.CSR()
	m.rate = relativeRates(weight)
	m.component, m.components = g.Components()
	for i, l := range o.Labels {
		if l < 0 || l >= n {
			return nil, fmt.Errorf("%w: label of node %d is %d, want 0 to %d", ErrInvalid, i, l, n-1)
		}
		for l >= len(m.orders) {
			m.orders, m.askedOf = append(m.orders, 0), append(m.askedOf, 0)
		}
		m.orders[l]++
		if m.isAsked(i) {
			m.askedOf[l]++
		}
	}
	if c := slices.Index(m.orders, 0); c >= 0 {
		return nil, fmt.Errorf("%w: community %d has no nodes", ErrInvalid, c)
	}
	m.setSizes(o.Reach)
	m.order = m.byNeighbourhood()
	return m, nil
}

func (m *Model) isAsked(i int) bool { return m.asked == nil || m.asked[i] }

// setSizes chooses the grid of sizes: about a factor of three apart.
func (m *Model) setSizes(reach int) {
	n := float64(len(m.labels))
	m.smallest, m.greatest = min(least, n), max(min(least, n), n/2)
	if reach > 0 {
		m.smallest, m.greatest = float64(reach), float64(reach)
	}
	span := math.Log2(m.greatest / m.smallest)
	count := max(1, math.Round(span/1.5))
	for k := range int(count) { // the middles of equal parts
		m.sizes = append(m.sizes, m.smallest*math.Exp2(span*(float64(k)+.5)/count))
	}
}

// byNeighbourhood returns the nodes in the order of a breadth-first search, so that those of a block reach about the same nodes.
func (m *Model) byNeighbourhood() []int32 {
	seen, order := make([]bool, len(m.labels)), make([]int32, 0, len(m.labels))
	for i := range m.labels {
		if seen[i] {
			continue
		}
		seen[i] = true
		order = append(order, int32(i))
		for k := len(order) - 1; k < len(order); k++ {
			for _, v := range m.adj[m.ptr[order[k]]:m.ptr[order[k]+1]] {
				if !seen[v] {
					seen[v] = true
					order = append(order, v)
				}
			}
		}
	}
	return order
}

// logs are the logarithms of the likelihood of an answer against that of a flip: yes for yes, no for no.
func (m *Model) logs(x float64) (yes, no float64) {
	yes = math.Log(1 + (1-2*m.flip)/m.flip*x)
	no = math.Log(1 - (1-2*m.flip)/(1-m.flip)*x)
	return yes, no
}

// evidence weighs sources against answers, which are given by those who say yes. With ℓ_tck the log of
// P(answers t | source c, size k)/P(answers t | nobody has heard) and π_k = 1/(number of sizes that are possible from c), it calls emit
// with the block of sources from the first on, at the same time from several workers, with
//
//	logs[c][t][j] = log Σ_k π_k exp(κ_j·ℓ_tck),
//
// and returns sizes[t][k] = log Σ_c π_k exp(ℓ_tck).
func (m *Model) evidence(ctx context.Context, sources []int32, yes [][]int32, kappa []float64, emit func(first int, logs []float64),
) (sizes [][]float64, err error) {
	blocks := (len(sources) + width - 1) / width
	type memory struct {
		*block
		weights []row32 // of a yes, by place and size
		sums    [][width]float64
	}
	newMemory := func() *memory { return &memory{block: m.newBlock(), sums: make([][width]float64, len(m.sizes))} }
	bySize := make([][]float64, blocks)
	parallel.RowsWith(blocks, 1<<20, newMemory, func(b *memory, lo, hi int) {
		for at := lo; at < hi && ctx.Err() == nil; at++ {
			these := sources[at*width : min((at+1)*width, len(sources))]
			b.weights = b.weights[:0]
			clear(b.sums)
			b.columns(these, func(c, k int, share float64) {
				for len(b.weights) < len(b.nodes)*len(m.sizes) {
					b.weights = append(b.weights, row32{})
				}
				for place, i := range b.nodes {
					if x := b.value(place, c, share); x > 0 && m.isAsked(int(i)) {
						yes, no := m.logs(x)
						b.sums[k][c] += no
						b.weights[place*len(m.sizes)+k][c] = float32(yes - no)
					}
				}
			})
			logs, sums := m.logEvidence(b.block, these, b.weights, b.sums, yes, kappa)
			bySize[at] = sums
			emit(at*width, logs)
		}
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	part := make([]float64, blocks)
	for t := range yes {
		sizes = append(sizes, make([]float64, len(m.sizes)))
		for k := range m.sizes {
			for at := range part {
				part[at] = bySize[at][t*len(m.sizes)+k]
			}
			sizes[t][k] = floats.LogSumExp(part)
		}
	}
	return sizes, nil
}

// row32 is a [row] of what is read often.
type row32 [width]float32

// logEvidence adds up the weights of those who say yes, from the sums base where nobody does.
func (m *Model) logEvidence(b *block, sources []int32, weights []row32, base [][width]float64, yes [][]int32, kappa []float64,
) (logs, bySize []float64) {
	kinds, perSource := len(m.sizes), len(yes)*len(kappa)
	logs, bySize = make([]float64, len(sources)*perSource), make([]float64, len(yes)*kinds)
	sums, terms := make([]row32, kinds), make([]float64, kinds)
	for k := range bySize {
		bySize[k] = math.Inf(-1)
	}
	for t, said := range yes {
		clear(sums)
		for _, i := range said {
			place := int(b.place[i])
			if place < 0 || (place+1)*kinds > len(weights) {
				continue
			}
			for k := range sums {
				sum, w := &sums[k], &weights[place*kinds+k]
				for c := range w {
					sum[c] += w[c]
				}
			}
		}
		for c, i := range sources {
			possible := m.sizesFrom(i)
			for k := range possible {
				terms[k] = base[k][c] + float64(sums[k][c])
				bySize[t*kinds+k] = logAdd(bySize[t*kinds+k], terms[k]-math.Log(float64(possible)))
			}
			for j, x := range kappa {
				logs[c*perSource+t*len(kappa)+j] = logMeanExp(terms[:possible], x)
			}
		}
	}
	return logs, bySize
}

// logAdd returns log(e^x + e^y) for a finite y.
func logAdd(x, y float64) float64 { return max(x, y) + math.Log1p(math.Exp(-math.Abs(x-y))) }

// likelySize returns the size of the whisper under sizes of [Model.evidence]: the exponential of its mean logarithm.
func (m *Model) likelySize(sizes []float64) float64 {
	total, mean := floats.LogSumExp(sizes), 0.0
	for k, v := range sizes {
		mean += math.Exp(v-total) * math.Log(m.sizes[k])
	}
	return math.Exp(mean)
}

// logMeanExp returns log of the mean of e^{κ·x}.
func logMeanExp(x []float64, kappa float64) float64 {
	top, sum := slices.Max(x), 0.0
	for _, v := range x {
		sum += math.Exp(kappa * (v - top))
	}
	return kappa*top + math.Log(sum/float64(len(x)))
}

// saidYes returns who says yes, and an error for answers that are none.
func (m *Model) saidYes(answers []Answer) ([]int32, error) {
	if len(answers) != len(m.labels) {
		return nil, fmt.Errorf("%w: %d answers for %d people", ErrInvalid, len(answers), len(m.labels))
	}
	var yes []int32
	for i, a := range answers {
		switch {
		case a != Yes && a != No && a != NoAnswer:
			return nil, fmt.Errorf("%w: the answer of node %d is %d", ErrInvalid, i, a)
		case (a != NoAnswer) != m.isAsked(i):
			return nil, fmt.Errorf("%w: node %d was asked or answered, and not both", ErrInvalid, i)
		case a == Yes:
			yes = append(yes, int32(i))
		}
	}
	return yes, nil
}

// Answer is what a person says.
type Answer int8

// The answers.
const (
	NoAnswer Answer = iota // not asked, or no answer: left out
	No
	Yes
)

// askedCount returns how many people answer.
func (m *Model) askedCount() int {
	sum := 0
	for _, k := range m.askedOf {
		sum += k
	}
	return sum
}

// unbiased returns the number of people of each community who have really heard, as z = Σ (y − f)/(1 − 2f), and in all.
func (m *Model) unbiased(yes []int32) (by []float64, all float64) {
	by = make([]float64, len(m.orders))
	for c, k := range m.askedOf {
		by[c] = -m.flip * float64(k)
	}
	for _, i := range yes {
		by[m.labels[i]]++
	}
	for c := range by {
		by[c] /= 1 - 2*m.flip
		all += by[c]
	}
	return by, all
}
