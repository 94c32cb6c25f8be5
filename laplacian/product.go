// SPDX-License-Identifier: Apache-2.0

package laplacian

// A product of fewer entries than this is not worth a second worker.
const parallelWork = 1 << 15

// pieceWork is the work of one range of rows, in entries.
const pieceWork = 1 << 14

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
	defer j.net.Catch()
	for p := j.next.Add(1) - 1; p < int64(len(j.l.cuts)-1) && !j.net.Caught(); p = j.next.Add(1) - 1 {
		j.l.multiply(j, int(j.l.cuts[p]), int(j.l.cuts[p+1]))
	}
}

// balancedCuts divides the rows into ranges of similar work. They do not depend on the
// number of workers, and each row lies in one range.
func balancedCuts(ptr []int64) []int32 {
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
// [Laplacian.Permutation].
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
	j.net.Raise()
}

// MulVecTo sets dst to L x, or to Lᵀx.
func (l *Laplacian) MulVecTo(dst []float64, trans bool, x []float64) {
	if l.similarity == nil && l.rows.permutation == nil {
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
		in[l.rowOf(i)] = l.scaled(i, v, trans)
	}
	l.Recur(out, nil, in, 1, 1, 0, 0, 0)
	for i := range dst {
		dst[i] = l.scaled(i, out[l.rowOf(i)], !trans)
	}
}

// rowOf returns the row of node i in Recur.
func (l *Laplacian) rowOf(i int) int {
	if l.rows.permutation == nil {
		return i
	}
	return int(l.rows.permutation[i])
}

func (l *Laplacian) scaled(i int, v float64, divide bool) float64 {
	switch {
	case l.similarity == nil:
		return v
	case divide:
		return v / l.similarity[i]
	}
	return v * l.similarity[i]
}
