// SPDX-License-Identifier: Apache-2.0

package laplacian

import (
	"sync"
	"sync/atomic"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// generic computes the rows from lo to hi, eight columns at a time. The explicit
// conversions of products to float64 keep the compiler from fusing multiply and add.
func (l *Laplacian) generic(j *job, lo, hi int) {
	if j.k == 1 {
		l.rows1(j, lo, hi)
		return
	}
	column := 0
	for ; column+8 <= j.k; column += 8 {
		l.rows8(j, lo, hi, column)
	}
	for ; column < j.k; column++ {
		l.rowsColumn(j, lo, hi, column)
	}
}

func (j *job) store(index int, sx float64) {
	v := float64(j.a*sx) + float64(j.b*j.x[index])
	if j.c != 0 {
		v += float64(j.c * j.dst[index])
	}
	j.dst[index] = v
	if j.acc != nil {
		j.acc[index] += float64(j.d * v)
	}
}

func (l *Laplacian) rows1(j *job, lo, hi int) {
	r, x := &l.rows, j.x
	for i := lo; i < hi; i++ {
		p, q := r.ptr[i], r.ptr[i+1]
		var s float64
		if r.val == nil {
			s = sumOnes(r.adj[p:q], x)
		} else {
			s = sumWeighted(r.adj[p:q], r.val[p:q], x)
		}
		j.store(i, float64(r.diag[i]*x[i])-s)
	}
}

// segment bounds the number of terms that one running sum takes, so that the
// rounding error of a hub's row grows like degree/segment instead of degree.
const segment = 128

// lanes is the number of running sums of one column: entry e of a segment goes
// to the sum e mod lanes.
const lanes = 8

func sumOnes(adj []int32, x []float64) float64 {
	var total float64
	for len(adj) > segment {
		total += sumOnes(adj[:segment], x)
		adj = adj[segment:]
	}
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for ; len(adj) >= lanes; adj = adj[lanes:] {
		s0 += x[adj[0]]
		s1 += x[adj[1]]
		s2 += x[adj[2]]
		s3 += x[adj[3]]
		s4 += x[adj[4]]
		s5 += x[adj[5]]
		s6 += x[adj[6]]
		s7 += x[adj[7]]
	}
	switch len(adj) {
	case 7:
		s6 += x[adj[6]]
		fallthrough
	case 6:
		s5 += x[adj[5]]
		fallthrough
	case 5:
		s4 += x[adj[4]]
		fallthrough
	case 4:
		s3 += x[adj[3]]
		fallthrough
	case 3:
		s2 += x[adj[2]]
		fallthrough
	case 2:
		s1 += x[adj[1]]
		fallthrough
	case 1:
		s0 += x[adj[0]]
	}
	return total + (((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7)))
}

func sumWeighted(adj []int32, w, x []float64) float64 {
	var total float64
	for len(adj) > segment {
		total += sumWeighted(adj[:segment], w[:segment], x)
		adj, w = adj[segment:], w[segment:]
	}
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for ; len(adj) >= lanes; adj, w = adj[lanes:], w[lanes:] {
		s0 += float64(w[0] * x[adj[0]])
		s1 += float64(w[1] * x[adj[1]])
		s2 += float64(w[2] * x[adj[2]])
		s3 += float64(w[3] * x[adj[3]])
		s4 += float64(w[4] * x[adj[4]])
		s5 += float64(w[5] * x[adj[5]])
		s6 += float64(w[6] * x[adj[6]])
		s7 += float64(w[7] * x[adj[7]])
	}
	switch len(adj) {
	case 7:
		s6 += float64(w[6] * x[adj[6]])
		fallthrough
	case 6:
		s5 += float64(w[5] * x[adj[5]])
		fallthrough
	case 5:
		s4 += float64(w[4] * x[adj[4]])
		fallthrough
	case 4:
		s3 += float64(w[3] * x[adj[3]])
		fallthrough
	case 3:
		s2 += float64(w[2] * x[adj[2]])
		fallthrough
	case 2:
		s1 += float64(w[1] * x[adj[1]])
		fallthrough
	case 1:
		s0 += float64(w[0] * x[adj[0]])
	}
	return total + (((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7)))
}

// rowsColumn is one column of a block.
func (l *Laplacian) rowsColumn(j *job, lo, hi, column int) {
	r, k, x := &l.rows, j.k, j.x
	for i := lo; i < hi; i++ {
		var total, s float64
		for p, q := r.ptr[i], r.ptr[i+1]; p < q; p++ {
			w := 1.0
			if r.val != nil {
				w = r.val[p]
			}
			if s += float64(w * x[int(r.adj[p])*k+column]); (p-r.ptr[i])%segment == segment-1 {
				total, s = total+s, 0
			}
		}
		j.store(i*k+column, float64(r.diag[i]*x[i*k+column])-(total+s))
	}
}

// rows8 is eight neighbouring columns of a block.
func (l *Laplacian) rows8(j *job, lo, hi, column int) {
	r, k, x := &l.rows, j.k, j.x
	var sum [8]float64
	for i := lo; i < hi; i++ {
		sum = [8]float64{}
		p, q := r.ptr[i], r.ptr[i+1]
		for ; p < q; p += segment {
			end := min(p+segment, q)
			if r.val == nil {
				addOnes(&sum, r.adj[p:end], x[column:], k)
			} else {
				addWeighted(&sum, r.adj[p:end], r.val[p:end], x[column:], k)
			}
		}
		o := i*k + column
		for c := range sum {
			j.store(o+c, float64(r.diag[i]*x[o+c])-sum[c])
		}
	}
}

func addOnes(sum *[8]float64, adj []int32, x []float64, k int) {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for _, c := range adj {
		r := (*[8]float64)(x[int(c)*k:])
		s0 += r[0]
		s1 += r[1]
		s2 += r[2]
		s3 += r[3]
		s4 += r[4]
		s5 += r[5]
		s6 += r[6]
		s7 += r[7]
	}
	sum[0] += s0
	sum[1] += s1
	sum[2] += s2
	sum[3] += s3
	sum[4] += s4
	sum[5] += s5
	sum[6] += s6
	sum[7] += s7
}

func addWeighted(sum *[8]float64, adj []int32, val, x []float64, k int) {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	val = val[:len(adj)]
	for e, c := range adj {
		r, w := (*[8]float64)(x[int(c)*k:]), val[e]
		s0 += float64(w * r[0])
		s1 += float64(w * r[1])
		s2 += float64(w * r[2])
		s3 += float64(w * r[3])
		s4 += float64(w * r[4])
		s5 += float64(w * r[5])
		s6 += float64(w * r[6])
		s7 += float64(w * r[7])
	}
	sum[0] += s0
	sum[1] += s1
	sum[2] += s2
	sum[3] += s3
	sum[4] += s4
	sum[5] += s5
	sum[6] += s6
	sum[7] += s7
}

// job is one product that several workers share. Its run method value is made
// once, so that starting a worker allocates nothing.
type job struct {
	l           *Laplacian
	dst, acc, x []float64
	k           int
	a, b, c, d  float64
	next        atomic.Int64
	wait        sync.WaitGroup
	net         parallel.Net
	run         func()
	scratch     []float64
}
