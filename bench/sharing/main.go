// SPDX-License-Identifier: Apache-2.0

// Command sharing measures what two processors lose by working on the same vectors: products of a graph's Laplacian
// with 16 columns by one processor, by two that share them, and by two with vectors of their own, beside the time in
// which a line of memory goes from one processor to the other and back.
//
//	go run ./bench/sharing
//	go run ./bench/sharing -n 1000000 -rounds 5
//
// Where the two have a last-level cache in common, the line takes about a tenth of a microsecond, those that share
// vectors are twice as fast as one, and copies side by side are slower than that where two of them do not fit
// into the cache. Where each has a cache of its own, it takes several times as long: copies then have twice the
// cache, and what is shared has to cross over in every product. A virtual machine may be moved from the one to the
// other at any time: so each round has the time of the line before and after it.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
)

var (
	order  = flag.Int("n", 100_000, "nodes of the graphs")
	rounds = flag.Int("rounds", 3, "rounds of each graph")
)

// columns are those of a block.
const columns = 16

func main() {
	flag.Parse()
	if runtime.GOMAXPROCS(0) < 2 {
		fmt.Fprintln(os.Stderr, "sharing: this takes two processors")
		os.Exit(1)
	}
	if err := table(); err != nil {
		fmt.Fprintln(os.Stderr, "sharing:", err)
		os.Exit(1)
	}
}

// table prints the rounds of all graphs.
func table() error {
	n := *order
	fmt.Println("| graph | one, ms | two that share, ms | speed-up | two copies, ms | speed-up | there and back, ns |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, f := range []struct {
		name string
		make func() (*graph.Graph, error)
	}{
		{"Barabási–Albert", func() (*graph.Graph, error) { return graph.BarabasiAlbert(n, 10, 1) }},
		{"block model", func() (*graph.Graph, error) {
			g, _, err := graph.SBM(n, 10, 180/float64(n), 20./9/float64(n), 1)
			return g, err
		}},
		{"nearest neighbours", func() (*graph.Graph, error) { g, _, err := graph.KNN(n, 10, 1); return g, err }},
	} {
		g, err := f.make()
		if err != nil {
			return err
		}
		b := newBench(g)
		for range *rounds {
			before := exchange()
			one, shared, copies := b.round()
			fmt.Printf("| %s, n = %d | %.3g | %.3g | %.2f | %.3g | %.2f | %.0f, %.0f |\n",
				f.name, n, one, shared, one/shared, copies, 2*one/copies, before, exchange())
		}
	}
	return nil
}

// bench is the operator and two sets of vectors.
type bench struct {
	one, two *laplacian.Laplacian // on so many processors
	sets     [2]vectors
	steps    int
}

// vectors are those of a three-term recurrence and its sum.
type vectors struct{ sum, prev, cur []float64 }

func newBench(g *graph.Graph) *bench {
	l := laplacian.New(g, laplacian.Combinatorial)
	b := &bench{one: l.WithWorkers(1), two: l.WithWorkers(2), steps: max(4, 10_000_000/g.Order())}
	size := g.Order() * columns
	for i := range b.sets {
		b.sets[i] = vectors{make([]float64, size), make([]float64, size), make([]float64, size)}
		for j := range b.sets[i].cur {
			b.sets[i].cur[j] = float64(j % 17)
		}
		b.recur(b.one, i, 1)
	}
	return b
}

// recur takes steps of the Chebyshev recurrence, whose vectors stay bounded.
func (b *bench) recur(l *laplacian.Laplacian, set, steps int) {
	v := &b.sets[set]
	for range steps {
		l.Recur(v.prev, v.sum, v.cur, columns, 4/l.Bound(), -2, -1, .1)
		v.prev, v.cur = v.cur, v.prev
	}
}

// round returns the milliseconds of a product by one processor, by two, and of two by two with
// vectors of their own.
func (b *bench) round() (one, shared, copies float64) {
	one = b.millis(func() { b.recur(b.one, 0, b.steps) })
	shared = b.millis(func() { b.recur(b.two, 0, b.steps) })
	copies = b.millis(func() {
		var both sync.WaitGroup
		for i := range b.sets {
			both.Go(func() { b.recur(b.one, i, b.steps) })
		}
		both.Wait()
	})
	return one, shared, copies
}

func (b *bench) millis(work func()) float64 {
	begin := time.Now()
	work()
	return time.Since(begin).Seconds() * 1000 / float64(b.steps)
}

// exchange returns the nanoseconds in which a line of memory goes to another processor and back: the
// least mean of ten times a thousand.
func exchange() float64 {
	const trips, batches = 1000, 10
	var turn struct {
		_ [128]byte
		v atomic.Int64
		_ [128]byte
	}
	var other sync.WaitGroup
	other.Go(func() {
		for k := int64(1); k < 2*trips*batches; k += 2 {
			await(&turn.v, k)
			turn.v.Store(k + 1)
		}
	})
	least := 0.0
	for batch := range int64(batches) {
		begin := time.Now()
		for k := 2 * trips * batch; k < 2*trips*(batch+1); k += 2 {
			turn.v.Store(k + 1)
			await(&turn.v, k+2)
		}
		if mean := float64(time.Since(begin).Nanoseconds()) / trips; batch == 0 || mean < least {
			least = mean
		}
	}
	other.Wait()
	return least
}

// await waits until v is k; it lets others run where that takes long.
func await(v *atomic.Int64, k int64) {
	for spins := 1; v.Load() != k; spins++ {
		if spins%(1<<14) == 0 {
			runtime.Gosched()
		}
	}
}
