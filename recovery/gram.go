// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/dense"
	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// gramSensors is the number of sensors from which the normal equations are tried
// first: their products cost a quarter of an orthogonal basis.
const gramSensors = 1000

// gramCond bounds the condition of the Gram matrix of columns of length 1, the square
// of theirs. Near it a refinement gains a digit or two: converge sees whether they suffice.
const gramCond = 1e14

// gramMemory bounds the memory of the columns, in bytes. Beyond it they are dropped: a new
// column then costs two products instead of one, and a refinement four.
const gramMemory = 1 << 29

// maxSingleFlips bounds the exchanges of a single variable while the number of violations does not fall, and maxThinFlips those of
// thin columns, which cost no product.
const (
	maxSingleFlips = 200
	maxThinFlips   = 1000
)

// gram solves the same problem as master from the Gram matrix of the columns, where
// they are well conditioned and block pivoting converges. Otherwise solve reports false
// and master takes over.
//
// With SG_FFS = RᵀR, S = diag(1/‖a_j‖), Q = A_F S R⁻¹ is never formed (corrected
// seminormal equations: Björck (1987), Linear Algebra Appl. 88/89).
type gram struct {
	*certifier
	k       int
	nodes   []int
	blocks  []blas64.General   // the columns as rows, in the order in which they came
	thin    *thinColumns       // in place of blocks, where columns can be read; nil: blocks
	memory  int                // that blocks, or thin columns, may take
	dropped bool               // they would take more: products with A instead
	local   linop.ColumnReader // of the thin columns
	g       []float64          // k × k
	aty     []float64          // A_Wᵀy
	at      []place
	f       []float64 // the last solution

	order   []int     // the free variables
	inverse []float64 // 1/‖a_j‖ of them
	r       blas64.Triangular
	x       []float64
	resid   []float64 // y − A_W x
	norm    float64   // of it
	cw      []float64 // A_Wᵀ resid
	lambda  float64
}

// grow adds columns at zero.
func (s *gram) grow(picks []int) {
	p := len(picks)
	if p == 0 {
		return
	}
	old, k := s.k, s.k+p
	s.k, s.nodes = k, append(s.nodes, picks...)
	cross, aty := s.crossAll(picks)
	g := make([]float64, k*k)
	for i := range old {
		copy(g[i*k:], s.g[i*old:(i+1)*old])
	}
	for i := range k {
		for c := max(0, i-old); c < p; c++ {
			g[i*k+old+c], g[(old+c)*k+i] = cross[i*p+c], cross[i*p+c]
		}
	}
	s.g = g
	s.aty = append(s.aty, aty...)
	s.at = append(s.at, make([]place, p)...)
	s.f, s.cw = append(s.f, make([]float64, p)...), make([]float64, k)
}

// crossAll returns A_WᵀA_new and A_newᵀy for the columns that are added, and holds them as
// memory allows.
func (s *gram) crossAll(picks []int) (cross, aty []float64) {
	if s.thin != nil {
		s.addThin(picks)
		if s.thin.fits(s.memory) {
			return s.crossThin(len(picks))
		}
		s.thin, s.dropped = nil, true
	}
	if s.dropped = s.dropped || 8*s.k*len(s.p.Y) > s.memory; !s.dropped {
		return s.crossColumns(picks)
	}
	s.blocks = nil
	return s.crossProducts(picks)
}

// crossThin returns the products of all thin columns with the last p of them, and of these with y.
func (s *gram) crossThin(p int) (cross, aty []float64) {
	first := len(s.thin.columns) - p
	for _, c := range s.thin.columns[first:] {
		aty = append(aty, c.dot(s.p.Y))
	}
	return s.thin.cross(first, len(s.p.Y)), aty
}

