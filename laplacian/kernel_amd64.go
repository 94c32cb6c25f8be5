// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package laplacian

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// kernelArgs is a range of rows of a block of columns, as the kernels read it.
type kernelArgs struct {
	dst, acc, x *float64 // the first column; acc may be nil
	diag        *float64
	ptr         *int64
	adj         *int32
	val         *float64 // nil: all 1
	lo, hi      int64    // rows
	entries     int64    // of adj
	stride      int64    // bytes from a row of x to the next
	old         int64    // 0: the old dst is not read
	a, b, c, d  float64
	mask        [4]int64 // rows4: −1 in each of its columns
}

// rows1 is the only column of a block.
//
//go:noescape
func rows1(p *kernelArgs)

// rows16 is sixteen columns of a block.
//
//go:noescape
func rows16(p *kernelArgs)

// rows8 is eight columns of a block.
//
//go:noescape
func rows8(p *kernelArgs)

// rows4 is one to four columns of a block, those of mask.
//
//go:noescape
func rows4(p *kernelArgs)

// multiply computes the rows from lo to hi, to the same bits as generic.
func (l *Laplacian) multiply(j *job, lo, hi int) {
	if !cpu.X86.HasAVX2 {
		l.generic(j, lo, hi)
		return
	}
	r := &l.rows
	p := kernelArgs{
		diag: unsafe.SliceData(r.diag), ptr: unsafe.SliceData(r.ptr),
		adj: unsafe.SliceData(r.adj), val: unsafe.SliceData(r.val),
		lo: int64(lo), hi: int64(hi), entries: int64(len(r.adj)), stride: 8 * int64(j.k),
		a: j.a, b: j.b, c: j.c, d: j.d,
	}
	if j.c != 0 {
		p.old = 1
	}
	for column := 0; column < j.k; {
		p.dst, p.x = &j.dst[column], &j.x[column]
		if j.acc != nil {
			p.acc = &j.acc[column]
		}
		switch w := j.k - column; {
		case j.k == 1:
			rows1(&p)
			column++
		case w >= 16:
			rows16(&p)
			column += 16
		case w >= 8:
			rows8(&p)
			column += 8
		default:
			for c := range p.mask {
				p.mask[c] = 0
				if c < w {
					p.mask[c] = -1
				}
			}
			rows4(&p)
			column += 4
		}
	}
}
