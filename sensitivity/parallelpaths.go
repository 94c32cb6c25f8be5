// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Limits of the search for detours of one edge.
const (
	detourHops    = 6
	detourEntries = 1 << 12
)

// parallelPaths drops edges by a better bound on the effective resistance: paths that share
// no edge conduct in parallel (Rayleigh's monotonicity; Doyle & Snell, Random Walks
// and Electric Networks, 1984), so that bᵀe^{-2τL}b ≤ 1/(2eτC) with C the weight of
// the edge and the conductance of the detours found: all common neighbours, or else
// one longer path.
func (s *search) parallelPaths(ctx context.Context) error {
	if !s.resistive() {
		return nil
	}
	finders := sync.Pool{New: func() any { return newPathFinder(s.problem) }}
	target := s.target()
	parallel.Rows(len(s.rest), detourEntries, func(lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		f := finders.Get().(*pathFinder)
		for _, i := range s.rest[lo:hi] {
			s.upper[i] = min(s.upper[i], f.bound(s.edges.at(i), target))
		}
		finders.Put(f)
	})
	return ctx.Err()
}

// bound returns a bound on the ratio of e that is at most the target, or +Inf where the
// paths that are looked for cannot give one.
func (f *pathFinder) bound(e edge, target float64) float64 {
	// scale·√(peak/(2eτC)) ≤ target
	ratio := e.scale / target
	need := f.peak * ratio * ratio / (2 * math.E * f.tau) * (1 + 64*unit)
	// The edges at a node are a cut, so that C is at most its degree.
	if need > min(f.diag[e.u], f.diag[e.v]) {
		return math.Inf(1)
	}
	c := f.commonNeighbours(e, need)
	if c == e.b && e.b+f.widest(e) >= need {
		c += f.detour(e)
	}
	return f.scaled(e, 1/(2*math.E*f.tau*c)*(1+64*unit))
}

// widest bounds the conductance of a path of three edges or more between the ends of e: a
// third where all weights are 1, and that of the heaviest edges at the two ends.
func (f *pathFinder) widest(e edge) float64 {
	if f.val == nil {
		return (1 + 8*unit) / 3
	}
	most := func(i int32) float64 { return slices.Max(f.val[f.ptr[i]:f.ptr[i+1]]) }
	return (1 + 8*unit) / (1/most(e.u) + 1/most(e.v))
}

// pathFinder finds paths between the ends of edges.
type pathFinder struct {
	*problem
	ptr        []int64
	adj        []int32
	val        []float64
	diag       []float64
	queue      []int32
	seen       []int32 // the last search that came to a node
	hops       []int8
	resistance []float64 // from the start
	search     int32
}

func newPathFinder(p *problem) *pathFinder {
	n := p.lap.Order()
	f := &pathFinder{problem: p, seen: make([]int32, n), hops: make([]int8, n), resistance: make([]float64, n)}
	f.ptr, f.adj, f.val, f.diag = p.lap.CSR()
	return f
}

func (f *pathFinder) row(i int32) []int32 { return f.adj[f.ptr[i]:f.ptr[i+1]] }

func (f *pathFinder) weight(i int32, k int) float64 {
	if f.val == nil {
		return 1
	}
	return f.val[f.ptr[i]+int64(k)]
}

// commonNeighbours returns the conductance of e and of the paths through common
// neighbours of its ends; it stops once need is reached.
func (f *pathFinder) commonNeighbours(e edge, need float64) float64 {
	u, v, c := e.u, e.v, e.b
	if len(f.row(u)) > len(f.row(v)) {
		u, v = v, u
	}
	long := f.row(v)
	for k, t := range f.row(u) {
		if other, ok := slices.BinarySearch(long, t); ok {
			c += 1 / (1/f.weight(u, k) + 1/f.weight(v, other)) * (1 - 8*unit)
		}
		if c >= need {
			break
		}
	}
	return c
}

// detour returns the conductance of a path of at most detourHops edges between the ends
// of e, or 0. The breadth-first search starts at the end of lower degree.
func (f *pathFinder) detour(e edge) float64 {
	u, v := e.u, e.v
	if len(f.row(u)) > len(f.row(v)) {
		u, v = v, u
	}
	f.search++
	f.visit(u, 0, 0)
	f.queue = append(f.queue[:0], u)
	goal, read := f.row(v), 0
	for index := 0; index < len(f.queue) && read < detourEntries; index++ {
		i := f.queue[index]
		if f.hops[i] == detourHops-1 {
			break
		}
		for k, t := range f.row(i) {
			if f.seen[t] == f.search || t == v {
				continue
			}
			f.visit(t, f.hops[i]+1, f.resistance[i]+1/f.weight(i, k))
			if index, ok := slices.BinarySearch(goal, t); ok {
				return 1 / (f.resistance[t] + 1/f.weight(v, index)) * (1 - 32*unit)
			}
			f.queue = append(f.queue, t)
			if read++; read >= detourEntries {
				break
			}
		}
	}
	return 0
}

func (f *pathFinder) visit(t int32, hops int8, resistance float64) {
	f.seen[t], f.hops[t], f.resistance[t] = f.search, hops, resistance
}
