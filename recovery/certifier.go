// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// worstTol is the largest relative gap that is accepted because of rounding.
const worstTol = 1e-5

// certifier holds the bounds proved so far. Every solver returns through it, so that none
// can report an answer as optimal or a problem as infeasible without a certificate.
type certifier struct {
	ctx       context.Context
	opts      Options
	p         Problem
	squared   float64 // ‖Y‖²
	tol       float64
	opErr     operatorError // of the operator along the residual of the last prove
	last      float64       // the norm of that residual
	trim      float64       // reduction of eta after F was outside the ball
	errorCost float64       // by how much the operator error lowers LowerBound
	eta       float64       // η − d‖f‖₂ − what rounding needs
	c         []float64     // Mᵀr of the last prove
	scale     float64       // ≤ ‖M‖₂
	res       Result
}

// newCertifier validates the problem. Where f = 0 is optimal it returns that result
// and a nil certifier.
func newCertifier(ctx context.Context, opts Options, p Problem) (*certifier, *Result, error) {
	if err := p.check(); err != nil {
		return nil, nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	m, n := p.A.Dims()
	squared := dot2(p.Y, p.Y)
	norm := math.Sqrt(squared)
	zero := Result{F: make([]float64, n), Dual: make([]float64, m), Residual: norm}
	if norm <= p.Radius {
		zero.Status = Zero
		return nil, &zero, nil
	}
	zero.Gap = math.Inf(1)
	opts = opts.withDefaults()
	return &certifier{
		ctx: ctx, opts: opts, p: p, squared: squared, eta: p.Radius, c: make([]float64, n), res: zero,
		tol: max(opts.Tol, min(worstTol, 100*2*unit*norm/p.Radius)),
	}, nil, nil
}

// prove computes c = Mᵀr and updates the lower bound. It reports whether r proves the
// problem infeasible.
func (j *certifier) prove(r []float64) bool {
	along := multiplyAlong(j.p.A, j.c, r)
	j.res.Products++
	v := j.p.dualPoint(r, j.c, j.scale, along)
	if v.norm == 0 {
		return false
	}
	j.scale = max(j.scale, floats.Norm(j.c, 2)/v.norm)
	j.opErr, j.last = v.opErr, v.norm
	if f := v.farkas(); f > 0 {
		j.res.Status, j.res.Margin = Infeasible, f/v.norm
		copy(j.res.Dual, r)
		return true
	}
	if lb, t, unbounded := v.best(); !unbounded && lb > j.res.LowerBound {
		j.res.LowerBound, j.errorCost = lb, v.errorCost(lb)
		floats.ScaleTo(j.res.Dual, t, r)
	}
	return false
}

// value sets the objective and support of F, and the gap where F is feasible.
func (j *certifier) value(feasible bool) {
	j.res.Objective, j.res.Support = floats.Sum(j.res.F), 0
	for _, f := range j.res.F {
		if f > 0 {
			j.res.Support++
		}
	}
	j.res.Gap = math.Inf(1)
	if feasible {
		j.res.Gap = gapOf(j.res.Objective, j.res.LowerBound)
		// The radius that the operator error uses up changes little from step to step.
		if j.last > 0 {
			j.eta = max(0, j.p.Radius-j.loss(j.p.Radius, j.opErr, j.p.Radius/j.last)-j.trim)
		}
	}
}

// accept reports whether F is optimal within the tolerance. Where F is only outside the
// ball, eta shrinks by the excess, and shrunk is true.
func (j *certifier) accept() (optimal, shrunk bool) {
	if !j.reached(1) {
		return false, false
	}
	excess := j.excess()
	if excess <= 0 {
		j.res.Status = Optimal
		return true, false
	}
	return false, j.shrink(excess)
}

// shrink lowers eta by the distance of F from the ball. It reports false where F is
// inside, or where the operator error uses up the whole radius.
func (j *certifier) shrink(excess float64) bool {
	if excess > 0 {
		j.trim += 1.01 * excess
		j.eta = max(0, j.eta-1.01*excess)
	}
	return excess > 0 && j.eta > 0
}

// reached reports whether the gap is at most [certifier.attainable], which costs a product: it is
// asked for between its own bounds only.
func (j *certifier) reached(magnify float64) bool {
	return j.res.Gap <= j.tol || j.res.Gap <= worstTol && j.res.Gap <= j.attainable(magnify)
}

// attainable is the relative gap that the arithmetic can reach, at least the tolerance and
// at most worstTol: the rounding error of g(z) under cancellation, and four times
// the effect of the operator error along z on the mass. The residual has a relative error
// of magnify·2⁻⁵³, which carries over to Mᵀz.
func (j *certifier) attainable(magnify float64) float64 {
	y, z := floats.Norm(j.p.Y, 2), floats.Norm(j.res.Dual, 2)
	b := errorAlong(j.p.A, j.res.Dual)
	moved := j.errorCost
	for i, f := range j.res.F {
		moved += b.entry(i) * f
	}
	floor := 2*few*unit*y*z/j.res.LowerBound + 16*unit*j.scale*magnify*z
	if moved > 0 {
		floor += 4 * moved / max(j.res.Objective, j.res.LowerBound)
	}
	return max(j.tol, min(worstTol, floor))
}

// excess is by how much F is outside the exact ball, beyond rounding.
func (j *certifier) excess() float64 {
	r := make([]float64, len(j.p.Y))
	j.multiply(r, false, j.res.F)
	floats.SubTo(r, j.p.Y, r)
	j.res.Residual = math.Sqrt(dot2(r, r))
	return j.res.Residual + j.loss(j.res.Residual, errorAlong(j.p.A, r), 1) - j.p.Radius - few*unit*(floats.Norm(j.p.Y, 2)+j.p.Radius)
}

// loss bounds by how much the operator error E increases the residual norm of r = y − A F,
// from ‖r‖ and the error along r/times: ‖r − EF‖² ≤ ‖r‖² + 2|rᵀEF| + ‖EF‖².
func (j *certifier) loss(norm float64, b operatorError, times float64) float64 {
	lengths := b.blockNorms(j.res.F)
	size := b.imageNorm(lengths)
	more := 2*times*b.bilinear(lengths) + size*size
	if more == 0 {
		return 0
	}
	return more / (norm + math.Sqrt(norm*norm+more)) * (1 + few*unit)
}

func (j *certifier) multiply(dst []float64, trans bool, x []float64) {
	j.p.A.MulVecTo(dst, trans, x)
	j.res.Products++
}

// columns returns columns of A one after the other; zeros where the context ended.
func (j *certifier) columns(js []int) []float64 {
	m := len(j.p.Y)
	out := make([]float64, m*len(js))
	width := linop.BlockColumns(m)
	for at := 0; at < len(js) && !j.cancelled(); at += width {
		end := min(at+width, len(js))
		linop.ColumnsTo(j.p.A, out[at*m:end*m], js[at:end])
	}
	j.res.Products += len(js)
	return out
}

// cancelled reports whether the context ended.
func (j *certifier) cancelled() bool { return j.ctx.Err() != nil }

// finish returns what was proved, or the best iterate with the gap that it reached.
func (j *certifier) finish() (*Result, error) {
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
	if j.reached(max(1, floats.Norm(j.p.Y, 2)/j.p.Radius)) {
		j.res.Status = Optimal
		return &j.res, nil
	}
	return &j.res, fmt.Errorf("%w: gap %.1e after %d iterations", ErrStalled, j.res.Gap, j.res.Iterations)
}
