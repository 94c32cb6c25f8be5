// SPDX-License-Identifier: Apache-2.0

package community

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphcloak/graphcloak/graph"
)

// ErrInvalid says that a parameter is out of range, or too large for this graph.
var ErrInvalid = errors.New("community: parameter refused")

// ErrMissing says that some nodes have no community.
var ErrMissing = errors.New("community: nodes without a community")

// Detector finds communities. It is deterministic: one graph and one detector
// give the same partition, bit by bit, at any number of workers. A plan calls it in a goroutine beside its
// other work, so that its progress may be reported at the same time as the plan's;
// and it waits for the detector, which returns soon after its context has ended.
type Detector interface {
	Detect(ctx context.Context, g *graph.Graph) (Partition, error)
}

// Options say where communities come from.
type Options struct {
	Property string   // node property with the name of each node's community; "": detect them
	Detector Detector // nil: Leiden
	Caption  string   // node property that names the members after which detected communities are called; "": their ids
}

// Partition puts every node of a graph into one community. Communities are
// numbered 0 … Count−1 by their lowest node.
type Partition struct {
	Labels     []int    // the community of each node
	Count      int      // number of communities
	Modularity float64  // at resolution γ = 1, whatever the detector maximised
	Names      []string // name of each community; nil where they only have numbers
}

// FromLabels makes a partition of any labelling by numbers.
func FromLabels(g *graph.Graph, labels []int) (Partition, error) {
	if len(labels) != g.Order() {
		return Partition{}, fmt.Errorf("community: %d labels for a graph of order %d", len(labels), g.Order())
	}
	p := Partition{Labels: make([]int, len(labels))}
	number := make(map[int]int)
	for i, l := range labels {
		c, ok := number[l]
		if !ok {
			c = len(number)
			number[l] = c
		}
		p.Labels[i] = c
	}
	p.Count = len(number)
	p.Modularity = Modularity(g, p.Labels, 1)
	return p, nil
}

// FromStrings makes a partition of the values of a node property and keeps them
// as names. A node with the value "" has none: that is [ErrMissing], and the
// message names the first such nodes.
func FromStrings(g *graph.Graph, values []string) (Partition, error) {
	if len(values) != g.Order() {
		return Partition{}, fmt.Errorf("community: %d values for a graph of order %d", len(values), g.Order())
	}
	var missing []string
	absent := 0
	labels := make([]int, len(values))
	number := make(map[string]int)
	var names []string
	for i, v := range values {
		if v == "" {
			if absent++; absent <= 5 {
				missing = append(missing, strconv.Quote(string(g.ID(i))))
			}
			continue
		}
		c, ok := number[v]
		if !ok {
			c = len(names)
			number[v] = c
			names = append(names, v)
		}
		labels[i] = c
	}
	if absent > 0 {
		return Partition{}, fmt.Errorf("%w: %d of %d, first %s", ErrMissing, absent, len(values), strings.Join(missing, ", "))
	}
	return Partition{Labels: labels, Count: len(names), Modularity: Modularity(g, labels, 1), Names: names}, nil
}

// Name returns the name of community c, or its number.
func (p Partition) Name(c int) string {
	if p.Names == nil {
		return strconv.Itoa(c)
	}
	return p.Names[c]
}

// Orders returns the number of nodes of each community.
func (p Partition) Orders() []int {
	orders := make([]int, p.Count)
	for _, c := range p.Labels {
		orders[c]++
	}
	return orders
}

// Sums adds up x, one value a node, by community.
func (p Partition) Sums(x []float64) []float64 {
	sums := make([]float64, p.Count)
	for i, c := range p.Labels {
		sums[c] += x[i]
	}
	return sums
}

// Score is a community and the probability that the source is in it.
type Score struct {
	Community   int
	Name        string
	Order       int // number of nodes
	Probability float64
}

// Rank adds up a posterior, one probability a node, by community, and sorts the
// communities likeliest first, equal ones by number.
func Rank(posterior []float64, p Partition) []Score {
	sums, orders := p.Sums(posterior), p.Orders()
	scores := make([]Score, p.Count)
	for c := range scores {
		scores[c] = Score{Community: c, Name: p.Name(c), Order: orders[c], Probability: sums[c]}
	}
	slices.SortStableFunc(scores, func(a, b Score) int { return cmp.Compare(b.Probability, a.Probability) })
	return scores
}

// Modularity returns
//
//	Q = Σ_c [ W_c/m − γ·(K_c/2m)² ],
//
// with W_c the weight inside community c, K_c the sum of its degrees and m the
// total weight: Newman & Girvan, Physical Review E 69 (2004) 026113, with the
// resolution γ of Reichardt & Bornholdt. It is 0 for a graph without edges.
// Labels are any numbers in 0 … n−1.
func Modularity(g *graph.Graph, labels []int, gamma float64) float64 {
	ptr, adj, weight := g.CSR()
	unit := meanWeight(weight)
	inside, degree := make([]float64, g.Order()), make([]float64, g.Order())
	total := 0.0
	for u := range g.Order() {
		for k := ptr[u]; k < ptr[u+1]; k++ {
			w := 1.0
			if weight != nil {
				w = weight[k] / unit
			}
			total += w
			degree[labels[u]] += w
			if labels[u] == labels[adj[k]] {
				inside[labels[u]] += w
			}
		}
	}
	if total == 0 {
		return 0
	}
	q := 0.0
	for c := range inside {
		q += inside[c]/total - gamma*(degree[c]/total)*(degree[c]/total)
	}
	return q
}

// meanWeight returns the mean of the weights, so that sums of weights in its
// unit neither overflow nor vanish; 1 where every weight is 1.
func meanWeight(weight []float64) float64 {
	mean := 0.0
	for i, w := range weight {
		mean += (w - mean) / float64(i+1)
	}
	if mean == 0 {
		return 1
	}
	return mean
}
