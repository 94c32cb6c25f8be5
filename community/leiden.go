// SPDX-License-Identifier: Apache-2.0

package community

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/graph"
)

// Leiden is the algorithm of Traag, Waltman & van Eck, From Louvain to Leiden,
// Scientific Reports 9 (2019) 5233, doi:10.1038/s41598-019-41695-z: nodes move to
// the best neighbouring community, each community is split into well-connected
// parts, the parts become the nodes of the next level. The zero value is the
// recommended detector; the names are those of GDS.
//
// Every community is connected.
type Leiden struct {
	Gamma    float64 // resolution; 0: 1
	Seed     uint64
	Progress func(stage string, done, total int64) // nil: silent
}

// theta is the randomness of the split, in mean weights, and maxLevels bounds the levels of the hierarchy.
const (
	theta     = 0.01
	maxLevels = 10
)

// A detector restarts from its own result, with at most maxPasses passes in all, while a
// pass raises the objective by more than minImprovement, relative: after two or three
// passes the gain is far below the differences between seeds.
const (
	maxPasses      = 10
	minImprovement = 1e-3
)

// On a small graph, where seeds differ most, the best of several starts is taken:
// tries of them while nodes and edges together stay below triesWork.
const (
	tries     = 10
	triesWork = 200_000
)

// Detect finds communities in O(n + m) memory.
func (o Leiden) Detect(ctx context.Context, g *graph.Graph) (Partition, error) {
	if o.Gamma < 0 || math.IsNaN(o.Gamma) || math.IsInf(o.Gamma, 1) {
		return Partition{}, fmt.Errorf("%w: gamma is %v, want a number ≥ 0", ErrInvalid, o.Gamma)
	}
	base, penalty := newLevel(g, o.Gamma)
	if k := floats.Sum(base.size); math.IsInf(penalty*k*k, 1) { // the largest penalty that an objective can hold
		return Partition{}, fmt.Errorf("%w: gamma is %v, too large for this graph and its weights", ErrInvalid, o.Gamma)
	}
	var best []int32
	settings := o
	highest := math.Inf(-1)
	for try := range max(1, min(tries, triesWork/max(1, g.Order()+g.Size()))) {
		s := &search{
			ctx: ctx, random: rand.New(rand.NewPCG(o.Seed, uint64(try))), penalty: penalty, theta: theta,
			gather: newGather(g.Order()),
		}
		labels, reached, err := s.run(g, base, settings)
		settings.Progress = nil // only the first start reports
		if err != nil {
			return Partition{}, err
		}
		if reached > highest {
			best, highest = labels, reached
		}
	}
	return FromLabels(g, toInts(best))
}

// run makes passes from singletons until one improves the objective by less than
// minImprovement, and returns the labels and their objective.
func (s *search) run(g *graph.Graph, base *level, o Leiden) ([]int32, float64, error) {
	labels, reached := singletons(g.Order()), math.Inf(-1)
	for pass := range maxPasses {
		if err := s.unfold(base, labels, o, pass); err != nil {
			return nil, 0, err
		}
		labels = split(g, labels)
		before := reached
		reached = base.objective(labels, s.penalty)
		if reached-before <= minImprovement*math.Abs(reached) {
			break
		}
	}
	return labels, reached, nil
}

func toInts(s []int32) []int {
	w := make([]int, len(s))
	for i, x := range s {
		w[i] = int(x)
	}
	return w
}

// unfold improves labels in place, level by level.
func (s *search) unfold(base *level, labels []int32, o Leiden, pass int) error {
	l, c := base, compact(labels)
	node := singletons(len(labels)) // the node of this level that holds each node of the graph
	for depth := range maxLevels {
		if err := s.move(l, c); err != nil {
			return err
		}
		if o.Progress != nil {
			o.Progress("communities", int64(pass*maxLevels+depth+1), int64(maxPasses*maxLevels))
		}
		count := renumber(c)
		for v := range labels {
			labels[v] = c[node[v]]
		}
		if count == l.order() {
			break
		}
		parts, err := s.refine(l, c)
		if err != nil {
			return err
		}
		size := renumber(parts)
		if size == l.order() { // every part is a single node
			parts, size = c, count
		}
		next := l.aggregate(parts, size, s.gather)
		above := make([]int32, size)
		for v, p := range parts {
			above[p] = c[v]
		}
		for v := range node {
			node[v] = parts[node[v]]
		}
		l, c = next, above
	}
	return nil
}

// compact returns a copy of labels, numbered 0 … by first appearance.
func compact(labels []int32) []int32 {
	c := append([]int32(nil), labels...)
	renumber(c)
	return c
}

// renumber numbers the labels 0 … in the order of their first appearance, and
// returns how many there are. Labels are below len(labels).
func renumber(labels []int32) int {
	number := make([]int32, len(labels))
	count := int32(0)
	for i, l := range labels {
		if number[l] == 0 {
			count++
			number[l] = count
		}
		labels[i] = number[l] - 1
	}
	return int(count)
}

// split separates the connected parts of each community, which lowers no
// objective: no edge is cut and the penalty is convex.
func split(g *graph.Graph, labels []int32) []int32 {
	part := make([]int32, len(labels))
	for i := range part {
		part[i] = -1
	}
	count := int32(0)
	var stack []int32
	for i := range part {
		if part[i] >= 0 {
			continue
		}
		part[i] = count
		stack = append(stack[:0], int32(i))
		for len(stack) > 0 {
			u := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, v := range g.Neighbors(int(u)) {
				if part[v] < 0 && labels[v] == labels[u] {
					part[v] = count
					stack = append(stack, v)
				}
			}
		}
		count++
	}
	return part
}
