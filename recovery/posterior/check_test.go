// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// heated are measurements of a source of amplitude a at node 2 of a path, whose kernel is
// scaled to units of the noise.
func heated(rnd *rand.Rand, n int, a, scale float64) measurement.Data {
	m := heatOn(n, 1)
	m.Scale(scale, m)
	y := make([]float64, n)
	for s := range y {
		y[s] = a*m.At(s, 2) + rnd.NormFloat64()
	}
	return measurement.Data{A: linop.Dense{M: m}, Y: y}
}

// rates are how often a p-value is at most .05 and at most .2 in so many runs.
func rates(runs int, p func(run int) float64) (five, twenty float64) {
	for run := range runs {
		v := p(run)
		if v <= .05+1e-12 {
			five++
		}
		if v <= .2+1e-12 {
			twenty++
		}
	}
	return five / float64(runs), twenty / float64(runs)
}

// Both tests err as often as they say: under no source that of presence, exactly, and under
// one source that of the fit. Of 250 runs the shares of .05 and .2 are within .046 and .085
// with probability above .999.
func TestCheckErrsAsOftenAsItSays(t *testing.T) {
	visible := mat.NewDense(1, 12, nil)
	for s := range 12 {
		visible.Set(0, s, 1/math.Sqrt(12))
	}
	check := func(run int, a float64) *posterior.Check {
		d := heated(rand.New(rand.NewPCG(uint64(run), 5)), 12, a, 6)
		return must.Get(newCheck(t.Context(), d, posterior.CheckOptions{Trials: 99, Seed: uint64(run), Visible: visible}))(t)
	}
	five, twenty := rates(250, func(run int) float64 { return check(run, 0).NoSource })
	if math.Abs(five-.05) > .046 || math.Abs(twenty-.2) > .085 {
		t.Errorf("without a source it is found in %v and %v, want .05 and .2", five, twenty)
	}
	five, twenty = rates(250, func(run int) float64 { return check(run, 1).Fit })
	if math.Abs(five-.05) > .046 || math.Abs(twenty-.2) > .085 {
		t.Errorf("with one source the fit is refused in %v and %v, want .05 and .2", five, twenty)
	}
	if five, _ = rates(100, func(run int) float64 { return check(run, 1).NoSource }); five < .5 {
		t.Errorf("a clear source is found in %v", five)
	}
}

// Below what the trials can show the p-value is the bound by Markov, and is as far as the
// threshold says; the number of trials stays what can be waited for.
func TestRareFalseAlarms(t *testing.T) {
	for _, amplitude := range []float64{.4, 1, 1.5, 1e4} {
		d := heated(rand.New(rand.NewPCG(3, 5)), 12, amplitude, 14)
		for _, alarm := range []float64{1e-3, 1e-7, 1e-300} {
			c, err := newCheck(t.Context(), d, posterior.CheckOptions{FalseAlarm: alarm})
			if err != nil || c.Trials > 9999 {
				t.Fatalf("%d trials (%v)", c.Trials, err)
			}
			if least := 1 / float64(c.Trials+1); c.NoSource < least &&
				c.NoSource != max(math.Exp(-c.LogPresence), math.SmallestNonzeroFloat64) || c.NoSource == 0 || c.NoSource > least &&
				c.LogPresence > c.Null[c.Trials-1] {
				t.Errorf("amplitude %v: p = %v, log odds %v, the largest of the trials %v", amplitude, c.NoSource, c.LogPresence,
					c.Null[c.Trials-1])
			}
			if found := c.NoSource <= alarm; found != (c.LogPresence > c.Threshold(alarm)) || amplitude == 1.5 && alarm == 1e-7 && !found {
				t.Errorf("amplitude %v at %v: p = %v, log odds %v, threshold %v", amplitude, alarm, c.NoSource, c.LogPresence,
					c.Threshold(alarm))
			}
		}
	}
}

