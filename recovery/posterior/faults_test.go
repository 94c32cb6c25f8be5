// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// brokenDensity is that of a broken sensor's measurement by its definition: half of it a reading from an
// even range with noise, summed over 20,000 readings, and half one at either end; or that of a Cauchy variable.
func brokenDensity(f posterior.Faults, s int, y float64) float64 {
	if f.Low == nil {
		return 1 / (math.Pi * 30 * (1 + y*y/900))
	}
	normal := distuv.UnitNormal
	l, h, sum := f.Low[s], f.High[s], 0.0
	const steps = 20_000
	for k := range steps {
		sum += normal.Prob(y-l-(h-l)*(float64(k)+.5)/steps) / steps
	}
	wide := distuv.Normal{Sigma: math.Sqrt(shiftedVariance)}
	return sum/2 + (normal.Prob(y-l)+wide.Prob(y-l)+normal.Prob(y-h)+wide.Prob(y-h))/8
}

// What a sensor may be.
const (
	isSound = iota
	isShifted
	isBroken
	fates
)

// fateOf returns what a sensor is in a set.
func fateOf(set, s int) int {
	for range s {
		set /= fates
	}
	return set % fates
}

// shiftedVariance is that of what a shifted sensor publishes.
const shiftedVariance = 10

// faultPrior returns the probabilities of a sensor to be sound, shifted and broken: of those that are not broken, 4o are shifted
// for each that is sound, with o the odds of the rate.
func faultPrior(rate float64) [fates]float64 {
	o := rate / (1 - rate)
	return [fates]float64{(1 - rate) / (1 + 4*o), (1 - rate) * 4 * o / (1 + 4*o), rate}
}

// faultySets are the log probabilities of what all sensors are, by their digits, where there is
// no source.
func faultySets(f posterior.Faults, y []float64) []float64 {
	prior, wide := faultPrior(f.Rate), distuv.Normal{Sigma: math.Sqrt(shiftedVariance)}
	sets := make([]float64, int(math.Pow(fates, float64(len(y)))))
	for s, v := range y {
		logs := [fates]float64{distuv.UnitNormal.LogProb(v), wide.LogProb(v), math.Log(brokenDensity(f, s, v))}
		for set := range sets {
			fate := fateOf(set, s)
			sets[set] += math.Log(prior[fate]) + logs[fate]
		}
	}
	floats.AddConst(-floats.LogSumExp(sets), sets)
	return sets
}

// fateWeight is the inverse of the variance of what a sensor says of a source.
func fateWeight(fate int) float64 { return [...]float64{1, 1. / shiftedVariance, 0}[fate] }

// faultyByDefinition is the log evidence of each node and the probability of each sensor to be
// faulty, summed over all that sensors may be.
func faultyByDefinition(a *mat.Dense, y []float64, f posterior.Faults, prior []float64, one float64) (evidence, broken []float64) {
	m, n := a.Dims()
	sets := faultySets(f, y)
	var logs, weights []float64
	var of []int
	evidence, broken = make([]float64, n), make([]float64, m)
	for i := range n {
		logs = logs[:0]
		for set, log := range sets {
			c, sum := 0.0, 0.0
			for s, v := range y {
				w := fateWeight(fateOf(set, s))
				c, sum = c+w*a.At(s, i)*v, sum+w*a.At(s, i)*a.At(s, i)
			}
			log += floats.LogSumExp([]float64{math.Log(one) + c - sum/2, math.Log1p(-one) + integral(c, sum)})
			logs = append(logs, log)
			weights, of = append(weights, log+math.Log(prior[i])), append(of, set)
		}
		evidence[i] = floats.LogSumExp(logs)
	}
	total := floats.LogSumExp(weights)
	for k, w := range weights {
		for s := range broken {
			if fateOf(of[k], s) != isSound {
				broken[s] += math.Exp(w - total)
			}
		}
	}
	return evidence, broken
}

