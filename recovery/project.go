// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/dense"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// Ball describes the constraint ‖A f − y‖₂ ≤ η that a rule chose.
type Ball struct {
	Rule      Rule    // as applied: Chi2 where Projected found nothing visible
	Radius    float64 // whitened: times σ where every sensor has the same σ
	Dimension int     // directions measured: sensors, singular vectors kept, or the effective number
	Retried   bool    // a smaller radius was proved infeasible

	scale, freedom float64 // the squared norm of the noise is scale²·χ² of this freedom
}

// resize sets the radius that the noise exceeds with probability beta.
func (b *Ball) resize(beta float64) {
	b.Radius = b.scale * math.Sqrt(measurement.Chi2Above(b.freedom, beta))
}

// visibleRatio is how far above the noise a singular value must be to be kept.
const visibleRatio = 2

// Spectrum holds left singular vectors of whitened data. A caller that knows them sets
// both fields: for e^{-τL} = V diag(w) Vᵀ, all sensors and one σ, Values is w/σ and Left
// is V. [Prepare] finds the rest.
type Spectrum struct {
	Values []float64
	Left   *mat.Dense // m × len(Values), orthonormal columns

	prepared       bool
	rows, image    *mat.Dense // the visible directions and their products with A; nil: none
	mean, variance float64    // of ‖Aᵀν‖²; 0: not known
}

// Visible returns, as rows, the directions of the measurements that are kept: those whose
// singular value is beyond visibleRatio times the noise. It is nil where there are none,
// or where they are not known.
func (s *Spectrum) Visible() *mat.Dense {
	switch {
	case s == nil:
		return nil
	case s.prepared:
		return s.rows
	}
	return s.visible()
}

// visible picks the rows out of the singular vectors.
func (s *Spectrum) visible() *mat.Dense {
	var keep []float64
	for k, v := range s.Values {
		if v > visibleRatio {
			keep = append(keep, mat.Col(nil, k, s.Left)...)
		}
	}
	if len(keep) == 0 {
		return nil
	}
	m, _ := s.Left.Dims()
	return mat.NewDense(len(keep)/m, m, keep)
}

// Prepare computes what a rule needs to know of the operator alone, once for all data of
// one operator. Known holds the singular vectors where the caller has them, else nil.
// It returns [ErrInvalid] for a spectrum that does not fit, or the error of the context.
func Prepare(ctx context.Context, d measurement.Data, rule Rule, known *Spectrum) (*Spectrum, error) {
	switch rule.applied(d.A, known) {
	case Projected:
		if known != nil && known.prepared && known.variance == 0 {
			return known, nil
		}
		return visibleDirections(ctx, d, known)
	case NormalEquations:
		if known != nil && known.variance > 0 {
			return known, nil
		}
		mean, variance, err := normalMoments(ctx, d.A)
		return &Spectrum{prepared: true, mean: mean, variance: variance}, err
	}
	return known, nil
}

// applied is the rule that Auto stands for, and any other rule itself.
func (r Rule) applied(a linop.Operator, known *Spectrum) Rule {
	switch {
	case r != Auto:
		return r
	case known != nil && known.variance > 0:
		return NormalEquations
	case known != nil, linop.HoldsEntries(a), math.IsInf(linop.Norm(a), 1):
		return Projected
	}
	return NormalEquations
}

// visibleDirections finds the directions that Projected keeps, from the eigenvectors of
// AAᵀ where the singular vectors are not known. Any orthonormal directions that depend on
// the operator alone give a valid problem, so the error of the eigenvectors does no harm.
func visibleDirections(ctx context.Context, d measurement.Data, known *Spectrum) (*Spectrum, error) {
	m, n := d.A.Dims()
	s := known
	if s == nil || s.Left == nil {
		var err error
		if s, err = leftSingular(ctx, d.A); err != nil {
			return nil, err
		}
	}
	if rows, k := s.Left.Dims(); rows != m || k != len(s.Values) {
		return nil, fmt.Errorf("%w: a spectrum of %d × %d vectors and %d values for %d sensors", ErrInvalid, rows, k, len(s.Values), m)
	}
	out := &Spectrum{prepared: true, rows: s.visible()}
	if out.rows != nil {
		r, _ := out.rows.Dims()
		image := make([]float64, n*r) // AᵀP
		linop.MulBlockTo(d.A, image, true, dense.Transpose(out.rows.RawMatrix().Data, r, m), r)
		out.image = mat.NewDense(r, n, dense.Transpose(image, n, r))
	}
	return out, nil
}

