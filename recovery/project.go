// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
)

// visibleLimit bounds the number of directions that Projected keeps: beyond it the noise
// is so small, or the graph so large, that Chi2 on all measurements is used.
const visibleLimit = 2000

// Ball describes the constraint ‖A f − y‖₂ ≤ η that a rule chose.
type Ball struct {
	Rule      RuleKind // as applied: Chi2 where Projected found nothing visible
	Radius    float64  // whitened: times σ where every sensor has the same σ
	Beta      float64  // probability that the noise leaves the ball; NaN for Paper and Number
	Dimension int      // directions measured: sensors, singular vectors kept, or the effective number
	Retried   bool     // a smaller radius was proved infeasible

	scale, freedom float64 // the squared norm of the noise is scale²·χ² of this freedom; 0: 1·χ² of Dimension
}

// resize sets the radius for another β.
func (b *Ball) resize(beta float64) {
	scale, freedom := b.scale, b.freedom
	if freedom == 0 {
		scale, freedom = 1, float64(b.Dimension)
	}
	b.Beta, b.Radius = beta, scale*math.Sqrt(measurement.Chi2Above(freedom, beta))
}

// visibleRatio is how far above the noise a singular value must be to be kept.
const visibleRatio = 2

// Spectrum holds left singular vectors of whitened data, for [NewProblem] and [Recover]. A
// caller that knows them sets Values and Left: for e^{-τL} = V diag(w) Vᵀ, all
// sensors and one σ, Values is w/σ and Left V. That of [Visible] leaves both
// empty and holds what these two need.
type Spectrum struct {
	Values []float64
	Left   *mat.Dense // m × len(Values), orthonormal columns

	found       bool       // by Visible
	rows, image *mat.Dense // Leftᵀ and LeftᵀA, or nil where nothing is visible

	mean, variance float64 // of ‖Aᵀν‖²; 0 where they are not known
}

// Visible returns, as rows, the directions of the measurements that are kept: those whose
// singular value is beyond visibleRatio times the noise. It is nil where there are none,
// or where they are not known.
func (s *Spectrum) Visible() *mat.Dense {
	if s == nil {
		return nil
	}
	if s.found {
		return s.rows
	}
	var keep []int
	for k, v := range s.Values {
		if v > visibleRatio {
			keep = append(keep, k)
		}
	}
	if len(keep) == 0 || s.Left == nil {
		return nil
	}
	m, _ := s.Left.Dims()
	out := mat.NewDense(len(keep), m, nil)
	for row, k := range keep {
		for i := range m {
			out.Set(row, i, s.Left.At(i, k))
		}
	}
	return out
}

// Prepare computes what a rule needs to know of the operator alone, once for all data of
// one operator; nil where that is nothing. Known holds the singular vectors where the
// caller has them, else nil. It returns the error of the context.
func Prepare(ctx context.Context, d measurement.Data, rule Rule, known *Spectrum) (*Spectrum, error) {
	switch {
	case known != nil && rule.Kind != NormalEquations, rule.Kind != Auto && rule.Kind != Projected && rule.Kind != NormalEquations:
		return known, nil
	case rule.Kind == Projected, rule.Kind == Auto && !byProducts(d.A):
		return Visible(ctx, d)
	}
	mean, variance, err := normalMoments(ctx, d.A)
	return &Spectrum{mean: mean, variance: variance}, err
}

// byProducts reports whether Auto is NormalEquations for an operator whose singular
// vectors are not known.
func byProducts(a linop.Operator) bool {
	return !linop.HoldsEntries(a) && !math.IsInf(linop.Norm(a), 1)
}

// Visible finds the directions that Projected keeps by block Lanczos, at three to ten
// products for each, once for all data of one operator.
func Visible(ctx context.Context, d measurement.Data) (*Spectrum, error) {
	rows, image, err := visibleDirections(ctx, d.A, visibleRatio, visibleLimit)
	return &Spectrum{found: true, rows: rows, image: image}, err
}

