// SPDX-License-Identifier: Apache-2.0

package parallel_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// fault returns what f panics with.
func fault(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

func panicAtThree(i int) {
	time.Sleep(time.Millisecond)
	if i == 3 {
		panic("inside")
	}
}

// TestPanicOfAWorker: a panic in a loop reaches the goroutine that called it, with its stack, when none
// of the workers runs any more, also through a loop within a loop; and the next loop is whole.
func TestPanicOfAWorker(t *testing.T) {
	loops := map[string]func(f func(i int)){
		"Each": func(f func(i int)) { parallel.Each(64, f) },
		"Rows": func(f func(i int)) { parallel.Rows(64, 1<<14, func(lo, _ int) { f(lo) }) },
		"Sum": func(f func(i int)) {
			parallel.Sum(64, 1<<14, make([]float64, 1), func(lo, _ int, _ []float64) { f(lo) })
		},
		"RowsWith": func(f func(i int)) {
			parallel.RowsWith(64, 1<<14, func() int { return 0 }, func(_, lo, _ int) { f(lo) })
		},
		"nested": func(f func(i int)) { parallel.Each(4, func(int) { parallel.Each(16, f) }) },
	}
	withWorkers(t, func(workers int) {
		for name, loop := range loops {
			var running, done atomic.Int64
			p, ok := fault(func() {
				loop(func(i int) {
					running.Add(1)
					defer running.Add(-1)
					panicAtThree(i)
				})
			}).(*parallel.Panic)
			if !ok || p.Value != "inside" || !strings.Contains(string(p.Stack), "panicAtThree") ||
				!strings.HasPrefix(p.Error(), "inside, in a worker:\n") {
				t.Errorf("%s, %d workers: fault %v", name, workers, p)
			}
			if running.Load() != 0 {
				t.Errorf("%s, %d workers: %d still run", name, workers, running.Load())
			}
			loop(func(int) { done.Add(1) })
			if done.Load() != 64 {
				t.Errorf("%s, %d workers: the next loop did %d of 64", name, workers, done.Load())
			}
		}
	})
}