func TestFaultyPosteriorByDefinition(t *testing.T) {
	const m, n = 3, 5
	rnd := rand.New(rand.NewPCG(21, 1))
	for trial, scale := range []float64{.3, 2, 40, 3000} {
		a := mat.NewDense(m, n, nil)
		y, prior := make([]float64, m), make([]float64, n)
		for s := range m {
			for i := range n {
				a.Set(s, i, scale*math.Pow(rnd.Float64(), 2))
			}
			y[s] = a.At(s, 3)*.7 + rnd.NormFloat64()
		}
		for i := range prior {
			prior[i] = .1 + rnd.Float64()
		}
		floats.Scale(1/floats.Sum(prior), prior)
		f := posterior.Faults{Rate: .04, Low: make([]float64, m), High: make([]float64, m)}
		for s := range m {
			f.Low[s], f.High[s] = -.2*scale, scale*(.5+rnd.Float64())
		}
		y[2] = f.High[2] + .3 // stuck
		if trial%2 == 1 {
			f.Low, f.High = nil, nil
		}
		for amplitude, one := range map[posterior.Amplitude]float64{
			posterior.MixedAmplitude: .5, posterior.UniformAmplitude: 0,
			posterior.UnitAmplitude: 1,
		} {
			d := measurement.Data{A: linop.Dense{M: a}, Y: y}
			p := must.Get(posterior.New(t.Context(), d, posterior.Options{Faults: f, Prior: prior, Amplitude: amplitude}))(t)
			evidence, broken := faultyByDefinition(a, y, f, prior, one)
			best := floats.Max(evidence)
			for i, want := range evidence {
				got := p.LogEvidence[i]
				if want > best-40 && math.Abs(got-want) > 1e-6 || want <= best-40 && got > best-30 {
					t.Errorf("scale %v, amplitude %v: log evidence of node %d is %v, want %v", scale, amplitude, i, got, want)
				}
			}
			for s, want := range broken {
				if math.Abs(p.Faulty[s]-want) > 1e-5 {
					t.Errorf("scale %v, amplitude %v: sensor %d is broken with probability %v, want %v", scale, amplitude, s,
						p.Faulty[s], want)
				}
			}
		}
	}
}

// sensing makes measurements of one source, of amplitude 1 at node 4, on a line of n nodes with a
// sensor at each; the reading of sensor stuck is the top of the range, 1.
func sensing(n int, sigma float64, stuck int) (measurement.Data, posterior.Faults) {
	rnd := rand.New(rand.NewPCG(22, uint64(n)))
	a := mat.NewDense(n, n, nil)
	y := make([]float64, n)
	f := posterior.Faults{Rate: .01, Low: make([]float64, n), High: make([]float64, n)}
	for s := range n {
		for i := range n {
			a.Set(s, i, .4*math.Exp(-math.Pow(float64(s-i), 2)/4)/sigma)
		}
		y[s] = a.At(s, min(4, n-1)) + rnd.NormFloat64()
		f.High[s] = 1 / sigma
	}
	if stuck >= 0 {
		y[stuck] = 1/sigma + rnd.NormFloat64()
	}
	return measurement.Data{A: linop.Dense{M: a}, Y: y}, f
}

// TestScreenedFaults: where only products are known, the posterior is within its bounds of the exact
// one, and exact at the nodes that matter most.
func TestScreenedFaults(t *testing.T) {
	for _, test := range []struct {
		sigma float64
		stuck int
	}{{.05, 200}, {.15, -1}, {.1, 200}, {.4, -1}} {
		d, f := sensing(300, test.sigma, test.stuck)
		want := must.Get(posterior.New(t.Context(), d, posterior.Options{Faults: f}))(t)
		d.A = productsOnly{d.A}
		got := must.Get(posterior.New(t.Context(), d, posterior.Options{Faults: f}))(t)
		apart := floats.Distance(got.Probability, want.Probability, 1) / 2
		if apart > got.ProbabilityError+1e-9 || got.ProbabilityError > .9 ||
			math.Abs(got.LogPresence-want.LogPresence) > got.LogOddsError+1e-9 {
			t.Errorf("σ = %v: %v apart with a bound of %v, log odds %v and %v with %v", test.sigma, apart, got.ProbabilityError,
				got.LogPresence, want.LogPresence, got.LogOddsError)
		}
		if test.stuck >= 0 && got.Faulty[test.stuck] < .9 {
			t.Errorf("σ = %v: the stuck sensor is broken with probability %v", test.sigma, got.Faulty[test.stuck])
		}
	}
}

