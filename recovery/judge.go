// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
)

// worstTol is the largest gap that is accepted for the sake of rounding.
const worstTol = 1e-5

// judge holds what is proved so far. Every solver ends through it, so that none can
// call an answer optimal or a problem infeasible without the proof.
type judge struct {
	ctx   context.Context
	opts  Options
	p     Problem
	tol   float64
	blur  blur      // of the operator along the residual of the last prove
	last  float64   // the length of that
	trim  float64   // what eta is lowered by beyond what was known ahead
	lost  float64   // what the blur takes from LowerBound
	eta   float64   // η − d‖f‖₂ − what rounding needs
	c     []float64 // Mᵀr of the last prove
	scale float64   // ≤ ‖M‖₂
	res   Result
}

// newJudge validates the problem. Where f = 0 is optimal it returns that result
// and no judge.
func newJudge(ctx context.Context, opts Options, p Problem) (*judge, *Result, error) {
	if err := p.check(); err != nil {
		return nil, nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	m, n := p.A.Dims()
	norm := math.Sqrt(dot2(p.Y, p.Y))
	zero := Result{F: make([]float64, n), Dual: make([]float64, m), Residual: norm}
	if norm <= p.Radius {
		zero.Status = Zero
		return nil, &zero, nil
	}
	zero.Gap = math.Inf(1)
	opts = opts.withDefaults()
	return &judge{
		ctx: ctx, opts: opts, p: p, eta: p.Radius, c: make([]float64, n), res: zero,
		tol: max(opts.Tol, min(worstTol, 100*2*unit*norm/p.Radius)),
	}, nil, nil
}

// prove computes c = Mᵀr and what it shows. It reports whether that is the end: no f
// fits.
func (j *judge) prove(r []float64) bool {
	j.multiply(j.c, true, r)
	v := j.p.viewOf(r, j.c, j.scale)
	if v.norm == 0 {
		return false
	}
	j.scale = max(j.scale, floats.Norm(j.c, 2)/v.norm)
	j.blur, j.last = v.blur, v.norm
	if j.opts.MassCap == 0 {
		j.opts.MassCap = 1e3 * float64(len(j.c))
		// The first bound gives the scale of f, unless Mᵀy > 0 by rounding only.
		if top := floats.Max(v.c); top > 1e-8*j.scale*v.norm {
			j.opts.MassCap *= max(1, v.gain/top)
		}
	}
	if f := v.farkas(j.p.upper(), j.opts.MassCap); f > 0 {
		j.res.Status, j.res.Margin = Infeasible, f/v.norm
		copy(j.res.Dual, r)
		return true
	}
	if lb, t, unbounded := v.best(j.p.upper()); !unbounded && lb > j.res.LowerBound {
		j.res.LowerBound, j.lost = lb, v.lost(j.p.upper())
		floats.ScaleTo(j.res.Dual, t, r)
	}
	return false
}

// value takes F as the answer, and its gap where it met the ball.
func (j *judge) value(feasible bool) {
	j.res.Objective, j.res.Support = floats.Sum(j.res.F), 0
	for _, f := range j.res.F {
		if f > 0 {
			j.res.Support++
		}
	}
	j.res.Gap = math.Inf(1)
	if feasible {
		j.res.Gap = gapOf(j.res.Objective, j.res.LowerBound)
		// What the error of the operator takes from the ball is nearly known ahead.
		if j.last > 0 {
			j.eta = max(0, j.p.Radius-j.loss(j.p.Radius, j.blur, j.p.Radius/j.last)-j.trim)
		}
	}
}

// accept reports whether F is optimal within the tolerance. Where only the ball is
// missed, eta shrinks by as much, and shrunk is true.
func (j *judge) accept() (optimal, shrunk bool) {
	if !(j.res.Gap <= j.attainable(1)) {
		return false, false
	}
	excess := j.excess()
	if excess <= 0 {
		j.res.Status = Optimal
		return true, false
	}
	return false, j.shrink(excess)
}

// shrink makes eta smaller by as much as F misses the ball. It reports false where F does
// not, or the error of the operator fills the ball.
func (j *judge) shrink(excess float64) bool {
	if excess > 0 {
		j.trim += 1.01 * excess
		j.eta = max(0, j.eta-1.01*excess)
	}
	return excess > 0 && j.eta > 0
}

// attainable is the relative gap that the arithmetic can reach, at least the tolerance and
// at most worstTol: what the roundings of g(z) leave when ‖y‖‖z‖ cancels, and four
// times what the error of the operator along z can do to the mass. The residual is known
// to magnify·2⁻⁵³‖r‖ only, which moves Mᵀz as that does.
func (j *judge) attainable(magnify float64) float64 {
	y, z := floats.Norm(j.p.Y, 2), floats.Norm(j.res.Dual, 2)
	b := blurOf(j.p.A, j.res.Dual)
	moved := j.lost
	for i, f := range j.res.F {
		moved += b.at(i) * f
	}
	floor := 2*few*unit*y*z/j.res.LowerBound + 16*unit*j.scale*magnify*z
	if moved > 0 {
		floor += 4 * moved / max(j.res.Objective, j.res.LowerBound)
	}
	return max(j.tol, min(worstTol, floor))
}

// excess is by how much F is outside the exact ball, beyond rounding.
func (j *judge) excess() float64 {
	r := make([]float64, len(j.p.Y))
	j.multiply(r, false, j.res.F)
	floats.SubTo(r, j.p.Y, r)
	j.res.Residual = math.Sqrt(dot2(r, r))
	return j.res.Residual + j.loss(j.res.Residual, blurOf(j.p.A, r), 1) - j.p.Radius - few*unit*(floats.Norm(j.p.Y, 2)+j.p.Radius)
}

// loss bounds by how much the error E of the operator lengthens the residual r = y − A F,
// from ‖r‖ and the blur along r/times: ‖r − EF‖² ≤ ‖r‖² + 2|rᵀEF| + ‖EF‖².
func (j *judge) loss(norm float64, b blur, times float64) float64 {
	lengths := b.lengths(j.res.F)
	size := b.size(lengths)
	more := 2*times*b.dot(lengths) + size*size
	if more == 0 {
		return 0
	}
	return more / (norm + math.Sqrt(norm*norm+more)) * (1 + few*unit)
}

func (j *judge) multiply(dst []float64, trans bool, x []float64) {
	j.p.A.MulVecTo(dst, trans, x)
	j.res.Products++
}

// columns returns columns of A one after the other; zeros where the context ended.
func (j *judge) columns(js []int) []float64 {
	m := len(j.p.Y)
	out := make([]float64, m*len(js))
	width := linop.BlockColumns(m)
	for at := 0; at < len(js) && !j.over(); at += width {
		end := min(at+width, len(js))
		linop.ColumnsTo(j.p.A, out[at*m:end*m], js[at:end])
	}
	j.res.Products += len(js)
	return out
}

// over reports whether the context ended.
func (j *judge) over() bool { return j.ctx.Err() != nil }

// finish returns what was proved, or the best iterate with its honest gap.
func (j *judge) finish() (*Result, error) {
	if err := j.ctx.Err(); err != nil {
		return nil, err
	}
	switch j.res.Status {
	case Optimal:
		return &j.res, nil
	case Infeasible:
		j.excess()
		j.value(false)
		return &j.res, nil
	}
	j.value(j.excess() <= 0)
	// No further progress: y − M f cancels to η.
	if j.res.Gap <= j.attainable(max(1, floats.Norm(j.p.Y, 2)/j.p.Radius)) {
		j.res.Status = Optimal
		return &j.res, nil
	}
	return &j.res, fmt.Errorf("%w: gap %.1e after %d iterations", ErrStalled, j.res.Gap, j.res.Iterations)
}
