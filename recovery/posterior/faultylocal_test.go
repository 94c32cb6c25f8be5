// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// TestLocalFaults: where columns are local the posterior is within its bound of the exact one, whatever the noise, with sensors at
// some of the nodes, and of the same bits with any number of workers.
func TestLocalFaults(t *testing.T) {
	g, _, err := graph.RoadLike(200, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.RandomWalk} {
		d, err := expm.New(t.Context(), laplacian.New(g, kind), 1, expm.Options{Method: expm.Chebyshev, Tolerance: 1e-10})
		if err != nil {
			t.Fatal(err)
		}
		for _, sigma := range []float64{.3, .03, .004} {
			testLocalFaults(t, d, sigma)
		}
	}
}

func testLocalFaults(t *testing.T, d *expm.Diffusion, sigma float64) {
	t.Helper()
	n, _ := d.Dims()
	rnd := rand.New(rand.NewPCG(23, 1))
	unit, heat := make([]float64, n), make([]float64, n)
	unit[77] = 1
	d.MulVecTo(heat, false, unit)
	var nodes []int
	var y, u []float64
	f := posterior.Faults{Rate: .01}
	for i := 0; i < n; i += 2 {
		reading := heat[i]
		if rnd.IntN(30) == 0 {
			reading = 1
		}
		nodes, y, u = append(nodes, i), append(y, reading+sigma*rnd.NormFloat64()), append(u, 1/(sigma*sigma))
		f.Low, f.High = append(f.Low, 0), append(f.High, 1/sigma)
	}
	w, err := measurement.Whiten(linop.Rows(d, nodes), y, u)
	if err != nil {
		t.Fatal(err)
	}
	opts := posterior.Options{Faults: f}
	got, err := posterior.New(t.Context(), w, opts)
	if err != nil {
		t.Fatal(err)
	}
	all, columns := make([]int, n), make([]float64, n*len(y))
	for i := range all {
		all[i] = i
	}
	linop.ColumnsTo(w.A, columns, all)
	entries := mat.DenseCopyOf(mat.NewDense(n, len(y), columns).T())
	want, err := posterior.New(t.Context(), measurement.Data{A: linop.Dense{M: entries}, Y: w.Y}, opts)
	if err != nil {
		t.Fatal(err)
	}
	apart := floats.Distance(got.Probability, want.Probability, 1) / 2
	if apart > got.ProbabilityError || got.ProbabilityError > .01 || got.ProbabilityError == 0 ||
		math.Abs(got.LogPresence-want.LogPresence) > got.LogOddsError {
		t.Errorf("σ = %v: %v apart with a bound of %v, log presence %v and %v with %v", sigma, apart, got.ProbabilityError, got.LogPresence,
			want.LogPresence, got.LogOddsError)
	}
	if floats.Distance(got.Faulty, want.Faulty, math.Inf(1)) > 3*got.ProbabilityError+.0025 { // .01/4: what is moved less
		t.Errorf("σ = %v: suspects are %v apart", sigma, floats.Distance(got.Faulty, want.Faulty, math.Inf(1)))
	}
	few, ok, err := posterior.LocalWithin(t.Context(), w, opts, 1)
	if apart := floats.Distance(few.Probability, want.Probability, 1) / 2; err != nil || !ok || apart > few.ProbabilityError ||
		few.ProbabilityError < got.ProbabilityError {
		t.Errorf("σ = %v: with few states %v apart with a bound of %v and one of %v with all (%v)", sigma, apart, few.ProbabilityError,
			got.ProbabilityError, err)
	}
	before := runtime.GOMAXPROCS(1)
	again, err := posterior.New(t.Context(), w, opts)
	runtime.GOMAXPROCS(before)
	if err != nil || !slices.Equal(again.Probability, got.Probability) || !slices.Equal(again.Faulty, got.Faulty) {
		t.Errorf("σ = %v: one worker gives other bits (%v)", sigma, err)
	}
}

// TestExpansionBound: what the expansion of a sensor is off by is within its bound, most of all where y is against x and half of
// it, where the bound is tight.
func TestExpansionBound(t *testing.T) {
	tightest := 0.0
	for _, rate := range []float64{.01, .1, .3, .5} {
		f := posterior.Known(posterior.Faults{Rate: rate, Low: []float64{0}, High: []float64{1}})
		for _, x := range []float64{.01, .02, .05, .08, .1} {
			for _, quotient := range []float64{-4, -2, -1, -.7, -.5, -.3, -.1, 0, .1, .5, 1, 4} {
				got, want, bound := posterior.Expanded(f, quotient*x, x)
				tightest = max(tightest, math.Abs(got-want)/bound)
				if !(math.Abs(got-want) <= bound) {
					t.Errorf("rate %v, x = %v, y = %v: off by %v, bound %v", rate, x, quotient*x, math.Abs(got-want), bound)
				}
			}
		}
	}
	if tightest < .9 {
		t.Errorf("at most %v of the bound is reached", tightest)
	}
}

// TestReadColumn: what a sensor says of a column that is read is within the bound of what it says, whether it is expanded or not and
// whatever the column misses of it, and the bound is not loose.
func TestReadColumn(t *testing.T) {
	whole, missed := 0.0, 0.0
	for _, rate := range []float64{.01, .1, .3, .5} {
		f := posterior.Known(posterior.Faults{Rate: rate, Low: []float64{0}, High: []float64{1}})
		for _, x := range []float64{.05, .1, .2, .3, .4, .5, 1, 3} {
			for _, quotient := range []float64{-4, -2, -1, -.7, -.5, -.3, -.1, 0, .1, .5, 1, 4} {
				for _, off := range []float64{0, .02, -.02} {
					got, want, bound := posterior.ReadColumn(f, quotient*x, x, off)
					if !(math.Abs(got-want) <= bound+1e-12) {
						t.Errorf("rate %v, x = %v, y = %v, off by %v: off by %v, bound %v", rate, x, quotient*x, off,
							math.Abs(got-want), bound)
					}
					if off == 0 && bound > 0 {
						whole = max(whole, math.Abs(got-want)/bound)
					} else if off != 0 {
						missed = max(missed, math.Abs(got-want)/bound)
					}
				}
			}
		}
	}
	if whole < .3 || missed < .3 {
		t.Errorf("at most %v and %v of the bound is reached", whole, missed)
	}
}

// TestAmplitudeRule: the rule integrates every normal density that it is for within its bound, which is not loose.
func TestAmplitudeRule(t *testing.T) {
	worst := 0.0
	for _, steps := range []int{posterior.RuleSteps, 2 * posterior.RuleSteps, 4 * posterior.RuleSteps} {
		width := float64(steps) / 3 // of √N
		for _, share := range []float64{0, .05, .2, .5, .8, 1} {
			n := share * width * width
			for k := range 41 {
				c := -2*width + (n+4*width)*float64(k)/40
				at := func(a float64) float64 { return math.Exp((a - 1) * (c - (a+1)*n/2)) }
				got, want := integrate(at, steps), integrate(at, 600)
				worst = max(worst, math.Abs(got/want-1))
			}
		}
	}
	if worst > posterior.RuleError || worst < posterior.RuleError/5 {
		t.Errorf("the relative error is up to %v, with a bound of %v", worst, posterior.RuleError)
	}
}

func integrate(f func(float64) float64, steps int) (sum float64) {
	for m := range steps + 1 {
		sum += posterior.RuleWeight(m, steps) * f(float64(m)/float64(steps))
	}
	return sum
}