// The least residual is that of the best node and amplitude among all, and the log odds are
// those of the posterior.
func TestCheckFindsTheBestFit(t *testing.T) {
	for run := range 10 {
		d := heated(rand.New(rand.NewPCG(uint64(run), 6)), 9, .6, 5)
		prior := []float64{1, 2, 0, 1, 1, 1, 3, 1, 1}
		for _, amplitude := range []posterior.Amplitude{posterior.MixedAmplitude, posterior.UnitAmplitude} {
			opts := posterior.Options{Amplitude: amplitude, Prior: prior}
			c := must.Get(newCheck(t.Context(), d, posterior.CheckOptions{Options: opts, Trials: 19}))(t)
			want := math.Inf(1)
			a := d.A.(linop.Dense).M
			for i, w := range prior {
				for k := range 1001 {
					x := float64(k) / 1000
					if w == 0 || amplitude == posterior.UnitAmplitude && k < 1000 {
						continue
					}
					q := 0.0
					for s, y := range d.Y {
						q += (y - x*a.At(s, i)) * (y - x*a.At(s, i))
					}
					want = min(want, q)
				}
			}
			if c.Residual > want+1e-12 || c.Residual < want-1e-3 {
				t.Errorf("residual %v, want %v", c.Residual, want)
			}
			p, err := posterior.New(t.Context(), d, opts)
			if err != nil || math.Abs(p.LogPresence-c.LogPresence) > 1e-12 {
				t.Errorf("log odds %v, want %v (%v)", c.LogPresence, p.LogPresence, err)
			}
			if residual, err := posterior.LeastResidual(t.Context(), d, []int{0}, opts); err != nil ||
				math.Abs(residual-c.Residual) > 1e-9 {
				t.Errorf("least residual %v, want %v (%v)", residual, c.Residual, err)
			}
		}
	}
}

