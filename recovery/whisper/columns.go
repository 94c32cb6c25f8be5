// SPDX-License-Identifier: Apache-2.0

package whisper

import (
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/graph"
)

// width bounds the columns that are computed together.
const width = 16

const (
	// growth is the relative growth of a column's sum in a step. Against steps a hundredth as long the entries of columns of
	// equal sum are off by at most .04: TestStepError.
	growth = .2
	// quickening is the relative change of the rate of growth in a step, as the step before lets it be expected.
	quickening = .3
	// patience is the number of steps after which only the sum's growth bounds them: weights of many magnitudes would take forever.
	patience = 5000
	// start is the length of the first step, whose rates are those at its beginning, relative to what growth allows.
	start = .2
	// steepest bounds the rate at which somebody hears, and that of a relationship of theirs, times the step.
	steepest = .3
	// full is the chance above which a person may hear for sure in a step.
	full = .99
	// negligible is the chance below which a person is taken for one who has not heard, and coarse that on large graphs.
	negligible, coarse = 1e-4, 1e-3
	// reachable is the share of a component that a size of the grid may take.
	reachable = .9
)

// spread is a public model of how a rumour spreads.
type spread struct {
	ptr        []int64
	adj        []int32
	rate       []float64 // nil: all 1
	fastest    []float64 // largest rate of a node's relationships
	component  []int32
	components []int     // their sizes
	sizes      []float64 // numbers of people who have heard, ascending
	negligible float64
}

// newSpread prepares all but sizes.
func newSpread(g *graph.Graph) spread {
	var m spread
	var weight []float64
	m.ptr, m.adj, weight = g.CSR()
	m.rate = relativeRates(weight)
	m.fastest = make([]float64, g.Order())
	for i := range m.fastest {
		for e := m.ptr[i]; e < m.ptr[i+1]; e++ {
			rate := 1.0
			if m.rate != nil {
				rate = m.rate[e]
			}
			m.fastest[i] = max(m.fastest[i], rate)
		}
	}
	m.component, m.components = g.Components()
	m.negligible = negligible
	return m
}

// row holds a value for each column of a block.
type row [width]float64

// block computes the columns x(i) of up to [width] sources i: x_s(i) is the chance that s has heard of a rumour that i started, by
// the mean field dx/dt = (1 − x) ∘ Ax, at the times at which the sums of a column are given sizes. The mean field
// spreads too fast, and at equal sums is near the chances in cascades of that size. A block is for one worker.
type block struct {
	m     *spread
	place []int32   // of a node among the nodes reached; −1: none
	nodes []int32   // reached
	live  []bool    // whether a value of x is not 0
	x     []float64 // of each place the values of all columns
	flow  []float64 // A x, then what the step added to x
	last  []float64 // A x of the step before

	count           int // of columns
	sum, step, rise row // rise: dΣx/dt at the step before
	steps           int
	least           row        // rise of a value from 0 that is kept
	next            [width]int // size of the grid that a column comes to next
}

func (m *spread) newBlock() *block {
	b := &block{m: m, place: make([]int32, len(m.ptr)-1)}
	for i := range b.place {
		b.place[i] = -1
	}
	return b
}

// reset forgets the columns before and starts at the sources.
func (b *block) reset(sources []int32) {
	for _, i := range b.nodes {
		b.place[i] = -1
	}
	b.nodes, b.live = b.nodes[:0], b.live[:0]
	b.x, b.flow, b.last = b.x[:0], b.flow[:0], b.last[:0]
	b.count, b.sum, b.step, b.steps = len(sources), row{}, row{}, 0
	b.next = [width]int{}
	for c, i := range sources {
		k := b.reach(i)
		b.x[int(k)*b.count+c], b.live[k], b.sum[c], b.least[c] = 1, true, 1, b.m.negligible
	}
}

// reach returns the place of a node.
func (b *block) reach(i int32) int32 {
	k := b.place[i]
	if k < 0 {
		k = int32(len(b.nodes))
		b.place[i] = k
		b.nodes, b.live = append(b.nodes, i), append(b.live, false)
		none := row{}
		b.x, b.flow, b.last = append(b.x, none[:b.count]...), append(b.flow, none[:b.count]...), append(b.last, none[:b.count]...)
	}
	return k
}

// at returns the part of x, flow or last that belongs to a place.
func (b *block) at(values []float64, place int) []float64 { return values[place*b.count:][:b.count] }

