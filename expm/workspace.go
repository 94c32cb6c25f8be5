// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"sync"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// blockColumns is the number of columns that are diffused at a time.
const blockColumns = 16

// workspace is the memory of one application: two vectors for the recurrence, and two
// for input and output where they are copied. Its loops over rows are made once, so that
// an application allocates nothing.
type workspace struct {
	x, y, t0, t1 []float64
	blocks       [4]*linop.Block // of these vectors
	loop         rowLoop
	// The loops that rowLoop has.
	gather, scatter, begin, round func(lo, hi int)
}

var workspaces = sync.Pool{New: func() any {
	w := &workspace{}
	w.gather, w.scatter, w.begin, w.round = w.loop.gather, w.loop.scatter, w.loop.begin, w.loop.round
	return w
}}

func newWorkspace(size int, copies bool) *workspace {
	w := workspaces.Get().(*workspace)
	w.t0, w.t1 = w.memory(0, size), w.memory(1, size)
	if copies {
		w.x, w.y = w.memory(2, size), w.memory(3, size)
	}
	return w
}

func (w *workspace) memory(i, size int) []float64 {
	w.blocks[i] = linop.GetBlock(size)
	return w.blocks[i].V
}

// release gives the workspace back.
func (w *workspace) release() {
	for _, b := range w.blocks {
		if b != nil {
			b.Put()
		}
	}
	w.x, w.y, w.t0, w.t1, w.blocks, w.loop = nil, nil, nil, nil, [4]*linop.Block{}, rowLoop{}
	workspaces.Put(w)
}

// rowLoop is one loop over rows.
type rowLoop struct {
	gen         Generator
	dst, src    []float64
	more        []float64 // a second destination
	divide      bool
	k, first, c int // columns of the outer vectors, the first of them, and how many
	width       int // columns of the inner vectors
	factor      float64
}

func (l *rowLoop) gather(lo, hi int) {
	s, place := l.gen.Similarity(), l.gen.Permutation()
	for i := lo; i < hi; i++ {
		p := rowOf(place, i)
		row := l.dst[p*l.width:][:l.width]
		clear(row[copy(row, l.src[i*l.k+l.first:][:l.c]):])
		if s != nil {
			scale(row, s[i], l.divide)
		}
	}
}

func (l *rowLoop) scatter(lo, hi int) {
	s, place := l.gen.Similarity(), l.gen.Permutation()
	for i := lo; i < hi; i++ {
		row := l.dst[i*l.k+l.first : i*l.k+l.first+l.c]
		copy(row, l.src[rowOf(place, i)*l.width:])
		if s != nil {
			scale(row, s[i], l.divide)
		}
	}
}

// begin sets dst to factor·src, and more to src.
func (l *rowLoop) begin(lo, hi int) {
	dst, more := l.dst[lo:hi], l.more[lo:hi]
	for i, v := range l.src[lo:hi] {
		dst[i], more[i] = l.factor*v, v
	}
}

func (l *rowLoop) round(lo, hi int) { roundToGrid(l.dst[lo:hi], l.factor) }

// scale multiplies a row by s, or divides it.
func scale(row []float64, s float64, divide bool) {
	for j := range row {
		if divide {
			row[j] /= s
		} else {
			row[j] *= s
		}
	}
}

// toGrid rounds x to the grid c, if that is above 0.
func (w *workspace) toGrid(x []float64, c float64) {
	if c == 0 {
		return
	}
	w.loop = rowLoop{dst: x, factor: c}
	parallel.Rows(len(x), 1, w.round)
}
