// SPDX-License-Identifier: Apache-2.0

package parallel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// sizes are below, at and above the cuts.
var sizes = []int{0, 1, 2, 1 << 10, 1 << 14, 1<<14 + 1, 1 << 17, 3<<20 + 5}

// withWorkers calls f with each number of workers.
func withWorkers(t *testing.T, f func(workers int)) {
	t.Helper()
	for _, workers := range []int{1, 2, 3, 7, 16} {
		before := runtime.GOMAXPROCS(workers)
		f(workers)
		runtime.GOMAXPROCS(before)
	}
}

// Each row is in one range, whatever the number of rows, of workers and the work of a row.
func TestRows(t *testing.T) {
	withWorkers(t, func(workers int) {
		for _, n := range sizes {
			for _, width := range []int{0, 1, 16, 1 << 13} {
				if n*width > 1<<28 {
					continue
				}
				seen := make([]int32, n)
				parallel.Rows(n, width, func(lo, hi int) {
					if lo >= hi {
						t.Errorf("range %d … %d of %d rows is empty", lo, hi, n)
					}
					for i := lo; i < hi; i++ {
						atomic.AddInt32(&seen[i], 1)
					}
				})
				if i := slices.IndexFunc(seen, func(k int32) bool { return k != 1 }); i >= 0 {
					t.Fatalf("%d workers, %d rows of %d: row %d is in %d ranges", workers, n, width, i, seen[i])
				}
			}
		}
	})
}

// Ranges are worked on at the same time: with two workers two ranges meet.
func TestRowsMeet(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	meet := make(chan int)
	parallel.Rows(2, 1<<14, func(lo, _ int) {
		if lo == 0 {
			meet <- 1
		} else {
			<-meet
		}
	})
}

// A sum has the same bits at any number of workers, those of a plain loop where there is one
// range, and the value of the sum.
func TestSum(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, slices.Max(sizes))
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	add := func(lo, hi int, sum []float64) {
		for _, v := range x[lo:hi] {
			sum[0] += v
			sum[1] += v * v
		}
	}
	for _, n := range sizes {
		plain := make([]float64, 2)
		add(0, n, plain)
		var first []float64
		withWorkers(t, func(workers int) {
			sum := []float64{1, 1} // what was there is not counted
			parallel.Sum(n, 1, sum, add)
			if first == nil {
				first = slices.Clone(sum)
			}
			if !slices.Equal(sum, first) {
				t.Errorf("%d rows: %v with %d workers, %v with one", n, sum, workers, first)
			}
		})
		if n <= 1<<14 && !slices.Equal(first, plain) {
			t.Errorf("%d rows: %v, a plain loop %v", n, first, plain)
		}
		if d := math.Abs(first[1] - plain[1]); d > 1e-12*plain[1] {
			t.Errorf("%d rows: squares add up to %v, want %v", n, first[1], plain[1])
		}
	}
}

// The parts of all rows come in the rows' order, none without rows.
func TestParts(t *testing.T) {
	for _, n := range append([]int{0, -1}, sizes...) {
		withWorkers(t, func(workers int) {
			next := 0
			for _, p := range parallel.Parts(n, 1, func(lo, hi int) [2]int { return [2]int{lo, hi} }) {
				if p[0] != next || p[1] <= p[0] {
					t.Fatalf("%d rows, %d workers: a part of rows %d … %d after row %d", n, workers, p[0], p[1]-1, next-1)
				}
				next = p[1]
			}
			if next != max(0, n) {
				t.Errorf("%d workers: parts of %d rows, want %d", workers, next, n)
			}
		})
	}
}

// A loop within a loop ends, and every row of every inner loop is counted.
func TestNested(t *testing.T) {
	withWorkers(t, func(workers int) {
		const outer, inner = 64, 1 << 16
		total := make([]float64, 1)
		parallel.Sum(outer, 1<<14, total, func(lo, hi int, sum []float64) {
			for range hi - lo {
				part := make([]float64, 1)
				parallel.Sum(inner, 1, part, func(lo, hi int, s []float64) { s[0] += float64(hi - lo) })
				sum[0] += part[0]
			}
		})
		if total[0] != outer*inner {
			t.Errorf("%d workers: %v rows, want %d", workers, total[0], outer*inner)
		}
	})
}

// A loop whose function is kept allocates nothing.
func TestAllocations(t *testing.T) {
	x, sum := make([]float64, 1<<17), make([]float64, 4)
	scale := func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x[i]++
		}
	}
	add := func(lo, hi int, sum []float64) {
		for _, v := range x[lo:hi] {
			sum[0] += v
		}
	}
	round := func() {
		parallel.Rows(len(x), 1, scale)
		parallel.Sum(len(x), 1, sum, add)
	}
	round()
	if a := testing.AllocsPerRun(50, round); a >= 1 {
		t.Errorf("%v allocations a round", a)
	}
}

// Scaling by rows is that of a plain loop.
func TestScaleRows(t *testing.T) {
	const n, k = 5000, 16
	rnd := rand.New(rand.NewPCG(3, 4))
	x, scale := make([]float64, n*k), make([]float64, n)
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	for i := range scale {
		scale[i] = rnd.Float64()
	}
	want := slices.Clone(x)
	for i := range n {
		for c := range k {
			want[i*k+c] *= scale[i]
		}
	}
	if parallel.ScaleRows(x, scale, k); !slices.Equal(x, want) {
		t.Error("scaled rows are not those of a plain loop")
	}
}

// TestTry: a loop without an error does all rows; else the error is that of the first rows that
// fail, also where later ones fail sooner.
func TestTry(t *testing.T) {
	withWorkers(t, func(workers int) {
		var done atomic.Int64
		if err := parallel.Try(64, 1<<14, func(lo, hi int) error { done.Add(int64(hi - lo)); return nil }); err != nil ||
			done.Load() != 64 {
			t.Errorf("%d workers: %v after %d rows of 64", workers, err, done.Load())
		}
		err := parallel.Try(64, 1<<14, func(lo, _ int) error {
			if lo%3 != 2 {
				return nil
			}
			if lo == 2 {
				time.Sleep(5 * time.Millisecond)
			}
			return fmt.Errorf("row %d", lo)
		})
		if err == nil || err.Error() != "row 2" {
			t.Errorf("%d workers: %v, want that of row 2", workers, err)
		}
	})
}

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
