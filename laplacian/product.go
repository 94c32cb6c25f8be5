// SPDX-License-Identifier: Apache-2.0

package laplacian

import (
	"sync"
	"sync/atomic"
)

// A product of fewer entries than this is not worth a second worker.
const parallelWork = 1 << 15

// pieceWork is the work of one piece of rows, in entries.
const pieceWork = 1 << 14

// job is one product that several workers share. Its run method value is made
// once, so that starting a worker allocates nothing.
type job struct {
	l           *Laplacian
	dst, acc, x []float64
	k           int
	a, b, c, d  float64
	next        atomic.Int64
	wait        sync.WaitGroup
	run         func()
	scratch     []float64
}

func (l *Laplacian) job() *job {
	if j, ok := l.jobs.Get().(*job); ok {
		return j
	}
	j := &job{}
	j.run = func() {
		j.work()
		j.wait.Done()
	}
	return j
}

func (j *job) work() {
	for p := j.next.Add(1) - 1; p < int64(len(j.l.cuts)-1); p = j.next.Add(1) - 1 {
		j.l.multiply(j, int(j.l.cuts[p]), int(j.l.cuts[p+1]))
	}
}

// cuts divides the rows into pieces of similar work. They do not depend on the
// number of workers, and no row's sum crosses a piece.
func cuts(ptr []int64) []int32 {
	n := len(ptr) - 1
	c := []int32{0}
	var begin int64
	for i := 1; i <= n; i++ {
		if w := ptr[i] + 2*int64(i); w-begin >= pieceWork || i == n {
			c = append(c, int32(i))
			begin = w
		}
	}
	return c
}

// Recur computes one step of a three-term recurrence on k row-major columns:
//
//	dst ← a·Sx + b·x + c·dst,   then   acc ← acc + d·dst   unless acc is nil.
//
// With c = 0 the old dst is not read. It panics when a length is not n·k; the
// slices must not overlap. It allocates nothing. Rows are in the order of
// [Laplacian.Places].
func (l *Laplacian) Recur(dst, acc, x []float64, k int, a, b, c, d float64) {
	n := len(l.diag) * k
	if len(dst) != n || len(x) != n || acc != nil && len(acc) != n {
		panic("laplacian: length of a vector does not fit the operator")
	}
	j := l.job()
	j.l, j.dst, j.acc, j.x, j.k, j.a, j.b, j.c, j.d = l, dst, acc, x, k, a, b, c, d
	l.do(j)
	j.dst, j.acc, j.x = nil, nil, nil
	l.jobs.Put(j)
}

func (l *Laplacian) do(j *job) {
	j.next.Store(0)
	workers := min(l.workers, len(l.cuts)-1)
	if l.Work()*int64(j.k) < parallelWork {
		workers = 1
	}
	for range workers - 1 {
		j.wait.Add(1)
		go j.run()
	}
	j.work()
	j.wait.Wait()
}

// MulVecTo sets dst to L x, or to Lᵀx.
func (l *Laplacian) MulVecTo(dst []float64, trans bool, x []float64) {
	if l.sim == nil && l.rows.place == nil {
		l.Recur(dst, nil, x, 1, 1, 0, 0, 0)
		return
	}
	j := l.job()
	defer l.jobs.Put(j)
	n := len(l.diag)
	if len(j.scratch) != 2*n {
		j.scratch = make([]float64, 2*n)
	}
	in, out := j.scratch[:n], j.scratch[n:]
	for i, v := range x {
		in[l.at(i)] = l.scaled(i, v, trans)
	}
	l.Recur(out, nil, in, 1, 1, 0, 0, 0)
	for i := range dst {
		dst[i] = l.scaled(i, out[l.at(i)], !trans)
	}
}

// at returns the row of node i in Recur.
func (l *Laplacian) at(i int) int {
	if l.rows.place == nil {
		return i
	}
	return int(l.rows.place[i])
}

func (l *Laplacian) scaled(i int, v float64, divide bool) float64 {
	switch {
	case l.sim == nil:
		return v
	case divide:
		return v / l.sim[i]
	}
	return v * l.sim[i]
}