// NewProblem sets up basis pursuit denoising with the radius of a rule. A rule uses
// the spectrum where it is given, and otherwise that of [Prepare]. Which directions are
// kept or how they are weighed depends on the operator alone, never on Y, so the projected
// noise is still N(0, I), and that of the normal equations N(0, AᵀA). It returns
// [ErrInvalid] for a rule, a spectrum or data that are not well defined.
func NewProblem(ctx context.Context, d measurement.Data, rule Rule, s *Spectrum) (Problem, Ball, error) {
	m := len(d.Y)
	beta := rule.Beta
	if beta == 0 {
		beta = DefaultBeta
		if rule.Kind == Auto || rule.Kind == NormalEquations {
			beta = 0.5
		}
	}
	if !(beta > 0 && beta < 1) {
		return Problem{}, Ball{}, fmt.Errorf("%w: beta is %v, want between 0 and 1", ErrInvalid, beta)
	}
	b := Ball{Rule: rule.Kind, Beta: beta, Dimension: m}
	kind := rule.Kind
	if kind == Auto && byProducts(d.A) && (s == nil || s.variance > 0) {
		kind = NormalEquations
	}
	switch kind {
	case Auto, Projected:
		return projected(ctx, d, beta, s)
	case NormalEquations:
		return normalEquations(ctx, d, beta, s)
	case Chi2:
		b.Radius = Chi2Radius(1, m, beta)
	case Hsu:
		b.Radius = HsuRadius(1, m, beta)
	case Paper:
		b.Radius, b.Beta = PaperRadius(1, m), math.NaN()
	case Number:
		b.Radius, b.Beta = rule.Value, math.NaN()
	default:
		return Problem{}, b, fmt.Errorf("%w: unknown radius rule %d", ErrInvalid, int(rule.Kind))
	}
	p := Problem{A: d.A, Y: d.Y, Radius: b.Radius}
	return p, b, p.check()
}

func projected(ctx context.Context, d measurement.Data, beta float64, s *Spectrum) (Problem, Ball, error) {
	b := Ball{Rule: Chi2, Beta: beta, Dimension: len(d.Y)}
	seen, err := project(ctx, d, s)
	if err != nil {
		return Problem{}, Ball{}, err
	}
	if seen != nil {
		d, b.Rule, b.Dimension = *seen, Projected, len(seen.Y)
	}
	b.resize(beta)
	p := Problem{A: d.A, Y: d.Y, Radius: b.Radius}
	return p, b, p.check()
}

// project projects on the left singular vectors whose singular value is beyond
// visibleRatio times the noise, which is 1; nil where there are none or too many.
func project(ctx context.Context, d measurement.Data, s *Spectrum) (*measurement.Data, error) {
	if s == nil || s.variance > 0 {
		var err error
		if s, err = Visible(ctx, d); err != nil {
			return nil, err
		}
	}
	if s.found {
		if s.rows == nil {
			return nil, nil
		}
		var y mat.VecDense
		y.MulVec(s.rows, mat.NewVecDense(len(d.Y), d.Y))
		return &measurement.Data{A: newProjection(d, s.image, s.rows), Y: y.RawVector().Data}, nil
	}
	m, k := s.Left.Dims()
	if m != len(d.Y) || k != len(s.Values) {
		return nil, fmt.Errorf("%w: a spectrum of %d × %d vectors and %d values for %d sensors", ErrInvalid, m, k, len(s.Values), len(d.Y))
	}
	var keep []int
	for i, v := range s.Values {
		if v > visibleRatio {
			keep = append(keep, i)
		}
	}
	if len(keep) == 0 || len(keep) > visibleLimit {
		return nil, nil
	}
	left := mat.NewDense(m, len(keep), nil)
	for c, i := range keep {
		left.SetCol(c, mat.Col(nil, i, s.Left))
	}
	seen, err := Project(d, left)
	return &seen, err
}

// Project measures along the columns of P only: Pᵀy and PᵀA. P is m × r with
// orthonormal columns, chosen from public facts, so that the noise stays N(0, I).
func Project(d measurement.Data, p *mat.Dense) (measurement.Data, error) {
	m, r := p.Dims()
	rows, n := d.A.Dims()
	if m != rows || len(d.Y) != rows || r == 0 {
		return measurement.Data{}, fmt.Errorf("%w: a projection of %d × %d for %d sensors", ErrInvalid, m, r, rows)
	}
	at := make([]float64, n*r) // AᵀP
	linop.MulBlockTo(d.A, at, true, p.RawMatrix().Data, r)
	var a mat.Dense
	a.CloneFrom(mat.NewDense(n, r, at).T())
	y := mat.NewVecDense(r, nil)
	y.MulVec(p.T(), mat.NewVecDense(m, d.Y))
	return measurement.Data{A: newProjection(d, &a, mat.DenseCopyOf(p.T())), Y: y.RawVector().Data}, nil
}

// projection is PᵀA as an operator, rows = Pᵀ.
func newProjection(d measurement.Data, image, rows *mat.Dense) linop.Operator {
	return projection{linop.Dense{M: image, Bound: linop.Err(d.A)}, d.A, rows}
}
