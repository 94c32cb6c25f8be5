// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// search narrows the bracket in tiers. upper[i] is a valid bound on edge i at any time, or 0 where another edge
// has the same norm and no smaller scale; so the largest is valid, and the search may stop after any step.
type search struct {
	*problem
	opts       Options
	upper      []float64
	rest       []int32 // edges whose bound is above the target
	lower      float64
	resolution float64 // bounds below this may be rounding alone
	edge       [2]int
	failure    float64
	diffusion  *expm.Diffusion // the last that was made
	x, y       []float64       // of a block of columns
	blocks     [2]*linop.Block // of x and y; nil: none yet
	krylovs    sync.Pool       // *krylov
	weights    []float64       // see nodeWeights
	weightPeak float64
}

func newSearch(p *problem, opts Options) *search {
	s := &search{problem: p, opts: opts, upper: make([]float64, p.edges.len()), edge: [2]int{-1, -1}}
	s.krylovs.New = func() any { return newKrylov(p) }
	return s
}

// memory returns size values for x (0) or y (1), until release: the same for the same size.
func (s *search) memory(i, size int) []float64 {
	if b := s.blocks[i]; b == nil || cap(b.V) < size {
		if b != nil {
			b.Put()
		}
		s.blocks[i] = linop.GetBlock(size)
	}
	return s.blocks[i].V[:size]
}

func (s *search) release() {
	for _, b := range s.blocks {
		if b != nil {
			b.Put()
		}
	}
	s.x, s.y, s.blocks = nil, nil, [2]*linop.Block{}
}

// errNoProgress says that no tier can narrow the bracket further.
var errNoProgress = errors.New("sensitivity: no tier narrows the bracket further")

// bracket returns what is proved so far.
func (s *search) bracket() Bracket {
	b := Bracket{Lower: s.lower, Edge: s.edge, Failure: s.failure}
	b.Upper = max(max(s.lower, maximum(s.upper))*(1+8*unit), floor)
	return b
}

// target is the bound at which an edge is closed; see bracket for the rounding.
func (s *search) target() float64 {
	switch threshold := s.opts.Threshold; {
	case threshold == 0:
		return max(s.lower*(1+s.opts.Tolerance), s.resolution)
	case s.lower > threshold:
		return math.Inf(1) // refuted: the search is over
	default:
		return threshold * (1 - 16*unit)
	}
}

// dropClosed drops the edges whose bound has reached the target, and reports progress.
func (s *search) dropClosed(stage string) {
	t := s.target()
	s.rest = slices.DeleteFunc(s.rest, func(i int32) bool { return !(s.upper[i] > t) })
	s.opts.Progress(stage, int64(s.edges.len()-len(s.rest)), int64(s.edges.len()))
}

// raiseLower records v as a lower bound of edge i.
func (s *search) raiseLower(i int32, v float64) {
	if e := s.edges.at(i); v > s.lower {
		s.lower, s.edge = v, [2]int{int(e.u), int(e.v)}
	}
}

// boundAll gives every edge its O(1) bounds, see [moments], and lists those above the target.
// With ω the norm is at most √(max ω) times them, and there is no lower bound unless ω is
// uniform. Leaves of one hub with equal weights have equal values, see [problem.dominated].
func (s *search) boundAll() {
	m := s.moments()
	low, i := largestOf(s.edges.len(), boundWork, func(i int) float64 {
		e := s.edges.at(int32(i))
		up, low := m.bounds(e)
		s.upper[i] = s.scaled(e, up)
		return e.scale * math.Sqrt(s.peak*low) * (1 - 64*unit)
	})
	if s.uniform && i >= 0 {
		s.raiseLower(int32(i), low)
	}
	for _, i := range s.dominated(m.ptr) {
		s.upper[i] = 0
	}
	target := s.target()
	s.rest = which(s.edges.len(), func(i int) bool { return s.upper[i] > target })
}