// productsOnly hides the entries of an operator.
type productsOnly struct{ linop.Operator }

func TestFaultyPosteriorSameBits(t *testing.T) {
	d, f := sensing(200, .1, 90)
	var first *posterior.Posterior
	for _, workers := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(workers)
		p, err := posterior.New(t.Context(), d, posterior.Options{Faults: f})
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = p
		}
		if !slices.Equal(p.Probability, first.Probability) || !slices.Equal(p.Faulty, first.Faulty) || p.LogPresence != first.LogPresence {
			t.Errorf("%d workers give other bits", workers)
		}
	}
}

// Readings that say nothing, one sensor, sensors that all look broken, and readings far outside the range
// leave a posterior that adds up.
func TestFaultyExtremes(t *testing.T) {
	d, f := sensing(20, .05, -1)
	set := func(v float64) []float64 {
		y := make([]float64, 20)
		for s := range y {
			y[s] = v
		}
		return y
	}
	one, oneFaults := sensing(1, .05, 0)
	for name, test := range map[string]struct {
		d measurement.Data
		f posterior.Faults
	}{
		"zeros":        {measurement.Data{A: d.A, Y: set(0)}, f},
		"equal":        {measurement.Data{A: d.A, Y: set(10)}, f},
		"all stuck":    {measurement.Data{A: d.A, Y: set(20)}, f},
		"far outside":  {measurement.Data{A: d.A, Y: set(-1e6)}, f},
		"unknown":      {measurement.Data{A: d.A, Y: set(1e6)}, posterior.Faults{Rate: .5}},
		"one sensor":   {one, oneFaults},
		"almost all":   {d, posterior.Faults{Rate: .999999, Low: f.Low, High: f.High}},
		"tiny rate":    {d, posterior.Faults{Rate: 1e-300, Low: f.Low, High: f.High}},
		"one reading":  {d, posterior.Faults{Rate: .01, Low: f.Low, High: f.Low}},
		"narrow range": {d, posterior.Faults{Rate: .01, Low: f.Low, High: set(1e-3)}},
	} {
		p, err := posterior.New(t.Context(), test.d, posterior.Options{Faults: test.f})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		test.d.A = productsOnly{test.d.A}
		bounded, err := posterior.New(t.Context(), test.d, posterior.Options{Faults: test.f})
		if err != nil || !(math.Abs(floats.Sum(bounded.Probability)-1) < 1e-9) {
			t.Errorf("%s, by products: %+v, %v", name, bounded, err)
		}
		if sum := floats.Sum(p.Probability); math.Abs(sum-1) > 1e-9 || math.IsNaN(p.LogPresence) || math.IsInf(p.LogPresence, 0) {
			t.Errorf("%s: the posterior adds up to %v, log presence %v", name, sum, p.LogPresence)
		}
		for s, v := range p.Faulty {
			if !(v >= 0 && v <= 1) {
				t.Errorf("%s: sensor %d is broken with probability %v", name, s, v)
			}
		}
	}
}

func TestBadFaults(t *testing.T) {
	d, f := sensing(5, .1, -1)
	for name, bad := range map[string]posterior.Faults{
		"rate 1": {Rate: 1}, "almost 1": {Rate: 1 - 1e-13}, "negative": {Rate: -1e-300}, "NaN": {Rate: math.NaN()},
		"one end":     {Rate: .1, Low: f.Low},
		"upside down": {Rate: .1, Low: f.High, High: f.Low},
		"short":       {Rate: .1, Low: f.Low[:2], High: f.High[:2]},
		"infinite":    {Rate: .1, Low: f.Low, High: []float64{1, 1, math.Inf(1), 1, 1}},
	} {
		if _, err := posterior.New(t.Context(), d, posterior.Options{Faults: bad}); !errors.Is(err, posterior.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFaultyPrior: a sensor is faulty beforehand as often as it is not sound.
func TestFaultyPrior(t *testing.T) {
	for _, rate := range []float64{0, 1e-300, .01, .25, .9, 1 - 1e-12} {
		if got, want := posterior.FaultyPrior(rate), 1-faultPrior(rate)[isSound]; math.Abs(got-want) > 1e-12 {
			t.Errorf("rate %v: %v, want %v", rate, got, want)
		}
	}
}
