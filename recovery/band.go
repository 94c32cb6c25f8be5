// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	lapack "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"
)

// band is a symmetric matrix whose entries (i, j) vanish for |i − j| > width:
// entry (i, i−d) is at i·(width+1) + d.
type band struct {
	width int
	v     []float64
}

func (t *band) len() int { return len(t.v) / (t.width + 1) }

// at returns entry (i, j).
func (t *band) at(i, j int) float64 {
	if i < j {
		i, j = j, i
	}
	if i-j > t.width || j < 0 || i >= t.len() {
		return 0
	}
	return t.v[i*(t.width+1)+i-j]
}

// count returns the number of eigenvalues above x, by Sylvester's law of inertia: by
// elimination without pivoting, which may misplace one that is close to x.
func (t *band) count(x float64) int {
	w, above := t.width, 0
	l := make([]float64, len(t.v)) // L·D below the diagonal, D on it
	least := math.SmallestNonzeroFloat64 / unit
	for _, v := range t.v {
		least = max(least, unit*math.Abs(v))
	}
	for i := range t.len() {
		row := l[i*(w+1) : (i+1)*(w+1)]
		pivot := t.v[i*(w+1)] - x
		for j := max(0, i-w); j < i; j++ {
			low := l[j*(w+1) : (j+1)*(w+1)]
			sum := t.v[i*(w+1)+i-j]
			for k := max(0, i-w); k < j; k++ {
				sum -= row[i-k] * low[j-k] / l[k*(w+1)]
			}
			row[i-j] = sum
			pivot -= sum * sum / low[0]
		}
		if math.Abs(pivot) < least {
			pivot = -least
		}
		row[0] = pivot
		if pivot > 0 {
			above++
		}
	}
	return above
}