// addThin adds columns that are read, and by a product where heat goes too far for that.
func (s *gram) addThin(picks []int) {
	far := cutError * math.Pow(s.p.A.(normal).norm, 2)
	columns := make([]thin, len(picks))
	parallel.Each(len(picks), func(k int) {
		s.local(picks[k], func(rows []int32, x []float64, off float64) {
			if off <= far {
				columns[k] = thin{slices.Clone(rows), slices.Clone(x)}
			}
		})
	})
	for k, c := range columns {
		if c.rows == nil {
			columns[k] = newThin(s.columns(picks[k : k+1]))
		}
		s.thin.entries += len(columns[k].rows)
	}
	s.thin.columns = append(s.thin.columns, columns...)
}

// crossColumns adds a block of columns and multiplies all by it.
func (s *gram) crossColumns(picks []int) (cross, aty []float64) {
	m, p := len(s.p.Y), len(picks)
	block := blas64.General{Rows: p, Cols: m, Stride: m, Data: s.columns(picks)}
	s.blocks = append(s.blocks, block)
	cross = make([]float64, 0, s.k*p)
	for _, b := range s.blocks {
		c := blas64.General{Rows: b.Rows, Cols: p, Stride: p, Data: make([]float64, b.Rows*p)}
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, b, block, 0, c)
		cross = append(cross, c.Data...)
	}
	for i := range p {
		aty = append(aty, floats.Dot(s.p.Y, block.Data[i*m:(i+1)*m]))
	}
	return cross, aty
}

// crossProducts gets the same from Aᵀ(A e_j).
func (s *gram) crossProducts(picks []int) (cross, aty []float64) {
	m, n := s.p.A.Dims()
	p := len(picks)
	cross, aty = make([]float64, s.k*p), make([]float64, p)
	width := min(p, linop.BlockColumns(max(m, n)))
	in, out := make([]float64, n*width), make([]float64, m*width)
	for at := 0; at < p && !s.cancelled(); at += width {
		part := picks[at:min(at+width, p)]
		w := len(part)
		in, out := in[:n*w], out[:m*w]
		clear(in)
		for c, j := range part {
			in[j*w+c] = 1
		}
		linop.MulBlockTo(s.p.A, out, false, in, w)
		for i, y := range s.p.Y {
			floats.AddScaled(aty[at:at+w], y, out[i*w:(i+1)*w])
		}
		linop.MulBlockTo(s.p.A, in, true, out, w)
		for i, j := range s.nodes {
			copy(cross[i*p+at:], in[j*w:(j+1)*w])
		}
		s.res.Products += 2 * w
	}
	return cross, aty
}

// solve is block principal pivoting as in master; where the number of violations does
// not fall, one variable at a time until it does. That ends for a fixed λ; here λ moves
// with the free set, and a number of exchanges bounds it. Where so many became free at once that their
// columns are ill conditioned, the first half of the exchange is undone. It reports false where it does not
// converge, or the columns are ill conditioned all the same.
func (s *gram) solve(eta float64, stop func() bool) bool {
	// Under heavy cancellation in y − A f, squared norms lose the residual.
	cancels := eta*eta < 1e-6*s.squared
	fewest, tries, most := math.MaxInt, 5, maxSingleFlips
	if s.thin != nil {
		most = maxThinFlips
	}
	var before []place
	var flips []int
	for !stop() {
		if !s.factor() {
			if len(flips) < 2 {
				return false
			}
			copy(s.at, before)
			flips = flips[len(flips)/2:]
			s.flip(flips)
			continue
		}
		s.initial(eta)
		if cancels {
			s.updateResidual()
			s.refine(eta)
		}
		flips = s.violated()
		if len(flips) == 0 {
			if !s.converge(eta) {
				return false
			}
			flips = s.violated()
		}
		if len(flips) == 0 {
			copy(s.f, s.x)
			return true
		}
		if len(flips) < fewest {
			fewest, tries = len(flips), 5
		} else if tries--; tries < 0 {
			flips = flips[len(flips)-1:]
			if tries < -most {
				return false
			}
		}
		before = append(before[:0], s.at...)
		s.flip(flips)
	}
	return false
}

