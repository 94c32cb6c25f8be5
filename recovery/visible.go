// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/dense"
	"github.com/graphcloak/graphcloak/linop"
)

// krylovMemory bounds the values that the basis holds, m for each vector, and
// krylovWork the work 4mk² of orthogonalising k vectors: 2,200 vectors at m = 5,000,
// 330 at 100,000.
const (
	krylovMemory = 1 << 25
	krylovWork   = 1e11
)

// krylovBlock is the number of vectors multiplied at once: wide enough for matrix
// products, narrow enough for a Krylov space of high degree.
const krylovBlock = 8

// ritzTol is the residual, in units of the squared threshold, at which a singular
// vector is good enough: any orthonormal directions give a valid problem, so this need not be small.
const ritzTol = 1e-2

// largestFilter bounds the values of the polynomial: vectors are orthogonal to about
// 2⁻⁵³ times that.
const largestFilter = 1e7

// visibleDirections returns the left singular vectors u of a above the threshold as
// rows, and uᵀA beside them; nil where there are none or more than limit.
//
// Block Lanczos with full reorthogonalisation runs on T_d(2AAᵀ/threshold² − I), T_d
// the Chebyshev polynomial, which is above 1 exactly where the singular value is
// above the threshold. It starts from fixed random vectors, keeps what it finds and
// runs again in the complement until nothing is found, since one run may miss copies
// of a repeated singular value. What is returned is visible, ‖Aᵀu‖ > threshold, by
// products; where the budget ends the search, directions may be missing.
func visibleDirections(ctx context.Context, a linop.Operator, threshold float64, limit int) (left, image *mat.Dense, err error) {
	return newKrylov(a, threshold, limit).search(ctx)
}

// krylov is the block Lanczos iteration with its locked vectors.
type krylov struct {
	a         linop.Operator
	m, limit  int
	threshold float64
	degree    int
	rnd       *rand.Rand
	q         []float64 // rows of m: the locked vectors, then the basis of this run
	locked    int
	most      int            // rows that the budget allows
	t         band           // the polynomial on the basis of this run
	last      blas64.General // what couples it to the next block
	norm      float64        // of the polynomial, from below
}

func newKrylov(a linop.Operator, threshold float64, limit int) *krylov {
	m, _ := a.Dims()
	s := &krylov{a: a, m: m, threshold: threshold, limit: limit, rnd: rand.New(rand.NewPCG(1, 1)), norm: 1}
	s.most = min(m, krylovMemory/m, int(math.Sqrt(krylovWork/4/float64(m))))
	s.setDegree()
	return s
}

func (s *krylov) search(ctx context.Context) (left, image *mat.Dense, err error) {
	for s.locked < s.most {
		found, err := s.run(ctx)
		if err != nil {
			return nil, nil, err
		}
		if s.locked+found > s.limit {
			return nil, nil, nil
		}
		if found == 0 {
			break
		}
		s.lock(found)
	}
	return s.certify(ctx)
}

func (s *krylov) len() int { return len(s.q) / s.m }

// rows returns rows of q as a matrix.
func (s *krylov) rows(from, to int) blas64.General {
	return blas64.General{Rows: to - from, Cols: s.m, Stride: s.m, Data: s.q[from*s.m : to*s.m]}
}

// setDegree chooses the degree: 1 where a product costs as much as the orthogonality
// of its result, otherwise up to 4 while the largest value is bounded.
func (s *krylov) setDegree() {
	s.degree = 1
	if linop.HoldsEntries(s.a) {
		return
	}
	x := make([]float64, s.m)
	for i := range x {
		x[i] = s.rnd.NormFloat64()
	}
	largest := 1.0
	for range 8 {
		norm := floats.Norm(x, 2)
		if norm == 0 {
			return
		}
		floats.Scale(1/norm, x)
		x = s.filter(x, 1)
		largest = max(largest, floats.Norm(x, 2))
	}
	for s.degree < 4 && math.Pow(2*largest, float64(s.degree+1)) < largestFilter {
		s.degree++
	}
}

// filter returns T_d(2AAᵀ/threshold² − I) x for k columns in row-major order.
func (s *krylov) filter(x []float64, k int) []float64 {
	_, n := s.a.Dims()
	middle := make([]float64, n*k)
	scale := 2 / (s.threshold * s.threshold)
	var before []float64
	for d := range s.degree {
		next := make([]float64, s.m*k)
		linop.MulBlockTo(s.a, middle, true, x, k)
		linop.MulBlockTo(s.a, next, false, middle, k)
		for i, v := range next {
			next[i] = scale*v - x[i]
			if d > 0 {
				next[i] = 2*next[i] - before[i]
			}
		}
		before, x = x, next
	}
	return x
}

