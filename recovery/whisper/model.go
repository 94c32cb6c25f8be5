// SPDX-License-Identifier: Apache-2.0

package whisper

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/graph"
)

// ErrInvalid marks an input that is not well defined: the caller must change it.
var ErrInvalid = errors.New("whisper: invalid input")

// Options of [New], which keeps the slices: the caller must not change them.
type Options struct {
	Flip   float64 // f: the probability that the channel flips an answer, in (0, ½); liars at random are part of it
	Labels []int   // community of each node, 0 … C−1
	Reach  int     // how many have heard, where that is known; 0: from 3 to half of the nodes or MostHeard, log-uniform
	Asked  []bool  // who was or will be asked; nil: everybody
}

// Model is the likelihood of answers given who started a rumour, on one graph. It is safe for concurrent use.
type Model struct {
	spread
	flip               float64
	labels             []int
	orders             []int // of communities
	asked              []bool
	askedOf            []int   // people asked in each community
	smallest, greatest float64 // size of a cascade
	order              []int32 // nodes, those of a neighbourhood together
	sampled            bool    // whether sources are sampled
}

const (
	// least is the smallest number of people of a rumour that is looked for.
	least = 3
	// MostHeard is the largest such number where it is not known.
	MostHeard = 10_000
	// LargeGraph is the number of nodes above which [Model.Locate] samples sources, and chances below 1e-3 are left out of columns.
	LargeGraph = 2 * MostHeard
)

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
	m := &Model{spread: newSpread(g), flip: o.Flip, labels: o.Labels, asked: o.Asked}
	if n > LargeGraph {
		m.sampled, m.negligible = true, coarse
	}
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
	m.smallest, m.greatest = min(least, n), max(min(least, n), min(n/2, MostHeard))
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
