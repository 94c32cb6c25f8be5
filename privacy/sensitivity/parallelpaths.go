// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Limits of the search for detours of one edge; where its goals are more than detourMarks they
// are looked up, not marked.
const (
	detourHops    = 6
	detourEntries = 1 << 12
	detourMarks   = detourEntries / 16
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
	ptr   []int64
	adj   []int32
	val   []float64
	diag  []float64
	queue []visit
	// mark of a node is search where the search came to it, search+1 where it is a goal of
	// it, and less elsewhere: so that one number holds both, and nothing is cleared.
	mark   []uint32
	search uint32
}

// visit is a node that a search came to.
type visit struct {
	node       int32
	hops       int32
	resistance float64 // from the start
}

func newPathFinder(p *problem) *pathFinder {
	f := &pathFinder{problem: p, mark: make([]uint32, p.lap.Order())}
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
	goal := f.row(v)
	hub := len(goal) > detourMarks
	f.begin()
	if !hub {
		f.markGoals(goal)
	}
	f.mark[v] = f.search // paths do not lead through it
	f.visit(u, 0, 0)
	read := 0
	for index := 0; index < len(f.queue) && read < detourEntries; index++ {
		from := f.queue[index]
		if from.hops == detourHops-1 {
			break
		}
		for k, t := range f.row(from.node) {
			mark := f.mark[t]
			if mark == f.search {
				continue
			}
			resistance := from.resistance + 1/f.weight(from.node, k)
			if hub || mark > f.search {
				if last, ok := slices.BinarySearch(goal, t); ok {
					return 1 / (resistance + 1/f.weight(v, last)) * (1 - 32*unit)
				}
			}
			f.visit(t, from.hops+1, resistance)
			if read++; read >= detourEntries {
				break
			}
		}
	}
	return 0
}

// begin begins a search.
func (f *pathFinder) begin() {
	if f.search += 2; f.search >= math.MaxUint32-1 {
		clear(f.mark)
		f.search = 2
	}
	f.queue = f.queue[:0]
}

func (f *pathFinder) markGoals(list []int32) {
	for _, t := range list {
		f.mark[t] = f.search + 1
	}
}

func (f *pathFinder) visit(t, hops int32, resistance float64) {
	f.mark[t] = f.search
	f.queue = append(f.queue, visit{t, hops, resistance})
}
