// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
)

// ColumnGeneration solves the program exactly on a small working set of columns,
// prices all columns with one product Mᵀr, adds the best and repeats. It is the
// solver to start with: solutions are sparse, so few columns are ever needed.
//
// It holds 8·m·k bytes for k columns, at most the numerical rank of M.
type ColumnGeneration struct{ Options }

// Solve implements [Solver].
func (g ColumnGeneration) Solve(ctx context.Context, p Problem) (*Result, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if floats.Norm(p.Y, 2) <= p.Radius {
		return p.zero(), nil
	}
	s := newGeneration(ctx, g.withDefaults(), p)
	for s.res.Iterations < s.opts.MaxIterations {
		s.res.Iterations++
		if s.price() {
			return s.finish()
		}
		picks := s.choose()
		if len(picks) == 0 && !s.shrunk {
			break
		}
		if !s.extend(picks) {
			return nil, ctx.Err()
		}
		s.opts.report(&s.res)
	}
	return s.finish()
}

// zero is the answer where y is within the ball.
func (p Problem) zero() *Result {
	m, n := p.A.Dims()
	return &Result{Status: Zero, F: make([]float64, n), Dual: make([]float64, m), Residual: floats.Norm(p.Y, 2)}
}

// worstTol is the largest gap that is accepted for the sake of rounding.
const worstTol = 1e-5

// generation is one run.
type generation struct {
	ctx  context.Context
	opts Options
	p    Problem
	tol  float64
	err  float64 // of the operator
	eta  float64 // η − d‖f‖₂ − what rounding needs

	basis  basis
	master master
	nodes  []int // of the working set
	in     []bool
	rest   []float64 // y less its part in the basis
	r      []float64 // residual of the master
	c      []float64 // Mᵀr
	scale  float64   // ≤ ‖M‖₂
	dense  bool      // add more than local maxima

	feasible bool // the master met its ball
	shrunk   bool // the ball is smaller than the one that the master met
	res      Result
}

func newGeneration(ctx context.Context, opts Options, p Problem) *generation {
	m, n := p.A.Dims()
	s := &generation{
		ctx: ctx, opts: opts, p: p, err: linop.Err(p.A), eta: p.Radius,
		basis: basis{m: m}, in: make([]bool, n), c: make([]float64, n),
		r: append([]float64(nil), p.Y...),
	}
	s.master.u = p.upper()
	s.rest, s.master.rho2 = s.r, dot2(p.Y, p.Y)
	s.tol = max(opts.Tol, min(worstTol, 100*2*unit*floats.Norm(p.Y, 2)/p.Radius))
	s.res = Result{F: make([]float64, n), Dual: make([]float64, m), Gap: math.Inf(1), Residual: floats.Norm(p.Y, 2)}
	return s
}

// price computes Mᵀr and what it proves. It reports whether the run is over.
func (s *generation) price() bool {
	s.p.A.MulVecTo(s.c, true, s.r)
	s.res.Products++
	v := s.p.viewOf(s.r, s.c, s.scale)
	if v.norm > 0 {
		s.scale = max(s.scale, floats.Norm(s.c, 2)/v.norm)
	}
	if s.refuted(v) {
		return true
	}
	if lb, t, sure := v.best(s.master.u); !sure && lb > s.res.LowerBound {
		s.res.LowerBound = lb
		floats.ScaleTo(s.res.Dual, t, s.r)
	}
	if !s.feasible {
		return false
	}
	s.res.Objective = floats.Sum(s.master.f)
	s.res.Gap = gapOf(s.res.Objective, s.res.LowerBound)
	// What the roundings of g(z) leave when ‖y‖‖z‖ cancels.
	floor := 2 * few * unit * floats.Norm(s.p.Y, 2) * floats.Norm(s.res.Dual, 2) / s.res.LowerBound
	return s.res.Gap <= max(s.tol, min(worstTol, floor)) && s.verify()
}

// refuted looks for a proof that nothing fits.
func (s *generation) refuted(v view) bool {
	if s.opts.MassCap == 0 {
		s.opts.MassCap = 1e3 * float64(len(s.c))
		if lb, _, sure := v.best(math.Inf(1)); !sure {
			s.opts.MassCap *= max(1, lb)
		}
	}
	f := v.farkas(s.master.u, s.opts.MassCap)
	if f <= 0 {
		return false
	}
	s.res.Status, s.res.Margin = Infeasible, f/v.norm
	copy(s.res.Dual, s.r)
	return true
}

