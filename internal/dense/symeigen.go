// SPDX-License-Identifier: Apache-2.0

package dense

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	lapack "gonum.org/v1/gonum/lapack/gonum"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// SymmetricEigen replaces the symmetric n × n matrix a by its orthonormal
// eigenvectors, one a row, and sets lambda to its eigenvalues in ascending order. Progress
// may be nil. It returns [ErrIteration] or the error of the context.
//
// gonum's EigenSym spends most of its time on the rotations of QL, which run down
// the columns of a row-major matrix. Here they run along its rows, many at a time
// on a panel that fits the cache: n = 2000 takes a quarter of the time.
func SymmetricEigen(ctx context.Context, n int, a, lambda []float64, progress func(string, int64, int64)) error {
	if n == 1 {
		lambda[0], a[0] = a[0], 1
		return nil
	}
	var impl lapack.Implementation
	off := make([]float64, n)
	tau, work := make([]float64, n-1), make([]float64, 64*n)
	impl.Dsytrd(blas.Lower, n, a, n, lambda, off[:n-1], tau, work, len(work))
	impl.Dorgtr(blas.Lower, n, a, n, tau, work, len(work))
	transposeSquare(n, a)
	var size float64
	for i, v := range lambda {
		size = max(size, math.Abs(v)+2*math.Abs(off[i])) // ‖T‖₂ within a factor of 2
	}
	r := &rotator{n: n, v: a}
	if err := implicitQL(ctx, lambda, off, 0x1p-54*size+negligible, r.add, progress); err != nil {
		return err
	}
	r.flush()
	if slices.ContainsFunc(lambda, math.IsNaN) {
		return ErrIteration
	}
	order := make([]int, n)
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(lambda[x], lambda[y]) })
	l, v := slices.Clone(lambda), slices.Clone(a)
	for k, o := range order {
		lambda[k] = l[o]
		copy(a[k*n:(k+1)*n], v[o*n:])
	}
	return nil
}

// TridiagonalEigen replaces the diagonal d of a symmetric tridiagonal matrix by its eigenvalues, in no order, and sets q, n × n,
// to its orthonormal eigenvectors, one a row. Entries of off below 1e-40 count as 0.
// It overwrites off, whose last entry is not read, and returns [ErrIteration] or nil.
func TridiagonalEigen(d, off, q []float64) error {
	n := len(d)
	clear(q)
	for i := range d {
		q[i*n+i] = 1
	}
	err := implicitQL(context.Background(), d, off, negligible, func(i int, c, s float64) {
		v, w := q[i*n:][:n], q[(i+1)*n:][:n]
		for j, x := range v {
			v[j], w[j] = c*x-s*w[j], s*x+c*w[j]
		}
	}, nil)
	if err == nil && slices.ContainsFunc(d, math.IsNaN) {
		err = ErrIteration
	}
	return err
}

func transposeSquare(n int, a []float64) {
	for i := range n {
		for j := range i {
			a[i*n+j], a[j*n+i] = a[j*n+i], a[i*n+j]
		}
	}
}

// implicitQL diagonalises the symmetric tridiagonal matrix with diagonal d and
// off-diagonal e[:n−1] by implicit QL steps with Wilkinson's shift (Bowdler,
// Martin, Reinsch & Wilkinson, Numer. Math. 11, 1968, 293–306), and hands each
// rotation to rotate.
//
// An off-diagonal entry counts as 0 where it is below the roundoff of its neighbours on
// the diagonal, or below roundoff, for a full matrix its own: rotations with the rows of a hub
// leave errors of that size anyway. The first criterion alone may never be met between nearly
// equal eigenvalues that are small beside ‖S‖, as leaves and components cause.
func implicitQL(ctx context.Context, d, e []float64, roundoff float64, rotate func(i int, c, s float64),
	progress func(string, int64, int64),
) error {
	n := len(d)
	e[n-1] = 0
	left := maxSweeps * n
	for l := range n {
		if l%64 == 0 && progress != nil {
			progress("eigenvalues", int64(l), int64(n))
		}
		for {
			m := l
			for m < n-1 && math.Abs(e[m]) > 0x1p-52*(math.Abs(d[m])+math.Abs(d[m+1]))+roundoff {
				m++
			}
			if m == l {
				break
			}
			if left--; left < 0 {
				return ErrIteration
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			step(d, e, l, m, rotate)
		}
	}
	return nil
}

// step is one QL step on rows l to m.
func step(d, e []float64, l, m int, rotate func(i int, c, s float64)) {
	g := (d[l+1] - d[l]) / (2 * e[l])
	g = d[m] - d[l] + e[l]/(g+math.Copysign(math.Hypot(g, 1), g))
	s, c, p := 1.0, 1.0, 0.0
	for i := m - 1; i >= l; i-- {
		f, b := s*e[i], c*e[i]
		h := math.Hypot(f, g)
		e[i+1] = h
		if h == 0 {
			d[i+1] -= p
			e[m] = 0
			return
		}
		s, c = f/h, g/h
		g = d[i+1] - p
		q := (d[i]-g)*s + 2*c*b
		p = s * q
		d[i+1] = g + p
		g = c*q - b
		rotate(i, c, s)
	}
	d[l] -= p
	e[l] = g
	e[m] = 0
}

// rotator collects rotations of the rows of v and applies them panel by panel:
// each panel of columns sees the same rotations in the same order, so that the
// bits do not depend on the number of workers.
type rotator struct {
	n    int
	v    []float64
	list []rotation
}

// rotation maps rows (i, i+1) to (c·v_i − s·v_{i+1}, s·v_i + c·v_{i+1}).
type rotation struct {
	i    int
	c, s float64
}

// negligible is far below the roundoff of a matrix of norm about 1.
const negligible = 1e-40

// ErrIteration is returned where QL needs too many steps, or meets what is no number.
var ErrIteration = errors.New("the eigenvalue iteration does not converge")

// maxSweeps is how many QL steps an eigenvalue may take in the mean, as in LAPACK's DSTEQR: 2
// are usual, but single ones, at the end of a graded matrix, may take many.
const maxSweeps = 30

const (
	panelColumns = 64
	maxRotations = 1 << 16
)

func (r *rotator) add(i int, c, s float64) {
	if len(r.list) == maxRotations {
		r.flush()
	}
	r.list = append(r.list, rotation{i, c, s})
}

func (r *rotator) flush() {
	panels := (r.n + panelColumns - 1) / panelColumns
	parallel.Each(panels, func(p int) { r.panel(p*panelColumns, min((p+1)*panelColumns, r.n)) })
	r.list = r.list[:0]
}

func (r *rotator) panel(lo, hi int) {
	for _, q := range r.list {
		x := r.v[q.i*r.n+lo : q.i*r.n+hi]
		y := r.v[(q.i+1)*r.n+lo : (q.i+1)*r.n+hi]
		y = y[:len(x)]
		for j, a := range x {
			b := y[j]
			x[j] = q.c*a - q.s*b
			y[j] = q.s*a + q.c*b
		}
	}
}