// rows computes the rows from lo to hi, eight columns at a time.
func (l *Laplacian) multiply(j *job, lo, hi int) {
	if j.k == 1 {
		l.rows1(j, lo, hi)
		return
	}
	at := 0
	for ; at+8 <= j.k; at += 8 {
		l.rows8(j, lo, hi, at)
	}
	for ; at < j.k; at++ {
		l.rowsColumn(j, lo, hi, at)
	}
}

func (j *job) put(at int, sx float64) {
	v := j.a*sx + j.b*j.x[at]
	if j.c != 0 {
		v += j.c * j.dst[at]
	}
	j.dst[at] = v
	if j.acc != nil {
		j.acc[at] += j.d * v
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
		j.put(i, r.diag[i]*x[i]-s)
	}
}

// segment bounds the number of terms that one running sum takes, so that the
// rounding error of a hub's row grows like degree/segment instead of degree.
const segment = 128

func sumOnes(adj []int32, x []float64) float64 {
	var total float64
	for len(adj) > segment {
		total += sumOnes(adj[:segment], x)
		adj = adj[segment:]
	}
	var s0, s1, s2, s3 float64
	for ; len(adj) >= 4; adj = adj[4:] {
		s0 += x[adj[0]]
		s1 += x[adj[1]]
		s2 += x[adj[2]]
		s3 += x[adj[3]]
	}
	for _, c := range adj {
		s0 += x[c]
	}
	return total + ((s0 + s1) + (s2 + s3))
}

func sumWeighted(adj []int32, w, x []float64) float64 {
	var total float64
	for len(adj) > segment {
		total += sumWeighted(adj[:segment], w[:segment], x)
		adj, w = adj[segment:], w[segment:]
	}
	w = w[:len(adj)]
	var s0, s1, s2, s3 float64
	k := 0
	for ; k+4 <= len(adj); k += 4 {
		s0 += w[k] * x[adj[k]]
		s1 += w[k+1] * x[adj[k+1]]
		s2 += w[k+2] * x[adj[k+2]]
		s3 += w[k+3] * x[adj[k+3]]
	}
	for ; k < len(adj); k++ {
		s0 += w[k] * x[adj[k]]
	}
	return total + ((s0 + s1) + (s2 + s3))
}

// rowsColumn is one column of a block.
func (l *Laplacian) rowsColumn(j *job, lo, hi, at int) {
	r, k, x := &l.rows, j.k, j.x
	for i := lo; i < hi; i++ {
		var total, s float64
		for p, q := r.ptr[i], r.ptr[i+1]; p < q; p++ {
			w := 1.0
			if r.val != nil {
				w = r.val[p]
			}
			if s += w * x[int(r.adj[p])*k+at]; (p-r.ptr[i])%segment == segment-1 {
				total, s = total+s, 0
			}
		}
		j.put(i*k+at, r.diag[i]*x[i*k+at]-(total+s))
	}
}

// rows8 is eight neighbouring columns of a block.
func (l *Laplacian) rows8(j *job, lo, hi, at int) {
	r, k, x := &l.rows, j.k, j.x
	var sum [8]float64
	for i := lo; i < hi; i++ {
		sum = [8]float64{}
		p, q := r.ptr[i], r.ptr[i+1]
		for ; p < q; p += segment {
			end := min(p+segment, q)
			if r.val == nil {
				addOnes(&sum, r.adj[p:end], x[at:], k)
			} else {
				addWeighted(&sum, r.adj[p:end], r.val[p:end], x[at:], k)
			}
		}
		o := i*k + at
		for c := range sum {
			j.put(o+c, r.diag[i]*x[o+c]-sum[c])
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
		s0 += w * r[0]
		s1 += w * r[1]
		s2 += w * r[2]
		s3 += w * r[3]
		s4 += w * r[4]
		s5 += w * r[5]
		s6 += w * r[6]
		s7 += w * r[7]
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
