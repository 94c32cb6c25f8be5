// SPDX-License-Identifier: Apache-2.0

package linop

import (
	"slices"
	"sync"
	"time"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Block is memory for a block of vectors, from [GetBlock].
type Block struct {
	V   []float64
	put time.Time // when it was put back
}

// GetBlock returns memory for size values, with whatever they hold. It is put back after use, and not used after.
//
// A large block is kept for a while for the next caller, in any package: fresh memory is cleared by one
// processor and mapped page by page, which takes as long as a product, and a [sync.Pool] loses a block when
// another processor asks, or when garbage is collected twice. Half a minute after its last use, or up to a whole one, it is dropped,
// and the oldest where they would be more than a gigabyte.
func GetBlock(size int) *Block {
	if size >= keptSize {
		return large.take(size)
	}
	b := small.Get().(*Block)
	if cap(b.V) < size {
		b.V = make([]float64, size)
	}
	b.V = b.V[:size]
	return b
}

// Put puts the block back.
func (b *Block) Put() {
	if cap(b.V) >= keptSize {
		large.put(b)
	} else {
		small.Put(b)
	}
}

const (
	keptSize = 1 << 17          // values, a megabyte
	keptFor  = 30 * time.Second // without use, as between two stages of a run
	keptSum  = 1 << 27          // values, a gigabyte, of all
	// A block serves for a size of at least this share of its own: one of sixteen columns for four.
	leastShare = 4
)

var (
	small = sync.Pool{New: func() any { return &Block{} }}
	large shelf
)

// shelf keeps large blocks that nobody uses.
type shelf struct {
	lock  sync.Mutex
	free  []*Block
	timer *time.Timer // nil: none is kept
}

// take returns the smallest block that fits, or a new one.
func (s *shelf) take(size int) *Block {
	s.lock.Lock()
	best := -1
	for i, b := range s.free {
		c := cap(b.V)
		if c >= size && c/leastShare <= size && (best < 0 || c <= cap(s.free[best].V)) {
			best = i
		}
	}
	if best < 0 {
		s.lock.Unlock()
		return &Block{V: make([]float64, size)}
	}
	b := s.free[best]
	s.free = slices.Delete(s.free, best, best+1)
	s.lock.Unlock()
	b.V = b.V[:size]
	return b
}

func (s *shelf) put(b *Block) {
	s.lock.Lock()
	defer s.lock.Unlock()
	b.put = time.Now()
	s.free = append(s.free, b)
	sum := 0
	for _, b := range s.free {
		sum += cap(b.V)
	}
	for ; sum > keptSum; s.free = slices.Delete(s.free, 0, 1) {
		sum -= cap(s.free[0].V) // the longest without use
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(keptFor, s.drop)
	}
}

// DropBlocks drops all large blocks that are not in use, for a caller that needs the memory for something else.
func DropBlocks() {
	large.lock.Lock()
	defer large.lock.Unlock()
	large.free = nil
}

// drop drops the blocks that have not been used for a while.
func (s *shelf) drop() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.free = slices.DeleteFunc(s.free, func(b *Block) bool { return time.Since(b.put) >= keptFor })
	s.timer = nil
	if len(s.free) > 0 {
		s.timer = time.AfterFunc(keptFor, s.drop)
	}
}

func setZero(x []float64) {
	parallel.Rows(len(x), 1, func(lo, hi int) { clear(x[lo:hi]) })
}
