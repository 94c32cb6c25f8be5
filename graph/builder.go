// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Errors of a [Builder]; a connector drops or refuses by them.
var (
	ErrDuplicateNode = errors.New("graph: node id given twice")
	ErrUnknownNode   = errors.New("graph: no such node")
	ErrBadWeight     = errors.New("graph: weight is not a positive finite number")
	ErrBadLength     = errors.New("graph: length is not a positive finite number")
	ErrParallel      = errors.New("graph: parallel relationships")
	ErrTooLarge      = errors.New("graph: more than 2³¹−1 nodes")
)

// Aggregation says what becomes of the weights of parallel relationships (GDS
// parameter aggregation). Their lengths always become the least: a shortest path
// takes the shortest of them.
type Aggregation int

// The aggregations of GDS.
const (
	Sum    Aggregation = iota // add the weights
	Min                       // least weight
	Max                       // largest weight
	Single                    // any one of them; here the least, so that order does not matter
	Count                     // number of relationships, weights ignored
	None                      // refuse parallel relationships
)

var aggregationNames = []string{"SUM", "MIN", "MAX", "SINGLE", "COUNT", "NONE"}

func (a Aggregation) String() string { return aggregationNames[a] }

// ParseAggregation reads a GDS name such as SUM.
func ParseAggregation(s string) (Aggregation, error) {
	if i := slices.Index(aggregationNames, s); i >= 0 {
		return Aggregation(i), nil
	}
	return 0, fmt.Errorf("graph: aggregation is %q, want one of %v", s, aggregationNames)
}

// Builder collects nodes and relationships. The zero value adds up the weights
// of parallel relationships.
type Builder struct {
	Aggregation Aggregation

	ids       []ID
	handle    map[ID]int32
	src, dst  []int32
	weight    []float64 // nil until a weight differs from 1
	length    []float64 // nil until a length differs from 1
	selfLoops int
}

// AddNode adds a node and returns its handle, which [Builder.Connect] takes.
func (b *Builder) AddNode(id ID) (int, error) {
	if len(b.ids) == math.MaxInt32 {
		return 0, ErrTooLarge
	}
	if b.handle == nil {
		b.handle = make(map[ID]int32)
	}
	if _, ok := b.handle[id]; ok {
		return 0, fmt.Errorf("%w: %q", ErrDuplicateNode, clip(id))
	}
	h := len(b.ids)
	b.handle[id] = int32(h)
	b.ids = append(b.ids, id)
	return h, nil
}

// clip keeps an error message readable when an id is huge.
func clip(id ID) ID {
	if len(id) <= 80 {
		return id
	}
	return id[:80] + "…"
}

// Handle returns the handle of a node that was added.
func (b *Builder) Handle(id ID) (int, bool) {
	h, ok := b.handle[id]
	return int(h), ok
}

// AddEdge joins two nodes, which must have been added, with a weight and length 1.
func (b *Builder) AddEdge(u, v ID, weight float64) error {
	hu, ok := b.handle[u]
	if !ok {
		return fmt.Errorf("%w: %q", ErrUnknownNode, clip(u))
	}
	hv, ok := b.handle[v]
	if !ok {
		return fmt.Errorf("%w: %q", ErrUnknownNode, clip(v))
	}
	return b.Connect(int(hu), int(hv), weight, 1)
}

// Connect joins two nodes by their handles. A self-loop is dropped and counted:
// it adds nothing to D − W.
func (b *Builder) Connect(u, v int, weight, length float64) error {
	if !(weight > 0) || math.IsInf(weight, 1) {
		return fmt.Errorf("%w: %v", ErrBadWeight, weight)
	}
	if !(length > 0) || math.IsInf(length, 1) {
		return fmt.Errorf("%w: %v", ErrBadLength, length)
	}
	if u < 0 || v < 0 || u >= len(b.ids) || v >= len(b.ids) {
		return fmt.Errorf("%w: handle %d or %d of %d", ErrUnknownNode, u, v, len(b.ids))
	}
	if u == v {
		b.selfLoops++
		return nil
	}
	b.weight = appendUnlessOne(b.weight, len(b.src), weight)
	b.length = appendUnlessOne(b.length, len(b.src), length)
	b.src = append(b.src, int32(u))
	b.dst = append(b.dst, int32(v))
	return nil
}

// appendUnlessOne keeps s nil while all its n values are 1.
func appendUnlessOne(s []float64, n int, x float64) []float64 {
	if s == nil {
		if x == 1 {
			return nil
		}
		s = ones(n)
	}
	return append(s, x)
}

func ones(n int) []float64 {
	s := make([]float64, n, n+1)
	for i := range s {
		s[i] = 1
	}
	return s
}

// Graph builds the graph by a counting sort and empties the builder. At its peak
// it holds the relationships as given and the finished rows, no third copy.
func (b *Builder) Graph() (*Graph, error) {
	g := &Graph{ids: b.ids, dropped: Dropped{SelfLoops: b.selfLoops}}
	rank := b.rank()
	slices.SortFunc(g.ids, compareIDs)
	g.fill(rank, b.src, b.dst, b.weight, b.length)
	aggregation := b.Aggregation
	*b = Builder{Aggregation: aggregation}
	if err := g.merge(aggregation); err != nil {
		return nil, err
	}
	return g, nil
}