// value returns the k-th largest eigenvalue, k ≥ 1, by bisection.
func (t *band) value(k int) float64 {
	high := 0.0
	for i := range t.len() {
		sum := 0.0
		for j := i - t.width; j <= i+t.width; j++ {
			sum += math.Abs(t.at(i, j))
		}
		high = max(high, sum) // Gershgorin
	}
	low := -high
	for range 64 {
		if mid := (low + high) / 2; t.count(mid) >= k {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// append adds the rows of a block: beside the diagonal is b, p × (the block before),
// on it the last p columns of h, made symmetric.
func (t *band) append(h, b blas64.General) {
	p, old, w := h.Rows, t.len(), t.width+1
	t.v = append(t.v, make([]float64, p*w)...)
	for i := range p {
		row := t.v[(old+i)*w:]
		for j := range i + 1 {
			row[i-j] = (h.Data[i*h.Stride+h.Cols-p+j] + h.Data[j*h.Stride+h.Cols-p+i]) / 2
		}
		for j := range b.Cols {
			if d := i + b.Cols - j; d <= t.width {
				row[d] = b.Data[i*b.Stride+j]
			}
		}
	}
}

// values returns the eigenvalues in ascending order: Givens rotations shrink the
// band by one diagonal after the other, chasing the bulge off the end, then QL.
func (t *band) values() []float64 {
	n := t.len()
	a := band{width: t.width + 1, v: make([]float64, n*(t.width+2))} // room for the bulge
	for i := range n {
		copy(a.v[i*(a.width+1):], t.v[i*(t.width+1):(i+1)*(t.width+1)])
	}
	for d := t.width; d > 1; d-- {
		for j := range n - d {
			// Entry (i, c) goes to zero and leaves one at (i+d, i−1).
			for i, c := j+d, j; i < n; i, c = i+d, i-1 {
				a.rotate(i, c)
			}
		}
	}
	diagonal, off := make([]float64, n), make([]float64, max(0, n-1))
	for i := range n {
		diagonal[i] = a.at(i, i)
		if i > 0 {
			off[i-1] = a.at(i, i-1)
		}
	}
	if !(lapack.Implementation{}).Dsterf(n, diagonal, off) {
		for i := range diagonal {
			diagonal[i] = t.value(n - i)
		}
	}
	return diagonal
}

// rotate rotates rows and columns i−1 and i so that entry (i, c) vanishes, c < i−1.
func (t *band) rotate(i, c int) {
	f, g := t.at(i-1, c), t.at(i, c)
	if g == 0 {
		return
	}
	h := math.Hypot(f, g)
	cos, sin := f/h, g/h
	set := func(i, j int, v float64) {
		if i < j {
			i, j = j, i
		}
		if i-j <= t.width {
			t.v[i*(t.width+1)+i-j] = v
		}
	}
	for k := max(0, i-t.width); k <= min(t.len()-1, i-1+t.width); k++ {
		if k == i || k == i-1 {
			continue
		}
		x, y := t.at(i-1, k), t.at(i, k)
		set(i-1, k, cos*x+sin*y)
		set(i, k, cos*y-sin*x)
	}
	x, y, z := t.at(i-1, i-1), t.at(i, i), t.at(i, i-1)
	set(i-1, i-1, cos*cos*x+2*cos*sin*z+sin*sin*y)
	set(i, i, sin*sin*x-2*cos*sin*z+cos*cos*y)
	set(i, i-1, cos*sin*(y-x)+(cos*cos-sin*sin)*z)
}

// vectors returns orthonormal eigenvectors, one a row, by inverse iteration; within a
// cluster of eigenvalues they span its space.
func (t *band) vectors(values []float64, rnd *rand.Rand) blas64.General {
	n := t.len()
	x := blas64.General{Rows: len(values), Cols: n, Stride: n, Data: make([]float64, len(values)*n)}
	if n == 0 || len(values) == 0 {
		return x
	}
	norm := 0.0
	for _, v := range t.v {
		norm = max(norm, math.Abs(v))
	}
	s := bandSolver{t: t, least: norm * unit}
	first := 0 // of the cluster
	for i, value := range values {
		if i > 0 && math.Abs(value-values[i-1]) > clusterGap*norm {
			first = i
		}
		v := x.Data[i*n : (i+1)*n]
		for k := range v {
			v[k] = rnd.NormFloat64()
		}
		for range 3 {
			s.solve(value, v)
			for range 2 {
				for j := first; j < i; j++ {
					u := x.Data[j*n : (j+1)*n]
					floats.AddScaled(v, -floats.Dot(u, v), u)
				}
			}
			floats.Scale(1/floats.Norm(v, 2), v)
		}
	}
	orthonormalize(x)
	return x
}

// clusterGap is the distance of eigenvalues, relative to the largest, from which their
// vectors come out of inverse iteration within 2⁻⁵³/clusterGap of orthogonal: close
// enough for orthonormalize.
const clusterGap = 1e-12

// orthonormalize makes the rows of x, close to orthonormal, orthonormal to rounding:
// x = Uᵀx' with xxᵀ = UᵀU.
func orthonormalize(x blas64.General) {
	g := mat.NewSymDense(x.Rows, nil)
	raw := g.RawSymmetric()
	blas64.Syrk(blas.NoTrans, 1, x, 0, raw)
	var chol mat.Cholesky
	if chol.Factorize(g) {
		u := chol.RawU().(*mat.TriDense).RawTriangular()
		blas64.Trsm(blas.Left, blas.Trans, 1, u, x)
	}
}

// bandSolver solves (T − θI)x = b by elimination with partial pivoting.
type bandSolver struct {
	t      *band
	least  float64   // replaces a pivot that vanishes
	window []float64 // width+1 rows of 2·width+1 entries, from the present column on
	upper  []float64 // the rows of U
}

// solve overwrites b, scaled to length about 1, with the solution.
func (s *bandSolver) solve(theta float64, b []float64) {
	n, w := s.t.len(), s.t.width
	c := 2*w + 1
	if s.upper == nil {
		s.window, s.upper = make([]float64, (w+1)*c), make([]float64, n*c)
	}
	load := func(to []float64, i, from int) {
		for k := range to {
			to[k] = s.t.at(i, from+k)
			if from+k == i {
				to[k] -= theta
			}
		}
	}
	for r := range min(w+1, n) {
		load(s.window[r*c:(r+1)*c], r, 0)
	}
	for i := range n {
		rows, best := min(w+1, n-i), 0
		for r := 1; r < rows; r++ {
			if math.Abs(s.window[r*c]) > math.Abs(s.window[best*c]) {
				best = r
			}
		}
		top := s.upper[i*c : (i+1)*c]
		copy(top, s.window[best*c:(best+1)*c])
		copy(s.window[best*c:(best+1)*c], s.window[:c])
		b[i], b[i+best] = b[i+best], b[i]
		if math.Abs(top[0]) < s.least {
			top[0] = math.Copysign(s.least, top[0])
		}
		for r := 1; r < rows; r++ {
			f := s.window[r*c] / top[0]
			from, to := s.window[r*c+1:(r+1)*c], s.window[(r-1)*c:r*c]
			for k, v := range from {
				to[k] = v - f*top[k+1]
			}
			to[c-1] = 0
			b[i+r] -= f * b[i]
		}
		if i+w+1 < n {
			load(s.window[w*c:], i+w+1, i+1)
		}
	}
	for i := n - 1; i >= 0; i-- {
		row := s.upper[i*c : (i+1)*c]
		for k := 1; k < c && i+k < n; k++ {
			b[i] -= row[k] * b[i+k]
		}
		b[i] /= row[0]
	}
}
