// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// integral is log ∫₀¹ e^{ac − a²N/2} da by Simpson's rule where the integrand is
// not negligible.
func integral(c, n float64) float64 {
	peak := 0.0
	if c > 0 {
		peak = 1
		if c < n {
			peak = c / n
		}
	}
	top := peak*c - peak*peak*n/2
	// The log integrand is concave: it falls below −80 within this width.
	width := 1.0
	slope := math.Abs(c - peak*n)
	if s := slope + math.Sqrt(slope*slope+2*80*n); s > 2*80 { // stable where N is tiny
		width = 2 * 80 / s
	}
	lo, hi := max(0, peak-width), min(1, peak+width)
	const steps = 40000
	h, sum := (hi-lo)/steps, 0.0
	for i := range steps + 1 {
		a := lo + float64(i)*h
		w := 2.0 + 2*float64(i%2)
		if i == 0 || i == steps {
			w = 1
		}
		sum += w * math.Exp(a*c-a*a*n/2-top)
	}
	return top + math.Log(sum*h/3)
}

func TestEvidenceAgainstQuadrature(t *testing.T) {
	for _, n := range []float64{0, 1e-12, 1e-3, 0.7, 5, 19, 21, 80, 1e3, 1e6} {
		for _, c := range []float64{-1e5, -300, -25, -19, -3.9, -3, -1e-6, 0, 1e-6, 0.4, 2, 3.9, 19.9, 20.1, 45, 500, 2e4, 1e6} {
			// One node, one sensor: A = √N, y = c/√N.
			var p *posterior.Posterior
			var err error
			norms := &posterior.Norms{N: []float64{n}}
			d := measurement.Data{A: linop.Dense{M: mat.NewDense(1, 1, []float64{c})}, Y: []float64{1}}
			p = must.Get(posterior.New(t.Context(), d, posterior.Options{Norms: norms, Amplitude: posterior.UniformAmplitude}))(t)
			want := integral(c, n)
			if got := p.LogEvidence[0]; math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
				t.Errorf("log evidence at c = %g, N = %g: %.15g, want %.15g", c, n, got, want)
			}
			if p.Probability[0] != 1 || !math.IsInf(p.RunnerUp, 1) || math.Abs(p.LogPresence-p.LogEvidence[0]) > 1e-12*math.Abs(want) {
				t.Errorf("n = 1: %+v", p)
			}
			if p, err = posterior.New(t.Context(), d, posterior.Options{Norms: norms, Amplitude: posterior.UnitAmplitude}); err != nil ||
				p.LogEvidence[0] != c-n/2 {
				t.Errorf("a = 1 at c = %g, N = %g: %v, %v", c, n, p, err)
			}
			top := max(want, c-n/2)
			half := top + math.Log((math.Exp(want-top)+math.Exp(c-n/2-top))/2)
			if p, err = posterior.New(t.Context(), d, posterior.Options{Norms: norms}); err != nil ||
				math.Abs(p.LogEvidence[0]-half) > 1e-12*(1+math.Abs(half)) {
				t.Errorf("half at 1, c = %g, N = %g: %v, %v, want %v", c, n, p, err, half)
			}
		}
	}
}

// The posterior is Bayes' rule on the full likelihood of y: no sufficient
// statistics, no closed form.
func TestPosteriorAgainstDefinition(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 1))
	for trial := range 30 {
		m, n := 1+rnd.IntN(6), 1+rnd.IntN(8)
		op := random(rnd, m, n)
		u, y, prior := make([]float64, m), make([]float64, m), make([]float64, n)
		for s := range u {
			u[s], y[s] = 0.2+3*rnd.Float64(), rnd.NormFloat64()
			if m > 1 && rnd.IntN(4) == 0 {
				u[s] = 0
			}
		}
		u[0] = 1
		for i := range prior {
			prior[i] = rnd.Float64()
		}
		want := make([]float64, n)
		amplitude := posterior.Amplitude(trial % 3)
		unit := [...]float64{0.5, 0, 1}[amplitude] // probability of a = 1 itself
		for i := range n {
			const steps = 4000
			for k := range steps + 1 {
				a, weight, q := (float64(k)+0.5)/steps, (1-unit)/steps, 0.0
				if k == steps {
					a, weight = 1, unit
				}
				for s := range m {
					r := y[s] - a*op.M.At(s, i)
					q += u[s] * (r*r - y[s]*y[s])
				}
				want[i] += prior[i] * math.Exp(-q/2) * weight
			}
		}
		total, mass := floats.Sum(want), floats.Sum(prior)
		d := must.Get(measurement.Whiten(op, y, u))(t)
		p := must.Get(posterior.New(t.Context(), d, posterior.Options{Prior: prior, Amplitude: amplitude}))(t)
		for i, w := range want {
			if math.Abs(p.Probability[i]-w/total) > 1e-6 {
				t.Errorf("trial %d: P(%d) = %v, want %v", trial, i, p.Probability[i], w/total)
			}
		}
		if math.Abs(p.LogPresence-math.Log(total/mass)) > 1e-5 {
			t.Errorf("trial %d: log presence %v, want %v", trial, p.LogPresence, math.Log(total/mass))
		}
		sum := 0.0
		for _, i := range p.Credible() {
			sum += p.Probability[i]
		}
		last := p.Probability[p.Credible()[len(p.Credible())-1]]
		if sum < 0.95-1e-12 || sum-last >= 0.95 {
			t.Errorf("trial %d: credible set of %v, without its last %v", trial, sum, sum-last)
		}
		labels := make([]int, n)
		for i := range labels {
			labels[i] = i % 2
		}
		groups, err := p.Groups(labels)
		if err != nil || math.Abs(floats.Sum(groups)-1) > 1e-12 {
			t.Errorf("trial %d: groups %v, %v", trial, groups, err)
		}
	}
}