// rank returns the place of each handle in the order of the ids.
func (b *Builder) rank() []int32 {
	order := make([]int32, len(b.ids))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(x, y int32) int { return compareIDs(b.ids[x], b.ids[y]) })
	rank := make([]int32, len(order))
	for r, h := range order {
		rank[h] = int32(r)
	}
	return rank
}

// fill stores every relationship in both its rows, unsorted.
func (g *Graph) fill(rank, src, dst []int32, weight, length []float64) {
	n := len(g.ids)
	g.ptr = make([]int64, n+1)
	for k := range src {
		g.ptr[rank[src[k]]+1]++
		g.ptr[rank[dst[k]]+1]++
	}
	for i := range n {
		g.ptr[i+1] += g.ptr[i]
	}
	g.adj = make([]int32, 2*len(src))
	if weight != nil {
		g.weight = make([]float64, len(g.adj))
	}
	if length != nil {
		g.length = make([]float64, len(g.adj))
	}
	next := slices.Clone(g.ptr[:n])
	put := func(row, col int32, k int) {
		at := next[row]
		next[row]++
		g.adj[at] = col
		if weight != nil {
			g.weight[at] = weight[k]
		}
		if length != nil {
			g.length[at] = length[k]
		}
	}
	for k := range src {
		u, v := rank[src[k]], rank[dst[k]]
		put(u, v, k)
		put(v, u, k)
	}
}

type entry struct {
	col            int32
	weight, length float64
}

// merge sorts each row and merges parallel relationships in place. Weights are
// added in ascending order, so that the sum has the same bits in both rows and
// in whatever order the relationships came.
func (g *Graph) merge(a Aggregation) error {
	if g.weight == nil && (a == Sum || a == Count) && g.hasParallel() {
		g.weight = ones(len(g.adj))
	}
	var row []entry
	var at int64
	begin := int64(0)
	for i := range g.ids {
		end := g.ptr[i+1]
		row = g.sortedRow(row, begin, end)
		begin = end
		for k := 0; k < len(row); {
			e, run := row[k], k+1
			for run < len(row) && row[run].col == e.col {
				run++
			}
			if run > k+1 {
				if a == None {
					return fmt.Errorf("%w between %q and %q", ErrParallel, clip(g.ids[i]), clip(g.ids[e.col]))
				}
				g.dropped.Parallel += run - k - 1
				e = combine(row[k:run], a)
			} else if a == Count {
				e.weight = 1
			}
			if math.IsInf(e.weight, 1) {
				return fmt.Errorf("%w: the sum between %q and %q overflows", ErrBadWeight, clip(g.ids[i]), clip(g.ids[e.col]))
			}
			g.adj[at] = e.col
			if g.weight != nil {
				g.weight[at] = e.weight
			}
			if g.length != nil {
				g.length[at] = e.length
			}
			at++
			k = run
		}
		g.ptr[i+1] = at
	}
	g.dropped.Parallel /= 2 // every relationship stands in two rows
	g.adj = g.adj[:at:at]
	g.weight = dropOnes(g.weight, at)
	g.length = dropOnes(g.length, at)
	return nil
}

// dropOnes cuts s to n values, and to nil where all are 1: the form must not
// depend on how the values came about.
func dropOnes(s []float64, n int64) []float64 {
	if s == nil || !slices.ContainsFunc(s[:n], func(x float64) bool { return x != 1 }) {
		return nil
	}
	return s[:n:n]
}

// sortedRow returns the entries of one unsorted row, in ascending order of
// (neighbour, weight, length), in the space of row.
func (g *Graph) sortedRow(row []entry, begin, end int64) []entry {
	row = row[:0]
	for k := begin; k < end; k++ {
		e := entry{col: g.adj[k], weight: 1, length: 1}
		if g.weight != nil {
			e.weight = g.weight[k]
		}
		if g.length != nil {
			e.length = g.length[k]
		}
		row = append(row, e)
	}
	slices.SortFunc(row, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.col, y.col), cmp.Compare(x.weight, y.weight), cmp.Compare(x.length, y.length))
	})
	return row
}

func (g *Graph) hasParallel() bool {
	seen := make([]int32, len(g.ids)) // 1 + the last row in which this column stood
	for i := range g.ids {
		for k := g.ptr[i]; k < g.ptr[i+1]; k++ {
			if seen[g.adj[k]] == int32(i)+1 {
				return true
			}
			seen[g.adj[k]] = int32(i) + 1
		}
	}
	return false
}

// combine merges parallel entries, sorted by weight.
func combine(parallel []entry, a Aggregation) entry {
	e := parallel[0] // the least weight
	sum := 0.0
	for _, p := range parallel {
		sum += p.weight
		e.length = min(e.length, p.length)
	}
	switch a {
	case Sum:
		e.weight = sum
	case Count:
		e.weight = float64(len(parallel))
	case Max:
		e.weight = parallel[len(parallel)-1].weight
	}
	return e
}