// flip moves variables across the bound or the condition that they violate.
func (s *gram) flip(js []int) {
	for _, j := range js {
		switch {
		case s.at[j] != free:
			s.at[j] = free
		case s.x[j] > 1:
			s.at[j] = atUpper
		default:
			s.at[j] = atZero
		}
	}
}

// refine takes one step of iterative refinement from the true residual, which removes the
// rounding errors of R and of the Gram matrix.
func (s *gram) refine(eta float64) {
	s.improve(eta, s.norm*s.norm)
	s.updateResidual()
}

// converge refines until the free variables have equal prices, within a tenth of the
// tolerance of the gap. It reports whether they are.
func (s *gram) converge(eta float64) bool {
	s.updateResidual()
	for pass := range 6 {
		s.refine(eta)
		if pass > 0 && s.pricesEqual(eta) {
			return true
		}
	}
	return false
}

func (s *gram) pricesEqual(eta float64) bool {
	if math.IsInf(s.lambda, 1) {
		return true
	}
	size := s.norm + math.Sqrt(s.squared)
	if s.lambda > 0 && math.Abs(s.norm-eta) > s.tol/10*eta+few*unit*size {
		return false
	}
	for i, j := range s.order {
		if math.Abs(s.cw[j]-s.lambda) > s.tol/10*s.lambda+few*unit*size/s.inverse[i] {
			return false
		}
	}
	return true
}

// initial sets x to the optimum over the free variables, from the Gram matrix alone.
func (s *gram) initial(eta float64) {
	s.x = make([]float64, s.k)
	copy(s.cw, s.aty)
	squared := s.squared
	for j, p := range s.at {
		if p != atUpper {
			continue
		}
		// ‖b − a_j‖² = ‖b‖² − 2a_jᵀb + ‖a_j‖²
		squared += s.g[j*s.k+j] - 2*s.cw[j]
		floats.AddScaled(s.cw, -1, s.g[j*s.k:(j+1)*s.k])
		s.x[j] = 1
	}
	s.norm = s.improve(eta, squared)
	for _, j := range s.order {
		floats.AddScaled(s.cw, -s.x[j], s.g[j*s.k:(j+1)*s.k])
	}
}

// improve adds to x the optimal step of the free variables, given cw = A_Wᵀb and
// ‖b‖² of the present residual b, sets lambda, and returns the norm of the next.
func (s *gram) improve(eta, squared float64) float64 {
	n := len(s.order)
	h := blas64.Vector{N: n, Inc: 1, Data: make([]float64, n)}
	v := blas64.Vector{N: n, Inc: 1, Data: make([]float64, n)}
	for i, j := range s.order {
		h.Data[i], v.Data[i] = s.inverse[i]*s.cw[j], s.inverse[i]
	}
	if n > 0 {
		blas64.Trsv(blas.Trans, s.r, h)
		blas64.Trsv(blas.Trans, s.r, v)
	}
	s.lambda = 0
	least := squared - floats.Dot(h.Data, h.Data)
	if room := eta*eta - least; room > 0 {
		s.lambda = math.Sqrt(room / floats.Dot(v.Data, v.Data)) // +Inf where nothing is free
	}
	if n > 0 {
		floats.AddScaled(h.Data, -s.lambda, v.Data)
		blas64.Trsv(blas.NoTrans, s.r, h)
		for i, j := range s.order {
			s.x[j] += s.inverse[i] * h.Data[i]
		}
	}
	return math.Max(eta, math.Sqrt(math.Max(0, least)))
}