// leftSingular returns the left singular vectors of A, which are the eigenvectors of AAᵀ.
func leftSingular(ctx context.Context, a linop.Operator) (*Spectrum, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, n := a.Dims()
	columns, js := make([]float64, m*n), make([]int, n)
	for j := range js {
		js[j] = j
	}
	linop.ColumnsTo(a, columns, js)
	gram, squares := make([]float64, m*m), make([]float64, m)
	c := blas64.General{Rows: n, Cols: m, Stride: m, Data: columns}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, c, c, 0, blas64.General{Rows: m, Cols: m, Stride: m, Data: gram})
	if err := dense.SymmetricEigen(ctx, m, gram, squares, nil); err != nil {
		return nil, fmt.Errorf("recovery: singular vectors: %w", err)
	}
	for i, v := range squares {
		squares[i] = math.Sqrt(max(0, v))
	}
	return &Spectrum{Values: squares, Left: mat.NewDense(m, m, dense.Transpose(gram, m, m))}, nil
}

// NewProblem sets up basis pursuit denoising with the radius of a rule. A rule uses
// the spectrum where it is given, and otherwise that of [Prepare]. Which directions are
// kept or how they are weighed depends on the operator alone, never on Y, so the projected
// noise is still N(0, I), and that of the normal equations N(0, AᵀA). It returns
// [ErrInvalid] for a rule, a spectrum or data that are not well defined.
func NewProblem(ctx context.Context, d measurement.Data, rule Rule, s *Spectrum) (Problem, Ball, error) {
	m := len(d.Y)
	b := Ball{Rule: rule.applied(d.A, s), Dimension: m, scale: 1, freedom: float64(m)}
	if b.Rule == Projected || b.Rule == NormalEquations {
		var err error
		if s, err = Prepare(ctx, d, b.Rule, s); err != nil {
			return Problem{}, Ball{}, err
		}
	}
	p := Problem{A: d.A, Y: d.Y}
	switch b.Rule {
	case Projected:
		p = b.project(d, s)
	case NormalEquations:
		var err error
		if p, err = b.normalEquations(d, s); err != nil {
			return p, b, err
		}
	case Chi2:
	default:
		return p, b, fmt.Errorf("%w: unknown radius rule %d", ErrInvalid, int(rule))
	}
	if rule == Auto || rule == NormalEquations {
		b.resize(medianBeta)
	} else {
		b.resize(DefaultBeta)
	}
	p.Radius = b.Radius
	return p, b, p.check()
}

// project measures along the visible directions only; Chi2 on all measurements where
// nothing is visible.
func (b *Ball) project(d measurement.Data, s *Spectrum) Problem {
	if s.rows == nil {
		b.Rule = Chi2
		return Problem{A: d.A, Y: d.Y}
	}
	b.Dimension, _ = s.rows.Dims()
	b.freedom = float64(b.Dimension)
	var y mat.VecDense
	y.MulVec(s.rows, mat.NewVecDense(len(d.Y), d.Y))
	return Problem{A: projection{linop.Dense{M: s.image, Bound: linop.Err(d.A)}, d.A, s.rows}, Y: y.RawVector().Data}
}

// normalEquations sets up the problem on Aᵀy and AᵀA. Its noise Aᵀν is N(0, AᵀA), and
// ‖Aᵀν‖² is taken for c·χ²_k of the same mean and variance (Satterthwaite).
func (b *Ball) normalEquations(d measurement.Data, s *Spectrum) (Problem, error) {
	bound := linop.Norm(d.A)
	if math.IsInf(bound, 1) || s.variance == 0 {
		return Problem{}, fmt.Errorf("%w: the rule %v needs an operator with a bound on its norm", ErrInvalid, NormalEquations)
	}
	_, n := d.A.Dims()
	aty := make([]float64, n)
	linop.MulBlockTo(d.A, aty, true, d.Y, 1)
	b.scale, b.freedom = math.Sqrt(s.variance/(2*s.mean)), 2*s.mean*s.mean/s.variance
	b.Dimension = int(math.Round(b.freedom))
	return Problem{A: normal{d.A, bound}, Y: aty}, nil
}