// verify computes the true residual. Where it is outside the ball by more than the
// rounding of computing it, the ball is shrunk and the run goes on.
func (s *generation) verify() bool {
	s.fill()
	s.res.Residual = s.residual(s.res.F)
	excess := s.excess()
	if excess <= 0 {
		s.res.Status = Optimal
		return true
	}
	s.eta -= 1.01 * excess
	s.shrunk = s.eta > 0 // else the error of the operator fills the ball
	return false
}

// excess is by how much F is outside the exact ball, beyond rounding.
func (s *generation) excess() float64 {
	return s.res.Residual + s.err*floats.Norm(s.res.F, 2) - s.p.Radius - few*unit*(floats.Norm(s.p.Y, 2)+s.p.Radius)
}

func (s *generation) fill() {
	clear(s.res.F)
	s.res.Support = 0
	for k, j := range s.nodes {
		s.res.F[j] = s.master.f[k]
		if s.master.f[k] > 0 {
			s.res.Support++
		}
	}
}

func (s *generation) residual(f []float64) float64 {
	r := make([]float64, len(s.p.Y))
	s.p.A.MulVecTo(r, false, f)
	s.res.Products++
	floats.SubTo(r, s.p.Y, r)
	return math.Sqrt(dot2(r, r))
}

// choose returns the columns to add, the best first.
func (s *generation) choose() []int {
	threshold := 0.0
	if s.feasible {
		threshold = s.master.lambda
	}
	limit := max(20, s.res.Support*3/5)
	var all, peaks []int
	for j, c := range s.c {
		if s.in[j] || c <= threshold {
			continue
		}
		all = append(all, j)
		if s.opts.Neighbors != nil && s.peak(j) {
			peaks = append(peaks, j)
		}
	}
	byPrice := func(a, b int) int {
		switch {
		case s.c[a] > s.c[b]:
			return -1
		case s.c[a] < s.c[b]:
			return 1
		}
		return a - b
	}
	if len(peaks) > 0 && !s.dense {
		all = peaks
	}
	slices.SortFunc(all, byPrice)
	return all[:min(limit, len(all))]
}

// peak reports whether no neighbour outside the working set has a better price.
func (s *generation) peak(j int) bool {
	for _, k := range s.opts.Neighbors(j) {
		if s.c[k] > s.c[j] && !s.in[k] {
			return false
		}
	}
	return true
}

// extend adds columns to the working set and solves the master. It reports false
// where the context ended.
func (s *generation) extend(picks []int) bool {
	if len(picks) > 0 {
		cols := make([]float64, s.basis.m*len(picks))
		columnsTo(s.p.A, cols, picks)
		s.res.Products += len(picks)
		coords := s.basis.extend(cols, len(picks))
		for _, j := range picks {
			s.in[j] = true
		}
		s.nodes = append(s.nodes, picks...)
		q, rest, rho2 := s.basis.project(s.p.Y)
		s.rest = rest
		s.master.grow(coords, q, rho2)
	}
	if !s.master.solve(s.eta, func() bool { return s.ctx.Err() != nil }) {
		return false
	}
	s.settle(picks)
	return true
}

// settle takes over the master's solution.
func (s *generation) settle(picks []int) {
	s.shrunk = false
	used := 0
	for _, f := range s.master.f[len(s.master.f)-len(picks):] {
		if f > 0 {
			used++
		}
	}
	s.dense = 2*used > len(picks)
	s.feasible = s.master.lambda > 0
	s.fill()
	copy(s.r, s.rest)
	for i, v := range s.master.resid {
		floats.AddScaled(s.r, v, s.basis.vector(i))
	}
}

// finish returns the result, or the best that was found.
func (s *generation) finish() (*Result, error) {
	if s.res.Status == Optimal {
		return &s.res, nil
	}
	s.fill()
	s.res.Objective = floats.Sum(s.res.F)
	s.res.Residual = s.residual(s.res.F)
	if s.res.Status == Infeasible {
		s.res.Gap = math.Inf(1)
		return &s.res, nil
	}
	if s.excess() > 0 {
		s.res.Gap = math.Inf(1)
	}
	return &s.res, fmt.Errorf("%w: gap %.1e after %d iterations", ErrStalled, s.res.Gap, s.res.Iterations)
}
