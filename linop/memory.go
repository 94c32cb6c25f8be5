// SPDX-License-Identifier: Apache-2.0

package linop

import (
	"sync"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// block is memory for a block of vectors, lent for one product.
type block struct{ v []float64 }

var blocks = sync.Pool{New: func() any { return &block{} }}

// borrow returns a block of size values, with whatever they hold. It is given back after
// use.
func borrow(size int) *block {
	b := blocks.Get().(*block)
	if cap(b.v) < size {
		b.v = make([]float64, size)
	}
	b.v = b.v[:size]
	return b
}

// take returns the first size values.
func (b *block) take(size int) []float64 { return b.v[:size] }

func (b *block) back() { blocks.Put(b) }

func setZero(x []float64) {
	parallel.Rows(len(x), 1, func(lo, hi int) { clear(x[lo:hi]) })
}

// WithBlock lends f memory for a block of size values, with whatever they hold, until it returns.
func WithBlock(size int, f func(v []float64)) {
	b := borrow(size)
	defer b.back()
	f(b.v)
}
