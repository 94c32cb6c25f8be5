// SPDX-License-Identifier: Apache-2.0

package community

import (
	"context"
	"math"
	"math/rand/v2"
)

// minMoveGain is the least gain that moves a node, relative to its degree: a smaller
// gain may be rounding of the sums, and nodes could move forever.
const minMoveGain = 1e-10

// move moves nodes, in random order, to the community with the largest gain of the
// objective, until none gains; a node is queued again when a neighbour left its community.
// It changes c in place.
func (s *search) move(l *level, c []int32) error {
	n := l.order()
	total, members := make([]float64, n), make([]int32, n)
	for v, x := range c {
		total[x] += l.size[v]
		members[x]++
	}
	var empty []int32
	for x := range n {
		if members[x] == 0 {
			empty = append(empty, int32(x))
		}
	}
	queue, waiting := s.shuffled(n), make([]bool, n)
	for v := range waiting {
		waiting[v] = true
	}
	for head, held, steps := 0, n, 0; held > 0; steps++ {
		if steps%4096 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		v := queue[head]
		if head++; head == n {
			head = 0
		}
		held--
		waiting[v] = false

		from := c[v]
		total[from] -= l.size[v]
		to := s.best(l, c, v, total)
		if to < 0 { // a community of its own
			to = from
			if members[from] > 1 {
				to, empty = empty[len(empty)-1], empty[:len(empty)-1]
			}
		}
		total[to] += l.size[v]
		if to == from {
			continue
		}
		c[v] = to
		members[to]++
		if members[from]--; members[from] == 0 {
			empty = append(empty, from)
		}
		for k := l.ptr[v]; k < l.ptr[v+1]; k++ {
			if u := l.adj[k]; c[u] != to && !waiting[u] {
				waiting[u] = true
				queue[(head+held)%n] = u
				held++
			}
		}
	}
	return nil
}

// best returns the community with the largest gain for v, which is taken out of its own,
// or −1 for a new one. Another is preferred to its own only by more than minMoveGain.
func (s *search) best(l *level, c []int32, v int32, total []float64) int32 {
	around := s.gather
	around.clear()
	degree := 0.0
	for k := l.ptr[v]; k < l.ptr[v+1]; k++ {
		w := l.weightAt(k)
		degree += w
		around.add(c[l.adj[k]], w)
	}
	factor := s.penalty * l.size[v]
	own := c[v]
	least := minMoveGain * degree
	best, gain := own, around.sum[own]-factor*total[own]
	stay := gain
	for _, x := range around.keys {
		if g := around.sum[x] - factor*total[x]; g > gain && g > stay+least {
			best, gain = x, g
		}
	}
	if gain < -least {
		return -1
	}
	return best
}

func (s *search) shuffled(n int) []int32 {
	order := singletons(n)
	s.random.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// refine splits every community of c into connected parts: a node whose part is
// still a singleton joins a part of its community with probability ∝ e^{gain/θ}, if
// both are well connected to the rest of it. Parts are numbered by one of their
// nodes.
func (s *search) refine(l *level, c []int32) ([]int32, error) {
	n := l.order()
	part := singletons(n)
	alone := make([]bool, n)
	total := make([]float64, n) // of a community
	for v, x := range c {
		alone[v] = true
		total[x] += l.size[v]
	}
	size := append([]float64(nil), l.size...) // of a part
	cut := s.cuts(l, c)                       // weight from a part to the rest of its community
	connected := func(p int32, whole float64) bool {
		return cut[p] >= s.penalty*size[p]*(whole-size[p])
	}
	var odds []float64
	for step, v := range s.shuffled(n) {
		if step%4096 == 0 && s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		whole := total[c[v]]
		if !alone[v] || !connected(v, whole) {
			continue
		}
		around := s.gather
		around.clear()
		for k := l.ptr[v]; k < l.ptr[v+1]; k++ {
			if u := l.adj[k]; c[u] == c[v] {
				around.add(part[u], l.weightAt(k))
			}
		}
		odds = odds[:0]
		for _, p := range around.keys {
			gain := around.sum[p] - s.penalty*l.size[v]*size[p]
			if gain < 0 || !connected(p, whole) {
				gain = math.Inf(-1)
			}
			odds = append(odds, gain)
		}
		k := s.draw(odds)
		if k < 0 {
			continue
		}
		p := around.keys[k]
		part[v], alone[v], alone[p] = p, false, false
		size[p] += l.size[v]
		cut[p] += cut[v] - 2*around.sum[p]
	}
	return part, nil
}

// cuts returns the weight from each node to the others of its community.
func (s *search) cuts(l *level, c []int32) []float64 {
	cut := make([]float64, l.order())
	for v := range cut {
		for k := l.ptr[v]; k < l.ptr[v+1]; k++ {
			if c[l.adj[k]] == c[v] {
				cut[v] += l.weightAt(k)
			}
		}
	}
	return cut
}

// draw returns k with probability ∝ e^{gain_k/θ}, or −1, whose gain is 0.
// It overwrites the gains.
func (s *search) draw(gain []float64) int {
	top := 0.0
	for _, x := range gain {
		top = max(top, x)
	}
	sum := math.Exp(-top / s.theta)
	for k, x := range gain {
		sum += math.Exp((x - top) / s.theta)
		gain[k] = sum
	}
	at := s.random.Float64() * sum
	for k, x := range gain {
		// The first piece, up to the start of gain₀, belongs to −1.
		if k == 0 && at < math.Exp(-top/s.theta) {
			return -1
		}
		if at < x {
			return k
		}
	}
	return -1
}

// search is the state that the levels share.
type search struct {
	ctx            context.Context
	random         *rand.Rand
	penalty, theta float64
	gather         *gather
}

func singletons(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}
