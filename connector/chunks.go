// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
)

// span is the half-open range [lo, hi).
type span struct{ lo, hi int }

// outcome is what one span gave.
type outcome[T any] struct {
	span
	value T
}

// inChunks calls work for disjoint spans that cover [0, n), several at once, and
// hands each result to consume, one at a time and in no particular order. Spans
// start at size and are halved as long as the server is short of memory; each
// session keeps the size that went through. Neighbouring spans go to one session
// where possible, so that two sessions seldom meet at one node.
func inChunks[T any](ctx context.Context, s *Store, stage string, n, size int,
	work func(ctx context.Context, at span) (T, error), consume func(at span, value T) error,
) error {
	s.options.Progress(stage, 0, int64(n))
	if n == 0 {
		return nil
	}
	sessions := min(s.options.Concurrency, (n+size-1)/size)
	group, ctx := errgroup.WithContext(ctx)
	results := make(chan outcome[T])
	var running sync.WaitGroup
	for k := range sessions {
		part := span{n / sessions * k, n / sessions * (k + 1)}
		if k == sessions-1 {
			part.hi = n
		}
		running.Add(1)
		group.Go(func() error {
			defer running.Done()
			return eachChunk(ctx, part, size, work, results)
		})
	}
	go func() {
		running.Wait()
		close(results)
	}()
	group.Go(func() error {
		done := 0
		for r := range results {
			if err := consume(r.span, r.value); err != nil {
				return err
			}
			done += r.hi - r.lo
			s.options.Progress(stage, int64(done), int64(n))
		}
		return nil
	})
	return group.Wait()
}

// eachChunk works through one part in ascending order.
func eachChunk[T any](ctx context.Context, part span, size int,
	work func(ctx context.Context, at span) (T, error), results chan<- outcome[T],
) error {
	for part.lo < part.hi {
		at := span{part.lo, min(part.lo+size, part.hi)}
		value, err := work(ctx, at)
		if isTooLarge(err) && at.hi-at.lo > 1 {
			size = (at.hi - at.lo) / 2
			continue
		}
		if err != nil {
			return err
		}
		select {
		case results <- outcome[T]{at, value}:
		case <-ctx.Done():
			return ctx.Err()
		}
		part.lo = at.hi
	}
	return nil
}