// Bounded norms move neither log odds by more than LogOddsError, nor the posterior by more
// than ProbabilityError in total variation.
func TestSlack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 1))
	least := 1.0
	for trial := range 200 {
		op := random(rnd, 5, 7)
		d := measurement.Data{A: op, Y: []float64{1, rnd.NormFloat64(), -1, rnd.NormFloat64(), 2}}
		exact := must.Get(posterior.ColumnNorms(t.Context(), d, posterior.Options{}))(t)
		rough := posterior.Norms{N: make([]float64, 7), Low: make([]float64, 7), High: make([]float64, 7)}
		width := math.Pow(10, -4*rnd.Float64())
		for i, n := range exact.N {
			rough.Low[i], rough.High[i] = n*(1-rnd.Float64()*width), n*(1+rnd.Float64()*width)
			rough.N[i] = rough.Low[i] + (rough.High[i]-rough.Low[i])*rnd.Float64()
		}
		prior := []float64{1, 2, 3, 0, 2, 1, 1}
		p, err := posterior.New(t.Context(), d, posterior.Options{Norms: &exact, Prior: prior})
		if err != nil || p.LogOddsError != 0 || p.ProbabilityError != 0 {
			t.Fatalf("trial %d: exact norms leave %v and %v open (%v)", trial, p.LogOddsError, p.ProbabilityError, err)
		}
		q := must.Get(posterior.New(t.Context(), d, posterior.Options{Norms: &rough, Prior: prior}))(t)
		if e := math.Abs(math.Log(p.RunnerUp / q.RunnerUp)); e > q.LogOddsError+1e-9 {
			t.Errorf("trial %d: runner-up at odds of %v and %v, slack %v", trial, p.RunnerUp, q.RunnerUp, q.LogOddsError)
		}
		if e := math.Abs(p.LogPresence - q.LogPresence); e > q.LogOddsError+1e-9 {
			t.Errorf("trial %d: log presence %v and %v, slack %v", trial, p.LogPresence, q.LogPresence, q.LogOddsError)
		}
		if e := floats.Distance(p.Probability, q.Probability, 1) / 2; e > q.ProbabilityError+1e-12 {
			t.Errorf("trial %d: total variation %v, bound %v", trial, e, q.ProbabilityError)
		}
		least = min(least, q.ProbabilityError)
	}
	if least > 1e-4 {
		t.Errorf("the bound on the probabilities is never below %v", least)
	}
}

// A node that is out of the question leaves nothing open, however badly its norm is
// known.
func TestHopelessNodesLeaveNothingOpen(t *testing.T) {
	d := measurement.Data{A: linop.Dense{M: mat.NewDense(3, 3, []float64{9, 0, 0, 0, 8, 0, 0, 0, 7})}, Y: []float64{9, 4, 0}}
	p, err := posterior.New(t.Context(), d, posterior.Options{Norms: &posterior.Norms{
		N: []float64{81, 64, 49}, Low: []float64{81, 64, 20}, High: []float64{81, 64, 90},
	}})
	if err != nil || p.LogOddsError > 1e-9 || p.ProbabilityError > 1e-9 {
		t.Errorf("slack %v, error of the probabilities %v (%v), want none", p.LogOddsError, p.ProbabilityError, err)
	}
}