// updateResidual sets resid to y − A_W x, norm to its length and cw to A_Wᵀ resid.
func (s *gram) updateResidual() {
	copy(s.resid, s.p.Y)
	if s.dropped {
		_, n := s.p.A.Dims()
		full, image := make([]float64, n), make([]float64, len(s.p.Y))
		for i, j := range s.nodes {
			full[j] = s.x[i]
		}
		s.multiply(image, false, full)
		floats.Sub(s.resid, image)
		s.multiply(full, true, s.resid)
		for i, j := range s.nodes {
			s.cw[i] = full[j]
		}
	}
	if s.thin != nil {
		s.thin.subtract(s.resid, s.x)
		s.thin.dots(s.cw, s.resid)
	}
	b := blas64.Vector{N: len(s.resid), Inc: 1, Data: s.resid}
	s.each(func(block blas64.General, v blas64.Vector) {
		blas64.Gemv(blas.Trans, -1, block, v, 1, b)
	}, s.x)
	s.each(func(block blas64.General, v blas64.Vector) {
		blas64.Gemv(blas.NoTrans, 1, block, b, 0, v)
	}, s.cw)
	s.norm = math.Sqrt(dot2(s.resid, s.resid))
}

// each calls do for each block with its part of v.
func (s *gram) each(do func(block blas64.General, v blas64.Vector), v []float64) {
	at := 0
	for _, b := range s.blocks {
		do(b, blas64.Vector{N: b.Rows, Inc: 1, Data: v[at : at+b.Rows]})
		at += b.Rows
	}
}

// factor sets order to the free variables and r to R of SG_FFS = RᵀR, S = diag(inverse).
// It reports false where that is ill conditioned.
func (s *gram) factor() bool {
	s.order = s.order[:0]
	for j, p := range s.at {
		if p == free {
			s.order = append(s.order, j)
		}
	}
	n := len(s.order)
	if n == 0 {
		return true
	}
	s.inverse = make([]float64, n)
	for a, i := range s.order {
		s.inverse[a] = 1 / math.Sqrt(s.g[i*s.k+i])
	}
	sub := mat.NewSymDense(n, nil)
	raw := sub.RawSymmetric()
	for a, i := range s.order {
		row := s.g[i*s.k : (i+1)*s.k]
		for b := a; b < n; b++ {
			raw.Data[a*raw.Stride+b] = s.inverse[a] * row[s.order[b]] * s.inverse[b]
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(sub) || !(chol.Cond() < gramCond) {
		return false
	}
	s.r = chol.RawU().(*mat.TriDense).RawTriangular()
	return true
}

// violated lists the variables that violate a bound or an optimality condition.
func (s *gram) violated() []int {
	var out []int
	for j, p := range s.at {
		slack := few*unit*math.Sqrt(max(0, s.g[j*s.k+j]))*s.norm + 1e-13*s.lambda
		if math.IsInf(s.lambda, 1) {
			slack = 0
		}
		switch p {
		case free:
			if s.x[j] < 0 || s.x[j] > 1 {
				out = append(out, j)
			}
		case atZero:
			if s.cw[j]-s.lambda > slack {
				out = append(out, j)
			}
		case atUpper:
			if s.lambda-s.cw[j] > slack {
				out = append(out, j)
			}
		}
	}
	return out
}

// handOver moves the working set to an orthogonal basis and its master. Room is made for more columns, of so many vectors at
// most, since a large basis is copied each time it grows.
func (s *gram) handOver(b *dense.Basis, to *master, room int) {
	at, f := s.at, s.f
	switch {
	case s.dropped:
		s.blocks = []blas64.General{{Rows: s.k, Data: s.columns(s.nodes)}}
	case s.thin != nil:
		m := len(s.p.Y)
		data := make([]float64, s.k*m)
		for k, c := range s.thin.columns {
			c.addTo(data[k*m:(k+1)*m], 1)
		}
		s.blocks, s.thin = []blas64.General{{Rows: s.k, Data: data}}, nil
	}
	b.Reserve(min(room, 4*s.k))
	for _, block := range s.blocks {
		coords := b.Extend(block.Data, block.Rows)
		q, _, rho2 := b.Project(s.p.Y)
		to.grow(coords, q, rho2)
	}
	copy(to.at, at)
	copy(to.f, f)
}
