// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"errors"
	"math"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// search narrows the bracket in tiers. upper[i] is a valid bound on edge i at any time,
// so that the search may stop after any step.
type search struct {
	*problem
	opts       Options
	upper      []float64
	rest       []int32 // edges whose bound is above the target
	lower      float64
	resolution float64 // bounds below this cannot be told from rounding
	edge       [2]int
	failure    float64
	heat       *expm.Diffusion // the last that was made
	x, y       []float64       // of a block of columns
	lent       [2]*linop.Block // of x and y; nil: none yet
	weights    []float64       // see nodeWeights
	weightPeak float64
}

// search runs the tiers: an O(1) bound for each edge, exact values of a few
// promising ones, parallel paths, columns read from neighbourhoods where that is cheap, the
// random screen, and exact values of what remains.
func (p *problem) search(ctx context.Context, opts Options) (Bracket, error) {
	s := &search{problem: p, opts: opts, upper: make([]float64, p.edges.len()), edge: [2]int{-1, -1}}
	defer s.release()
	s.boundAll()
	err := s.narrow(ctx)
	if ctx.Err() != nil {
		return Bracket{}, ctx.Err()
	}
	if err != nil && !errors.Is(err, errNoProgress) {
		return Bracket{}, err
	}
	return s.bracket(), nil
}

// borrow returns memory of size values for x (0) or y (1), until release. The next that asks for the same gets the
// same.
func (s *search) borrow(i, size int) []float64 {
	if b := s.lent[i]; b == nil || cap(b.V) < size {
		if b != nil {
			b.Back()
		}
		s.lent[i] = linop.Borrow(size)
	}
	return s.lent[i].V[:size]
}

func (s *search) release() {
	for _, b := range s.lent {
		if b != nil {
			b.Back()
		}
	}
	s.x, s.y, s.lent = nil, nil, [2]*linop.Block{}
}

// errNoProgress says that no tier can narrow the bracket further.
var errNoProgress = errors.New("sensitivity: no tier narrows the bracket further")

func (s *search) narrow(ctx context.Context) error {
	read := func(ctx context.Context) error { return s.readEdges(ctx, readProducts) }
	for _, tier := range []func(context.Context) error{s.seed, s.parallelPaths, read, s.screen} {
		if s.dropClosed("bound"); len(s.rest) == 0 {
			return nil
		}
		if err := tier(ctx); err != nil {
			return err
		}
	}
	return nil
}

// bracket returns what is proved so far.
func (s *search) bracket() Bracket {
	b := Bracket{Lower: s.lower, Edge: s.edge, Failure: s.failure}
	b.Upper = max(max(s.lower, maximum(s.upper))*(1+8*unit), floor)
	return b
}

// target is the bound at which an edge is closed; see bracket for the rounding.
func (s *search) target() float64 {
	switch enough := s.opts.Threshold; {
	case enough == 0:
		return max(s.lower*(1+s.opts.Tolerance), s.resolution)
	case s.lower > enough:
		return math.Inf(1) // refuted: the search is over
	default:
		return enough * (1 - 16*unit)
	}
}

// dropClosed drops the edges whose bound has reached the target, and reports progress.
func (s *search) dropClosed(stage string) {
	t := s.target()
	s.rest = filter(s.rest, func(i int32) bool { return s.upper[i] > t })
	s.opts.Progress(stage, int64(s.edges.len()-len(s.rest)), int64(s.edges.len()))
	if s.opts.Report != nil { // a bracket reads all bounds
		s.opts.Report(s.bracket())
	}
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

// boundWork is the work of the O(1) bounds of an edge, in values that a loop reads.
const boundWork = 64

// scaled turns a bound on bᵀe^{-2τS}b into one on the ratio of an edge.
func (p *problem) scaled(e edge, up float64) float64 {
	return e.scale * math.Sqrt(p.peak*up) * (1 + 16*unit)
}
