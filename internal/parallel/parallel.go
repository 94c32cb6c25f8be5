// SPDX-License-Identifier: Apache-2.0

// Package parallel splits loops over rows among GOMAXPROCS workers. The cuts between rows
// depend on the size of a loop alone, so results have the same bits at any number of
// workers.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// pieceWork is the work of one range of rows, in values: about ten microseconds.
const pieceWork = 1 << 14

// maxParts bounds the parts of a sum, and with them its memory.
const maxParts = 128

// job is one loop that several workers share. Its run method value is made once, so that
// starting a worker allocates nothing.
type job struct {
	n, piece, pieces int
	loop             func(lo, hi int)
	sum              func(lo, hi int, sum []float64)
	width            int       // of a part
	parts            []float64 // one for each piece
	next             atomic.Int64
	wait             sync.WaitGroup
	net              Net
	run              func()
}

var jobs = sync.Pool{New: func() any {
	j := &job{}
	j.run = func() {
		j.work()
		j.wait.Done()
	}
	return j
}}

// Rows calls f on ranges of rows lo … hi−1 that cover 0 … n−1, each row once, several at
// the same time and in no order. f writes to what belongs to its rows only. width is the
// work of a row, in values that are read or written; rows of at least 2¹⁴ each are a range of
// their own. Calls may be nested. Where f panics, Rows panics with the first *[Panic] once no f runs any
// more, or with the value itself where there is one range. Rows allocates nothing but f: where that matters, f is
// made once and kept.
func Rows(n, width int, f func(lo, hi int)) {
	if n <= 0 {
		return
	}
	piece := max(1, pieceWork/max(1, width))
	if piece >= n {
		f(0, n)
		return
	}
	j := jobs.Get().(*job)
	j.n, j.piece, j.pieces, j.loop = n, piece, pieces(n, piece), f
	j.do()
	j.loop = nil
	jobs.Put(j)
}

// Each calls f for 0 … n−1, several at the same time and in no order, each of them worth a worker. No two
// calls may write to the same place. See [Rows].
func Each(n int, f func(i int)) {
	Rows(n, pieceWork, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}

// Sum sets sum to the total of what f adds up over ranges of rows that cover 0 … n−1: f adds
// the part of rows lo … hi−1 to the sum that it is given, zeros at first. The parts are
// added in the order of the rows. A sum of one range, below about 2¹⁴/width rows, is that
// of a plain loop. For width, and for what f may do, see [Rows].
func Sum(n, width int, sum []float64, f func(lo, hi int, sum []float64)) {
	clear(sum)
	piece := rangeOfSum(n, width)
	if piece >= n {
		if n > 0 {
			f(0, n, sum)
		}
		return
	}
	j := jobs.Get().(*job)
	j.n, j.piece, j.pieces, j.sum, j.width = n, piece, pieces(n, piece), f, len(sum)
	if size := j.pieces * j.width; cap(j.parts) < size {
		j.parts = make([]float64, size)
	} else {
		j.parts = j.parts[:size]
		clear(j.parts)
	}
	j.do()
	for p := range j.pieces {
		for i, v := range j.parts[p*j.width : (p+1)*j.width] {
			sum[i] += v
		}
	}
	j.sum = nil
	jobs.Put(j)
}

// Parts returns what f finds in ranges of rows that cover 0 … n−1, in their order: what is put together from
// them has the same bits at any number of workers. The ranges are those of [Sum].
func Parts[T any](n, width int, f func(lo, hi int) T) []T {
	if n <= 0 {
		return nil
	}
	size := rangeOfSum(n, width)
	out := make([]T, pieces(n, size))
	Each(len(out), func(p int) { out[p] = f(p*size, min((p+1)*size, n)) })
	return out
}

// rangeOfSum returns the rows of a range of a sum.
func rangeOfSum(n, width int) int {
	return max(1, pieceWork/max(1, width), pieces(max(0, n), maxParts))
}

// RowsWith is [Rows] for an f that needs memory of its own: make returns some, which one call
// after the other uses, never two at the same time. What f writes must not depend on what
// earlier calls left there.
func RowsWith[T any](n, width int, make func() T, f func(memory T, lo, hi int)) {
	var lock sync.Mutex
	var free []T
	take := func() (memory T) {
		lock.Lock()
		defer lock.Unlock()
		if k := len(free) - 1; k >= 0 {
			memory, free = free[k], free[:k]
			return memory
		}
		return make()
	}
	Rows(n, width, func(lo, hi int) {
		memory := take()
		f(memory, lo, hi)
		lock.Lock()
		defer lock.Unlock()
		free = append(free, memory)
	})
}

// pieces returns ⌈n/size⌉.
func pieces(n, size int) int { return (n + size - 1) / size }

// do works on the job with all workers, this one included, so that it ends whatever else
// keeps the others busy.
func (j *job) do() {
	j.next.Store(0)
	for range min(runtime.GOMAXPROCS(0), j.pieces) - 1 {
		j.wait.Add(1)
		go j.run()
	}
	j.work()
	j.wait.Wait()
	j.net.Raise()
}

// work does pieces until none is left, or one has panicked.
func (j *job) work() {
	defer j.net.Catch()
	for p := int(j.next.Add(1) - 1); p < j.pieces && !j.net.Caught(); p = int(j.next.Add(1) - 1) {
		lo, hi := p*j.piece, min((p+1)*j.piece, j.n)
		if j.loop != nil {
			j.loop(lo, hi)
		} else {
			j.sum(lo, hi, j.parts[p*j.width:(p+1)*j.width])
		}
	}
}
