// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"errors"
)

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

func (s *search) narrow(ctx context.Context) error {
	read := func(ctx context.Context) error { return s.readEdges(ctx, readProducts, readKept) }
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
