// SPDX-License-Identifier: Apache-2.0

package whisper

import (
	"math"
	"slices"
)

// fromEach is the number of nodes that are sampled from each community, or fewer on large graphs of more than 512 communities.
const fromEach = 8

// sampleWork bounds the nodes of a sample times those of the graph: a column may reach everybody.
const sampleWork = 1 << 29

// within returns at most most, and on a large graph what sampleWork allows, 256 or more.
func (m *Model) within(most int) int {
	if !m.sampled {
		return most
	}
	return min(most, max(256, sampleWork/len(m.labels)))
}

// sources are nodes, and of how many each is the sample; nil: of itself.
type sources struct {
	nodes []int32
	each  []float64
}

func (s sources) logEach(k int) float64 {
	if s.each == nil {
		return 0
	}
	return math.Log(s.each[k])
}

// sample returns at most about most nodes, evenly from each community, and how many nodes each of them stands for.
func (m *Model) sample(most int) (sources []int32, each []float64) {
	n := len(m.labels)
	taken, met, atLeast := make([]int, len(m.orders)), make([]int, len(m.orders)), fromEach
	if m.sampled {
		atLeast = max(1, min(fromEach, 4*most/len(m.orders)))
	}
	for c, k := range m.orders {
		taken[c] = k
		if n > most {
			taken[c] = min(k, max(atLeast, int(float64(most)*float64(k)/float64(n))))
		}
	}
	for _, i := range m.order { // the k-th of a community where ⌊k·taken/order⌋ goes up
		c := m.labels[i]
		met[c]++
		if met[c]*taken[c]/m.orders[c] > (met[c]-1)*taken[c]/m.orders[c] {
			sources = append(sources, i)
			each = append(each, float64(m.orders[c])/float64(taken[c]))
		}
	}
	return sources, each
}

// spreadOut gives every node the value of the next of some nodes of its community in the order of neighbourhoods. The nodes are in that
// order, the last node of each community among them.
func (m *Model) spreadOut(nodes []int32, values []float64) []float64 {
	out, next, at := make([]float64, len(m.labels)), make([]float64, len(m.orders)), len(nodes)-1
	for _, i := range slices.Backward(m.order) {
		c := m.labels[i]
		if at >= 0 && nodes[at] == i {
			next[c] = values[at]
			at--
		}
		out[i] = next[c]
	}
	return out
}