// LogOddsError is reached: with a = 1 the log evidence is c − N/2, and two norms that are off
// by e each, in opposite directions, move the odds by e.
func TestSlackIsReached(t *testing.T) {
	d := measurement.Data{A: linop.Dense{M: mat.NewDense(2, 2, []float64{2, 0, 0, 2})}, Y: []float64{1, 1}}
	const e = 0.5
	p, err := posterior.New(t.Context(), d, posterior.Options{
		Amplitude: posterior.UnitAmplitude,
		Norms:     &posterior.Norms{N: []float64{4 - e, 4 + e}, Low: []float64{4 - 2*e, 4}, High: []float64{4, 4 + 2*e}},
	})
	if err != nil || math.Abs(math.Log(p.RunnerUp)-e) > 1e-12 || math.Abs(p.LogOddsError-e) > 1e-12 {
		t.Errorf("odds %v, slack %v (%v), want both %v", math.Log(p.RunnerUp), p.LogOddsError, err, e)
	}
	// An operator that is off by d moves each c by at most d‖y‖.
	off := measurement.Data{A: linop.Dense{M: d.A.(linop.Dense).M, Bound: 0.01}, Y: d.Y}
	p, err = posterior.New(t.Context(), off, posterior.Options{
		Amplitude: posterior.UnitAmplitude, Norms: &posterior.Norms{N: []float64{4, 4}, Low: []float64{4, 4}, High: []float64{4, 4}},
	})
	if want := 2 * 0.01 * math.Sqrt2; err != nil || math.Abs(p.LogOddsError-want) > 1e-12 {
		t.Errorf("slack %v (%v), want %v", p.LogOddsError, err, want)
	}
	// With a ~ U[0,1] it is the larger change at either end of the interval.
	for _, c := range []struct{ low, middle, high, truth float64 }{{1, 4, 4.1, 1}, {0, 0.1, 3.1, 3.1}} {
		p := must.Get(posterior.New(t.Context(), d,
			posterior.Options{
				Amplitude: posterior.UniformAmplitude,
				Norms:     &posterior.Norms{N: []float64{c.middle, 4}, Low: []float64{c.low, 4}, High: []float64{c.high, 4}},
			}))(t)
		q := must.Get(posterior.New(t.Context(), d,
			posterior.Options{Amplitude: posterior.UniformAmplitude, Norms: &posterior.Norms{N: []float64{c.truth, 4}}}))(t)
		if moved := math.Abs(math.Log(q.RunnerUp / p.RunnerUp)); p.LogOddsError < moved-1e-12 || p.LogOddsError > moved+0.02 {
			t.Errorf("%+v: slack %v, the odds moved by %v", c, p.LogOddsError, moved)
		}
	}
}

// Nodes that contest no place, but are many, count for the evidence of presence.
func TestSlackOfPresence(t *testing.T) {
	const n = 12
	y, norms := make([]float64, n), posterior.Norms{N: make([]float64, n), Low: make([]float64, n), High: make([]float64, n)}
	one := mat.NewDense(n, n, nil)
	for i := range n {
		one.Set(i, i, 1)
		y[i], norms.N[i], norms.Low[i], norms.High[i] = 9, 4, 3, 5
	}
	for i := range 2 {
		y[i], norms.Low[i], norms.High[i] = 10, 4, 4
	}
	d := measurement.Data{A: linop.Dense{M: one}, Y: y}
	p, err := posterior.New(t.Context(), d, posterior.Options{Amplitude: posterior.UnitAmplitude, Norms: &norms})
	most := math.Log((2*math.Exp(8) + 10*math.Exp(7.5)) / (2*math.Exp(8) + 10*math.Exp(7)))
	if err != nil || math.Abs(p.LogOddsError-most) > 1e-12 {
		t.Errorf("slack %v (%v), want %v", p.LogOddsError, err, most)
	}
}