// run builds a basis of a Krylov space in the complement of the locked vectors and
// returns the number of its Ritz values above 1.
func (s *krylov) run(ctx context.Context) (int, error) {
	s.t, s.last = band{width: krylovBlock}, blas64.General{}
	start := make([]float64, krylovBlock*s.m)
	for i := range start {
		start[i] = s.rnd.NormFloat64()
	}
	for i := range krylovBlock { // as long as what the filter returns: extend drops what is rounding beside that
		row := start[i*s.m : (i+1)*s.m]
		floats.Scale(s.norm/floats.Norm(row, 2), row)
	}
	from := s.locked
	s.extend(start, krylovBlock)
	for found, since := 0, 0; ; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		to := s.len()
		p := to - from
		h, r := s.extend(dense.Transpose(s.filter(dense.Transpose(s.q[from*s.m:], p, s.m), p), s.m, p), p)
		s.t.append(h, s.last)
		s.last = r
		k := to - s.locked
		if c := s.t.count(1); c != found {
			found, since = c, k
		}
		switch {
		case s.locked+found > s.limit, s.len() == to, s.len() >= s.most,
			k-since >= max(4*krylovBlock, k/16) && s.settled(found):
			s.q = s.q[:to*s.m]
			return found, nil
		}
		from = to
	}
}

// extend makes p rows orthonormal to q and to each other, and adds what is left of
// them to q: rows = h·q + rᵀ·(the new ones), r upper triangular.
func (s *krylov) extend(rows []float64, p int) (h, r blas64.General) {
	old := s.len()
	w := blas64.General{Rows: p, Cols: s.m, Stride: s.m, Data: rows}
	h = blas64.General{Rows: p, Cols: old, Stride: max(1, old), Data: make([]float64, p*old)}
	r = blas64.General{Rows: p, Cols: p, Stride: p, Data: make([]float64, p*p)}
	length := make([]float64, p)
	for i := range p {
		length[i] = floats.Norm(rows[i*s.m:(i+1)*s.m], 2)
		s.norm = max(s.norm, length[i])
	}
	// First the last two blocks, since the rest of h is rounding error, then all.
	for _, from := range [2]int{max(s.locked, old-2*krylovBlock), 0} {
		if from == old {
			continue
		}
		q, part := s.rows(from, old), blas64.General{Rows: p, Cols: old - from, Stride: old - from, Data: make([]float64, p*(old-from))}
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, w, q, 0, part)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, part, q, 1, w)
		for i := range p {
			floats.Add(h.Data[i*old+from:(i+1)*old], part.Data[i*part.Stride:(i+1)*part.Stride])
		}
	}
	for i := range p {
		v := rows[i*s.m : (i+1)*s.m]
		from := old
		if floats.Norm(v, 2) < 1e-3*length[i] {
			from = 0 // what is left may be rounding
		}
		for range 2 {
			for k := from; k < s.len(); k++ {
				q := s.q[k*s.m : (k+1)*s.m]
				c := floats.Dot(q, v)
				floats.AddScaled(v, -c, q)
				if k >= old {
					r.Data[(k-old)*p+i] += c
				}
			}
		}
		rest := floats.Norm(v, 2)
		if rest <= 1e3*unit*s.norm || s.len() == s.m {
			continue
		}
		r.Data[(s.len()-old)*p+i] = rest
		floats.Scale(1/rest, v)
		s.q = append(s.q, v...)
	}
	r.Rows = s.len() - old
	return h, r
}

// settled reports whether the lowest Ritz vectors above 1, which come last, have
// converged.
func (s *krylov) settled(found int) bool {
	k, p := s.t.len(), s.last.Cols
	var values []float64
	for i := found; i > max(0, found-4); i-- {
		values = append(values, s.t.value(i))
	}
	slow := s.t.vectors(values, s.rnd)
	for i := range values {
		tail := blas64.Vector{N: p, Inc: 1, Data: slow.Data[(i+1)*k-p : (i+1)*k]}
		out := blas64.Vector{N: s.last.Rows, Inc: 1, Data: make([]float64, s.last.Rows)}
		blas64.Gemv(blas.NoTrans, 1, s.last, tail, 0, out)
		if blas64.Nrm2(out) > max(ritzTol, 1e3*unit*s.norm) {
			return false
		}
	}
	return true
}

// lock replaces the basis of this run by its Ritz vectors above 1.
func (s *krylov) lock(found int) {
	values := s.t.values()
	x := s.t.vectors(values[len(values)-found:], s.rnd)
	out := make([]float64, found*s.m)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, x, s.rows(s.locked, s.len()), 0,
		blas64.General{Rows: found, Cols: s.m, Stride: s.m, Data: out})
	s.q = append(s.q[:s.locked*s.m], out...)
	s.locked += found
}

// certify multiplies the locked vectors by A and keeps those that are visible.
func (s *krylov) certify(ctx context.Context) (left, image *mat.Dense, err error) {
	_, n := s.a.Dims()
	var u, w []float64
	width := linop.BlockColumns(max(n, s.m))
	for at := 0; at < s.locked; at += width {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		p := min(width, s.locked-at)
		block := make([]float64, n*p)
		linop.MulBlockTo(s.a, block, true, dense.Transpose(s.q[at*s.m:], p, s.m), p)
		rows := dense.Transpose(block, n, p)
		for i := range p {
			if row := rows[i*n : (i+1)*n]; floats.Norm(row, 2) > s.threshold {
				w = append(w, row...)
				u = append(u, s.q[(at+i)*s.m:(at+i+1)*s.m]...)
			}
		}
	}
	if len(u) == 0 {
		return nil, nil, nil
	}
	return mat.NewDense(len(u)/s.m, s.m, u), mat.NewDense(len(u)/s.m, n, w), nil
}
