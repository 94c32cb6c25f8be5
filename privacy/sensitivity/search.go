// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/expm"
)

// search runs the tiers: an O(1) bound for each edge, exact values of a few
// promising ones, parallel paths, Lanczos steps around them where that is cheap, the
// random screen, and exact values of what remains.
func (p *problem) search(ctx context.Context, opts Options) (Bracket, error) {
	s := newSearch(p, opts)
	defer s.release()
	s.boundAll()
	err := s.narrow(ctx)
	if ctx.Err() != nil {
		return Bracket{}, ctx.Err()
	}
	if err != nil && !errors.Is(err, errNoProgress) {
		return Bracket{}, err
	}
	b := s.bracket()
	if math.IsNaN(b.Upper) {
		return Bracket{}, fmt.Errorf("sensitivity: %w: weights of these magnitudes overflow; multiply them all by one number",
			expm.ErrAccuracy)
	}
	return b, nil
}

func (s *search) narrow(ctx context.Context) error {
	for _, tier := range []func(context.Context) error{s.seed, s.parallelPaths, s.screen} {
		if s.dropClosed("bound"); len(s.rest) == 0 {
			return nil
		}
		if err := tier(ctx); err != nil {
			return err
		}
	}
	return nil
}
