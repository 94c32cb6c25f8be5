// SPDX-License-Identifier: Apache-2.0

package whisper

import (
	"math"
	"slices"
)

// width is the number of columns that are computed together.
const width = 16

const (
	// growth is the relative growth of a column's sum in a step. Against steps a hundredth as long the entries of columns of
	// equal sum are off by at most .01: TestStepError.
	growth = .25
	// steepest bounds the part of those who have not heard that may hear in a step.
	steepest = .5
	// full is the chance above which a person may hear for sure in a step.
	full = .99
	// negligible is the chance below which a person is taken for one who has not heard.
	negligible = 1e-4
	// reachable is the share of a component that a size of the grid may take.
	reachable = .9
)

// row holds the values of one node in the columns of a block.
type row [width]float64

// block computes the columns x(i) of up to [width] sources i: x_s(i) is the chance that s has heard of a rumour that i started, by
// the mean field dx/dt = (1 − x) ∘ Ax, at the times at which the sums of a column are given sizes. The mean field
// spreads too fast, and at equal sums is near the chances in cascades of that size. A block is for one worker.
type block struct {
	m     *Model
	place []int32 // of a node among the nodes reached; −1: none
	nodes []int32 // reached
	live  []bool  // whether a value of the row of x is not 0
	x     []row
	flow  []row // A x, then dx/dt, then what the step added to x
	last  []row // dx/dt of the step before

	sum, lastStep, step row
	least               row        // rise of a value from 0 that is kept
	next                [width]int // size of the grid that a column comes to next
}

func (m *Model) newBlock() *block {
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
	b.sum, b.lastStep, b.step = row{}, row{}, row{}
	b.next = [width]int{}
	for c, i := range sources {
		k := b.reach(i)
		b.x[k][c], b.live[k], b.sum[c], b.least[c] = 1, true, 1, negligible*growth
	}
}

// reach returns the place of a node.
func (b *block) reach(i int32) int32 {
	k := b.place[i]
	if k < 0 {
		k = int32(len(b.nodes))
		b.place[i] = k
		b.nodes, b.live = append(b.nodes, i), append(b.live, false)
		b.x, b.flow, b.last = append(b.x, row{}), append(b.flow, row{}), append(b.last, row{})
	}
	return k
}

// sizes returns the sizes of the grid that a cascade from the source can have: those well below its component, and at
// least the smallest, or what there is of it.
func (m *Model) sizesFrom(source int32) int {
	k, _ := slices.BinarySearch(m.sizes, reachable*float64(m.components[m.component[source]]))
	return max(1, k)
}

// target returns the k-th sum at which the column of a source is read.
func (m *Model) target(source int32, k int) float64 {
	return max(1, min(m.sizes[k], reachable*float64(m.components[m.component[source]])))
}

// columns calls emit once for every source and every size of the grid that is possible from it: column c, the k-th size,
// and the share of the last step at which the column has that sum. [block.value] has its values.
func (b *block) columns(sources []int32, emit func(c, k int, share float64)) {
	b.reset(sources)
	open := len(sources)
	var targets [width]float64
	var sizes [width]int
	advance := func(c int) {
		if b.next[c]++; b.next[c] == sizes[c] {
			open--
			b.step[c] = 0
			return
		}
		targets[c] = b.m.target(sources[c], b.next[c])
	}
	for c, i := range sources {
		sizes[c], targets[c] = b.m.sizesFrom(i), b.m.target(i, 0)
		for b.next[c] < sizes[c] && targets[c] <= 1 {
			emit(c, b.next[c], 1)
			advance(c)
		}
	}
	for open > 0 {
		b.derive()
		var done row
		for c := range sources {
			if b.next[c] == sizes[c] {
				done[c] = 1
			}
		}
		before := b.sum
		b.advance(&done)
		for c := range sources {
			for b.next[c] < sizes[c] && (targets[c] <= b.sum[c] || b.step[c] == 0) {
				share := 1.0
				if b.sum[c] > before[c] {
					share = min(1, (targets[c]-before[c])/(b.sum[c]-before[c]))
				}
				emit(c, b.next[c], share)
				advance(c)
			}
		}
	}
}

// derive sets flow to A x.
func (b *block) derive() {
	clear(b.flow)
	for k := range b.live[:len(b.live)] { // those that are reached below are not live
		if !b.live[k] {
			continue
		}
		i := b.nodes[k]
		for e := b.m.ptr[i]; e < b.m.ptr[i+1]; e++ {
			to := b.reach(b.m.adj[e])
			from, into := &b.x[k], &b.flow[to]
			if b.m.rate == nil {
				for c := range into {
					into[c] += from[c]
				}
				continue
			}
			w := b.m.rate[e]
			for c := range into {
				into[c] += w * from[c]
			}
		}
	}
}

// advance takes one step of each column that is not done: that of Adams and Bashforth of order two, whose length lets
// the sum grow by its share. Values stay within [x, 1].
func (b *block) advance(done *row) {
	var rise, most row
	for k := range b.flow {
		x, flow := &b.x[k], &b.flow[k]
		for c := range flow {
			if x[c] < full {
				most[c] = max(most[c], flow[c])
			}
			flow[c] *= 1 - x[c]
			rise[c] += flow[c]
		}
	}
	var now, then row
	for c := range rise {
		b.lastStep[c] = b.step[c]
		b.step[c] = 0
		if done[c] == 1 || rise[c] == 0 {
			continue
		}
		h := growth * b.sum[c] / rise[c]
		if most[c] > 0 {
			h = min(h, steepest/most[c])
		}
		now[c] = h
		if b.lastStep[c] > 0 {
			h = min(h, 2*b.lastStep[c])
			r := h / b.lastStep[c]
			now[c], then[c] = h*(1+r/2), h*r/2
		}
		b.step[c] = h
	}
	before := b.sum
	b.sum = row{}
	for k := range b.x {
		x, flow, last := &b.x[k], &b.flow[k], &b.last[k]
		live := false
		for c := range x {
			d := now[c]*flow[c] - then[c]*last[c]
			last[c] = flow[c]
			if x[c] == 0 && d < b.least[c] {
				d = 0
			}
			d = max(0, min(d, 1-x[c]))
			flow[c] = d
			x[c] += d
			b.sum[c] += x[c]
			live = live || x[c] > 0
		}
		b.live[k] = live
	}
	for c, h := range b.step {
		if b.sum[c]-before[c] < h*rise[c]/4 { // most of it was spread too thinly
			b.least[c] /= 4
		}
	}
}

// value is that of a node at a share of the last step.
func (b *block) value(place, c int, share float64) float64 {
	return math.FMA(share-1, b.flow[place][c], b.x[place][c])
}