func TestPosteriorRefuses(t *testing.T) {
	op := linop.Dense{M: mat.NewDense(2, 2, []float64{1, 0, 0, 1})}
	d := must.Get(measurement.Whiten(op, []float64{1, 0}, measurement.Uniform(0.5, 2)))(t)
	for name, o := range map[string]posterior.Options{
		"short prior":    {Prior: []float64{1}},
		"negative prior": {Prior: []float64{1, -1}},
		"NaN prior":      {Prior: []float64{1, math.NaN()}},
		"zero prior":     {Prior: []float64{0, 0}},
		"norms":          {Norms: &posterior.Norms{N: []float64{1}}},
	} {
		if _, err := posterior.New(t.Context(), d, o); !errors.Is(err, posterior.ErrInvalid) {
			t.Errorf("%s: %v, want invalid", name, err)
		}
	}
	p, err := posterior.New(t.Context(), d, posterior.Options{Prior: []float64{0, 1}})
	if err != nil || p.Probability[1] != 1 || p.Best() != 1 {
		t.Errorf("a prior at one node: %+v, %v", p, err)
	}
	for _, labels := range [][]int{{0}, {0, -1}, {0, 2}} {
		if _, err := p.Groups(labels); !errors.Is(err, posterior.ErrInvalid) {
			t.Errorf("labels %v: %v, want invalid", labels, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := posterior.New(ctx, d, posterior.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Column norms of whitened measurements are u-weighted sums of squares, also where they
// are read from the entries.
func TestNormsOfWhitened(t *testing.T) {
	rnd := rand.New(rand.NewPCG(14, 1))
	const m, n = 6, 4
	op := random(rnd, m, n).M
	u := []float64{4, 0, 1, 0.25, 0, 9}
	held := linop.Dense{M: op, Bound: 1e-3}
	for _, a := range []linop.Operator{held, products{held}} {
		d := must.Get(measurement.Whiten(a, []float64{1, 2, 3, 4, 5, 6}, u))(t)
		norms := must.Get(posterior.ColumnNorms(t.Context(), d, posterior.Options{}))(t)
		for j := range n {
			want := 0.0
			for s, v := range u {
				want += v * op.At(s, j) * op.At(s, j)
			}
			if math.Abs(norms.N[j]-want) > 1e-12 {
				t.Errorf("N[%d] = %v, want %v", j, norms.N[j], want)
			}
		}
	}
}

func random(rnd *rand.Rand, m, n int) linop.Dense {
	a := mat.NewDense(m, n, nil)
	for i := range a.RawMatrix().Data {
		a.RawMatrix().Data[i] = rnd.NormFloat64()
	}
	return linop.Dense{M: a}
}

// products is an operator whose entries cannot be read.
type products struct{ linop.Operator }

// Φ(1) to 16 digits: Abramowitz and Stegun, table 26.1.
func TestCeiling(t *testing.T) {
	if got := posterior.Ceiling(2, 1); math.Abs(got-0.8413447460685429) > 1e-15 {
		t.Errorf("Ceiling(2, 1) = %.16g", got)
	}
	if got := posterior.Ceiling(0, 1); got != 0.5 {
		t.Errorf("Ceiling(0, 1) = %v, want chance", got)
	}
}

// All norms are within their bound, which shrinks with the probes. The chance of a
// false alarm is beta, 1e-9, for each matrix.
func TestProbedNorms(t *testing.T) {
	rnd := rand.New(rand.NewPCG(16, 1))
	op := random(rnd, 30, 200)
	d := measurement.Data{A: linop.Dense{M: op.M, Bound: 1e-6}, Y: make([]float64, 30)}
	exact := must.Get(posterior.ColumnNorms(t.Context(), d, posterior.Options{}))(t)
	widest := math.Inf(1)
	for _, probes := range []int{20, 100, 1000} {
		got := must.Get(posterior.ProbedNorms(t.Context(), d, probes, 1e-9, 1))(t)
		relative := 0.0
		for i, n := range exact.N {
			if n < got.Low[i] || n > got.High[i] {
				t.Errorf("%d probes: N[%d] is in [%v, %v], exactly %v", probes, i, got.Low[i], got.High[i], n)
			}
			relative = max(relative, got.High[i]/got.N[i]-1, 1-got.Low[i]/got.N[i])
		}
		if relative >= widest {
			t.Errorf("%d probes: relative error %v, with fewer %v", probes, relative, widest)
		}
		widest = relative
	}
	if widest > 0.4 { // 6.5 standard deviations of √(2/1000), on both sides
		t.Errorf("1000 probes: relative error %v", widest)
	}
	// The norms of an operator that is off by 100 are off by 100 at both ends.
	vague := measurement.Data{A: linop.Dense{M: op.M, Bound: 100}, Y: d.Y}
	near := must.Get(posterior.ProbedNorms(t.Context(), d, 100, 1e-9, 1))(t)
	far, err := posterior.ProbedNorms(t.Context(), vague, 100, 1e-9, 1)
	if err != nil || far.Low[0] != 0 || math.Abs(math.Sqrt(far.High[0])-math.Sqrt(near.High[0])-100) > 1e-4 {
		t.Errorf("an error of 100 takes [%v, %v] to [%v, %v] (%v)", near.Low[0], near.High[0], far.Low[0], far.High[0], err)
	}
	for _, f := range []func() (posterior.Norms, error){
		func() (posterior.Norms, error) { return posterior.ProbedNorms(t.Context(), d, 0, 0.1, 1) },
		func() (posterior.Norms, error) { return posterior.ProbedNorms(t.Context(), d, 10, 0, 1) },
	} {
		if _, err := f(); !errors.Is(err, posterior.ErrInvalid) {
			t.Errorf("%v, want invalid", err)
		}
	}
}
