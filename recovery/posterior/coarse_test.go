// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// coarsened has a coarse operator of a given error, whatever is tolerated, and counts what it and that one
// are multiplied with.
type coarsened struct {
	counted
	norm   float64
	coarse counted
	off    float64
}

func (c coarsened) Norm() float64 { return c.norm }

func (c coarsened) Coarse(float64) linop.Operator { return offBy{c.coarse, c.off} }

type offBy struct {
	counted
	err float64
}

func (o offBy) Err() float64 { return o.err }

// newCoarsened is a matrix with another one at the distance off from it.
func newCoarsened(a *mat.Dense, off float64) coarsened {
	near := mat.DenseCopyOf(a)
	m, n := near.Dims()
	for i := range min(m, n) {
		near.Set(i, i, near.At(i, i)+off)
	}
	return coarsened{
		counted{hidden{linop.Dense{M: a}}, new(int64)},
		mat.Norm(a, 2),
		counted{hidden{linop.Dense{M: near}}, new(int64)},
		off,
	}
}

// Norms are bounded through coarse products, and count their error.
func TestBoundedNormsByCoarseProducts(t *testing.T) {
	const m, n, source = 200, 400, 17
	rnd := rand.New(rand.NewPCG(41, 1))
	a := groups(rnd, m, n, 5, 5, .1)
	y := noisyColumn(rnd, a, source)
	op := newCoarsened(a, 1e-6)
	d := measurement.Data{A: op, Y: y}
	norms := must.Get((&products{Data: d}).boundedNorms(t.Context(), newEvidence(MixedAmplitude), make([]float64, n),
		effort{probes: 256}))(t)
	if fine, coarse := *op.columns, *op.coarse.columns; fine > 0 || coarse < 64 {
		t.Errorf("%d fine products and %d coarse ones", fine, coarse)
	}
	for j := range n {
		v := math.Pow(mat.Norm(a.ColView(j), 2), 2)
		if v < norms.Low[j] || v > norms.High[j] {
			t.Errorf("N[%d] is in [%v, %v], exactly %v", j, norms.Low[j], norms.High[j], v)
		}
	}
	p, err := New(t.Context(), d, Options{Norms: &norms})
	if err != nil || p.ProbabilityError > posteriorTol {
		t.Errorf("%v of the posterior open (%v)", p.ProbabilityError, err)
	}
	// Directions take nearly all of a column that probes would take: what is left to know is the error.
	a = groups(rand.New(rand.NewPCG(42, 1)), 60, 300, 3, 7, 0)
	f := newDeflation(&products{Data: measurement.Data{A: newCoarsened(a, .01)}}, 1)
	f.a = linop.Coarse(f.A, 1)
	must.Do(t, f.extend(t.Context(), nil))
	must.Do(t, f.probe(t.Context(), 16))
	norms = f.bounds(1e-9)
	for j := range norms.N {
		if v := math.Pow(mat.Norm(a.ColView(j), 2), 2); v < norms.Low[j] || v > norms.High[j] ||
			norms.High[j]-norms.Low[j] < .03*math.Sqrt(v) {
			t.Errorf("N[%d] is in [%v, %v], exactly %v", j, norms.Low[j], norms.High[j], v)
		}
	}
}

// Trials by coarse products speak no more clearly than those of the operator: the p-value is no less.
func TestCheckByCoarseProducts(t *testing.T) {
	const m, n, off = 60, 120, 1e-3
	for seed := range uint64(5) {
		rnd := rand.New(rand.NewPCG(seed, 43))
		a := groups(rnd, m, n, 4, 2, 2)
		y := make([]float64, m)
		floats.AddScaled(y, .3, mat.Col(nil, 5, a))
		for i := range y {
			y[i] += rnd.NormFloat64()
		}
		op := newCoarsened(a, off)
		check := func(a linop.Operator) *Check {
			c := must.Get(NewChecker(t.Context(), []measurement.Data{{A: a, Y: y}}, CheckOptions{Trials: 199, Seed: seed}))(t)
			return c.Check(y)
		}
		want := check(op.counted)
		*op.columns = 0
		got := check(op)
		if *op.coarse.columns < 199 || *op.columns > n+2 {
			t.Errorf("%d products of the operator, %d coarse ones", *op.columns, *op.coarse.columns)
		}
		for i, v := range want.Null {
			if d := got.Null[i] - v; d < 0 || d > 2*deviations*off {
				t.Errorf("trial %d: log odds of %v, by the operator itself %v", i, got.Null[i], v)
			}
		}
		if got.NoSource < want.NoSource || got.Fit != want.Fit || got.Node != want.Node ||
			got.Residual != want.Residual {
			t.Errorf("p-values %v and %v, by the operator itself %v and %v", got.NoSource, got.Fit, want.NoSource, want.Fit)
		}
	}
}