// sizesFrom returns how many sizes of the grid a cascade from the source can have: those well below its component, and at
// least the smallest, or what there is of it.
func (m *spread) sizesFrom(source int32) int {
	k, _ := slices.BinarySearch(m.sizes, reachable*float64(m.components[m.component[source]]))
	return max(1, k)
}

// target returns the k-th sum at which the column of a source is read.
func (m *spread) target(source int32, k int) float64 {
	return max(1, min(m.sizes[k], reachable*float64(m.components[m.component[source]])))
}

// reading is a column at a size of the grid: the chance at the place of a node.
type reading func(place int) float64

// columns calls emit once for every source and every size of the grid that is possible from it: column c, the k-th size.
func (b *block) columns(sources []int32, emit func(c, k int, x reading)) {
	b.reset(sources)
	done := row{} // 1: every size was read
	for c := len(sources); c < width; c++ {
		done[c] = 1
	}
	before := row{}
	for done != (row{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}) {
		for c, i := range sources {
			for done[c] == 0 {
				target := b.m.target(i, b.next[c])
				if target > b.sum[c] && (b.step[c] > 0 || b.sum[c] == 1) {
					break
				}
				share := 1.0
				if b.sum[c] > before[c] {
					share = min(1, (target-before[c])/(b.sum[c]-before[c]))
				}
				emit(c, b.next[c], func(place int) float64 { return math.FMA(share-1, b.flow[place*b.count+c], b.x[place*b.count+c]) })
				if b.next[c]++; b.next[c] == b.m.sizesFrom(i) {
					done[c] = 1
				}
			}
		}
		before = b.sum
		b.derive()
		b.advance(&done)
	}
}

// derive sets flow to A x.
func (b *block) derive() {
	clear(b.flow)
	for k := range b.live { // those that are reached below are not live
		if !b.live[k] {
			continue
		}
		i, from := b.nodes[k], b.at(b.x, k) // reaching others may move x, and leaves its values
		for e := b.m.ptr[i]; e < b.m.ptr[i+1]; e++ {
			to := b.reach(b.m.adj[e])
			into := b.flow[int(to)*b.count:][:len(from)]
			if b.m.rate == nil {
				for c, x := range from {
					into[c] += x
				}
				continue
			}
			w := b.m.rate[e]
			for c, x := range from {
				into[c] += w * x
			}
		}
	}
}

// advance takes one step of each column that is not done. With z the rates by the method of Adams and Bashforth of order two, times
// the step, those who have not heard get fewer by e^{-z}, to order three. The step lets the sum grow by its share.
func (b *block) advance(done *row) {
	var rise, most row
	for k, i := range b.nodes {
		flow, fastest := b.at(b.flow, k), b.m.fastest[i]
		for c, x := range b.at(b.x, k) {
			if x < full {
				most[c] = max(most[c], flow[c])
				if x > 0 {
					most[c] = max(most[c], fastest)
				}
			}
			rise[c] += flow[c] * (1 - x)
		}
	}
	b.steps++
	var now, then row
	for c := range rise {
		last := b.step[c]
		b.step[c] = 0
		if done[c] == 1 || rise[c] == 0 {
			continue
		}
		h := growth * b.sum[c] / rise[c]
		if b.steps < patience {
			h = min(h, steepest/most[c]) // +Inf where all are full
		}
		if last == 0 {
			h *= start
			now[c] = h
		} else {
			h = min(h, 2*last)
			if b.steps < patience {
				h = min(h, quickening*last*b.rise[c]/math.Abs(rise[c]-b.rise[c]))
			}
			now[c], then[c] = h*(1+h/last/2), h*h/last/2
		}
		b.step[c] = h
	}
	before := b.sum
	b.rise, b.sum = rise, row{}
	for k := range b.nodes {
		x, flow, last := b.at(b.x, k), b.at(b.flow, k), b.at(b.last, k)
		live := false
		for c := range x {
			z := max(0, now[c]*flow[c]-then[c]*last[c])
			last[c] = flow[c]
			if x[c] == 0 && z < b.least[c] {
				z = 0
			}
			d := (1 - x[c]) * (1 - 1/(1+z*(1+z*(.5+z/6))))
			flow[c] = d
			x[c] += d
			b.sum[c] += x[c]
			live = live || x[c] > 0
		}
		b.live[k] = live
	}
	for c, h := range b.step {
		if b.sum[c]-before[c] < h*rise[c]/50 { // nearly all of it was spread too thinly
			b.least[c] /= 4
		}
	}
}