// A threshold is exceeded exactly where the p-value is at most the rate.
func TestThreshold(t *testing.T) {
	d := heated(rand.New(rand.NewPCG(3, 5)), 8, 0, 3)
	c, err := newCheck(t.Context(), d, posterior.CheckOptions{Trials: 39})
	if err != nil || !slices.IsSorted(c.Null) || len(c.Null) != 39 {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, alarm := range []float64{.025, .05, .1, .5, .975} {
		above := 0
		for _, v := range c.Null {
			if v >= c.Threshold(alarm) {
				above++
			}
		}
		if want := int(math.Round(alarm * 40)); above != want { // the threshold itself is no alarm
			t.Errorf("rate %v: %d trials reach the threshold, want %d", alarm, above, want)
		}
	}
	if !math.IsInf(c.Threshold(1), -1) {
		t.Errorf("threshold %v, want -Inf", c.Threshold(1))
	}
}

// The evidence of a background is that of its densities, summed point by point.
func TestBackgroundAgainstSums(t *testing.T) {
	const n = 3
	d := heated(rand.New(rand.NewPCG(4, 5)), n, .7, 2)
	a := d.A.(linop.Dense).M
	opts := posterior.Options{Amplitude: posterior.UniformAmplitude}
	h := []float64{1, 2, 3}
	background := 0.0
	normal := func(y, s float64) float64 { return math.Exp(-y*y/(2*s*s)) / (s * math.Sqrt(2*math.Pi)) }
	for i := range n {
		for k := range 60 {
			x := (float64(k) + .5) / 60
			for _, s := range []float64{.01, .1, 1} {
				for j := range 241 {
					b := (float64(j) - 120) / 20 // in units of s
					p := normal(b, 1) / 20
					for r, y := range d.Y {
						p *= normal(y-x*a.At(r, i)-b*s*h[r], 1) / normal(y, 1)
					}
					background += p / (3 * n * 60)
				}
			}
		}
	}
	if got, err := posterior.Background(t.Context(), d, h, opts); err != nil || math.Abs(got-math.Log(background)) > 1e-3 {
		t.Errorf("background: %v, want %v (%v)", got, math.Log(background), err)
	}
}

// A second source is weighed as pairs weigh it.
func TestSecondAgainstPairs(t *testing.T) {
	for run, amplitude := range []posterior.Amplitude{posterior.MixedAmplitude, posterior.UniformAmplitude, posterior.UnitAmplitude} {
		d := heated(rand.New(rand.NewPCG(uint64(run), 8)), 10, 1, 2)
		for _, rate := range []float64{0, .01, .2} {
			opts := posterior.Options{Amplitude: amplitude, Faults: posterior.Faults{Rate: rate}}
			one := must.Get(posterior.New(t.Context(), d, opts))(t)
			two := must.Get(posterior.NewPairs(t.Context(), d, opts))(t)
			got, err := posterior.Second(t.Context(), d, opts)
			if want := two.LogPresence - one.LogPresence; err != nil || !(math.Abs(got-want) < .4) {
				t.Errorf("prior %v, faults at %v: %v, want %v (%v)", amplitude, rate, got, want, err)
			}
		}
	}
	d := heated(rand.New(rand.NewPCG(1, 8)), 4, 1, 2)
	if got, err := posterior.Second(t.Context(), d, posterior.Options{Prior: []float64{0, 1, 0, 0}}); err != nil || !math.IsInf(got, -1) {
		t.Errorf("a second source where the prior allows one: %v, %v", got, err)
	}
}

func TestCheckRefuses(t *testing.T) {
	d := heated(rand.New(rand.NewPCG(1, 8)), 4, 1, 2)
	if _, err := newCheck(t.Context(), d, posterior.CheckOptions{Visible: mat.NewDense(1, 3, nil)}); !errors.Is(err,
		posterior.ErrInvalid) {
		t.Errorf("directions among other measurements: %v", err)
	}
	if _, err := posterior.Second(t.Context(), heated(rand.New(rand.NewPCG(1, 8)), 3, 1, 2),
		posterior.Options{Prior: []float64{1}}); !errors.Is(err, posterior.ErrInvalid) {
		t.Errorf("a prior of one node for three: %v", err)
	}
}

// under are the same measurements with each operator.
func under(y []float64, operators ...linop.Operator) (list []measurement.Data) {
	for _, a := range operators {
		list = append(list, measurement.Data{A: a, Y: y})
	}
	return list
}

// Whatever the number of operators, a source is found where there is none as often as is
// said, and where there is one under any of them: of 250 runs the shares of .05 and .2 are
// within .046 and .085 with probability above .999.
func TestPresenceErrsAsOftenAsItSays(t *testing.T) {
	var operators []linop.Operator
	for _, tau := range []float64{.1, 1, 5} {
		m := heatOn(12, tau)
		m.Scale(6, m)
		operators = append(operators, linop.Dense{M: m})
	}
	test := func(run int, y []float64) *posterior.Presence {
		opts := posterior.CheckOptions{Trials: 99, Seed: uint64(run)}
		return must.Get(posterior.NewPresence(t.Context(), under(y, operators...), opts))(t)
	}
	five, twenty := rates(250, func(run int) float64 {
		return test(run, heated(rand.New(rand.NewPCG(uint64(run), 5)), 12, 0, 6).Y).NoSource
	})
	if math.Abs(five-.05) > .046 || math.Abs(twenty-.2) > .085 {
		t.Errorf("without a source it is found in %v and %v, want .05 and .2", five, twenty)
	}
	y := make([]float64, 12)
	linop.ColumnsTo(operators[0], y, []int{4})
	if p := test(1, y); p.NoSource > .01 || p.LogPresence <= p.Threshold(.01) {
		t.Errorf("a clear source: %+v", *p)
	}
}

// The odds are the mean of those under each operator; with one they are that of the check,
// and so is all the rest, to the bit.
func TestPresenceIsTheMeanOfTheOdds(t *testing.T) {
	d := heated(rand.New(rand.NewPCG(2, 6)), 9, .6, 5)
	other := heatOn(9, 3)
	opts := posterior.CheckOptions{Trials: 19, Options: posterior.Options{Prior: []float64{1, 2, 0, 1, 1, 1, 3, 1, 1}}}
	c := must.Get(newCheck(t.Context(), d, opts))(t)
	p, err := posterior.NewPresence(t.Context(), under(d.Y, d.A), opts)
	if err != nil || p.LogPresence != c.LogPresence || p.NoSource != c.NoSource || !slices.Equal(p.Null, c.Null) {
		t.Errorf("%+v, want %+v (%v)", p, c.Presence, err)
	}
	o := must.Get(posterior.NewPresence(t.Context(), under(d.Y, linop.Dense{M: other}), opts))(t)
	p, err = posterior.NewPresence(t.Context(), under(d.Y, d.A, linop.Dense{M: other}), opts)
	if want := math.Log((math.Exp(c.LogPresence) + math.Exp(o.LogPresence)) / 2); err != nil || math.Abs(p.LogPresence-want) > 1e-12 {
		t.Errorf("log odds %v, want %v (%v)", p.LogPresence, want, err)
	}
}

func TestPresenceRefused(t *testing.T) {
	if _, err := posterior.NewPresence(t.Context(), under(nil), posterior.CheckOptions{}); !errors.Is(err, posterior.ErrInvalid) {
		t.Errorf("no operator: %v", err)
	}
}

// newChecks tests the measurements of the first of some operators.
func newChecks(ctx context.Context, data []measurement.Data, opts posterior.CheckOptions) (*posterior.Check, error) {
	c, err := posterior.NewChecker(ctx, data, opts)
	if err != nil {
		return nil, err
	}
	return c.Check(data[0].Y), nil
}

// newCheck tests those of one.
func newCheck(ctx context.Context, d measurement.Data, opts posterior.CheckOptions) (*posterior.Check, error) {
	return newChecks(ctx, []measurement.Data{d}, opts)
}

// TestChecksOverTau: where one of several operators made the measurements, which of them is not known, the
// model is refused no more often than it says, at any of them; the p-value is the largest of those
// under each.
func TestChecksOverTau(t *testing.T) {
	const n, runs = 12, 240
	var operators []linop.Operator
	for _, tau := range []float64{.5, 1, 2, 4} {
		m := heatOn(n, tau)
		m.Scale(1/.08, m)
		operators = append(operators, linop.Dense{M: m})
	}
	for truth, a := range operators {
		var alarms [2]int
		for run := range runs {
			rnd := rand.New(rand.NewPCG(uint64(truth), uint64(run)))
			y := mat.Col(nil, rnd.IntN(n), a.(linop.Dense).M)
			for s := range y {
				y[s] += rnd.NormFloat64()
			}
			opts := posterior.CheckOptions{Trials: 39, Seed: uint64(run)}
			c := must.Get(newChecks(t.Context(), under(y, operators...), opts))(t)
			for k, level := range [2]float64{.05, .25} {
				if c.Fit <= level+1e-12 {
					alarms[k]++
				}
			}
			if run > 3 {
				continue
			}
			largest := 0.0
			for _, b := range operators {
				one := must.Get(newCheck(t.Context(), measurement.Data{A: b, Y: y}, opts))(t)
				largest = max(largest, one.Fit)
			}
			if c.Fit != largest {
				t.Errorf("operator %d, run %d: p = %v, want %v, the largest", truth, run, c.Fit, largest)
			}
		}
		for k, level := range [2]float64{.05, .25} { // 4 standard errors
			if most := runs*level + 4*math.Sqrt(runs*level*(1-level)); float64(alarms[k]) > most {
				t.Errorf("operator %d: the fit is below %v in %d of %d runs", truth, level, alarms[k], runs)
			}
		}
		t.Logf("operator %d: %v of %d", truth, alarms, runs)
	}
}
