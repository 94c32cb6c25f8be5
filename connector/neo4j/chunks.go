// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"iter"
	"sync"

	"golang.org/x/sync/errgroup"
)

// span is the half-open range [lo, hi).
type span struct{ lo, hi int64 }

func (at span) len() int64 { return at.hi - at.lo }

// each gives the numbers of a span, ascending.
func (at span) each() iter.Seq[int] {
	return func(yield func(int) bool) {
		for k := at.lo; k < at.hi; k++ {
			if !yield(int(k)) {
				return
			}
		}
	}
}

// outcome is what one span gave.
type outcome[T any] struct {
	span
	value T
}

// task is n units of work, reported under the name of a stage as items: nodes or
// relationships, where a unit is something else.
type task struct {
	stage    string
	n, items int64
}

// each is a task whose units are the items.
func each(stage string, n int) task { return task{stage, int64(n), int64(n)} }

// inChunks calls work for disjoint spans that cover [0, t.n), several at once, and
// hands each result to consume, one at a time and in no particular order. Spans
// start at size and are halved as long as the server is short of memory; each
// session keeps the size that went through. Neighbouring spans go to one session
// where possible, so that two sessions seldom meet at one node.
func inChunks[T any](ctx context.Context, s *Store, t task, size int64,
	work func(ctx context.Context, at span) (T, error), consume func(at span, value T) error,
) error {
	s.options.Progress(t.stage, 0, t.items)
	if t.n == 0 {
		return nil
	}
	sessions := min(int64(s.options.Concurrency), (t.n+size-1)/size)
	group, ctx := errgroup.WithContext(ctx)
	results := make(chan outcome[T])
	var running sync.WaitGroup
	for k := range sessions {
		part := span{t.n / sessions * k, t.n / sessions * (k + 1)}
		if k == sessions-1 {
			part.hi = t.n
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
		done := int64(0)
		for r := range results {
			if err := consume(r.span, r.value); err != nil {
				return err
			}
			done += r.hi - r.lo
			s.options.Progress(t.stage, int64(float64(done)/float64(t.n)*float64(t.items)), t.items)
		}
		return nil
	})
	return group.Wait()
}

// eachChunk works through one part in ascending order.
func eachChunk[T any](ctx context.Context, part span, size int64,
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
