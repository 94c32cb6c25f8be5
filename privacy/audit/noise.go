// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/graphcloak/graphcloak/privacy"
)

// Noise is the outcome of testing a mechanism's noise against the null hypothesis:
// normal with the stated σ of each sensor, independent between sensors and between
// releases.
type Noise struct {
	Releases int    `json:"releases"`
	Sensors  int    `json:"sensors"`
	Tests    int    `json:"tests"`
	Worst    string `json:"worst"` // the test with the least p-value
	// Probability is the p-value of all tests together: the least of them, times their
	// number (Bonferroni).
	Probability float64 `json:"probability"`
	Refuted     bool    `json:"refuted"` // Probability is below 1 − confidence
}

const (
	pairLimit   = 512     // pairs of sensors that are followed one by one
	lagLimit    = 1024    // sensors this far apart are compared, all together
	lagEntries  = 1 << 24 // products that are spent on it
	lagReleases = 8       // and releases this far apart
	directions  = 16      // of random signs, and as many of normals
	repeatLimit = 1 << 18 // values among which repeats are looked for
	minTrials   = 200
	noiseWork   = 1 << 26 // values that are looked at, unless that is fewer than minTrials releases
)

// CheckNoise runs m on the same readings again and again and tests, with the
// probability of a false alarm bounded by 1 − opts.Confidence in all: the variance
// and the mean of each sensor; sums and differences of pairs of sensors; sums and
// differences of sensors and of releases that lie a fixed number apart; random
// directions, and the differences of pairs that opts names, whitened; and whether
// noise repeats. Every statistic but the last is χ² or normal exactly, with the
// rounding to the lattice taken off in favour of the mechanism; repeats are Poisson
// up to a relative 10⁻³.
func CheckNoise(ctx context.Context, m Mechanism, readings []float64, noise []privacy.SensorNoise, opts Options) (Noise, error) {
	if err := opts.setDefaults(); err != nil {
		return Noise{}, err
	}
	if len(readings) != len(noise) || len(noise) == 0 {
		return Noise{}, fmt.Errorf("audit: %d readings for %d sensors", len(readings), len(noise))
	}
	releases := min(opts.Trials, max(minTrials, noiseWork/len(noise)))
	c := newChecker(readings, noise, releases, opts)
	row := make([]float64, len(noise))
	for k := range releases {
		if err := ctx.Err(); err != nil {
			return Noise{}, err
		}
		out, err := m(readings)
		if err != nil {
			return Noise{}, err
		}
		for i, s := range noise {
			row[i] = (out[i] - readings[i]) / s.Sigma()
		}
		c.add(k, row)
		opts.report("noise", k+1, releases)
	}
	return c.verdict(1 - opts.Confidence), nil
}

// checker accumulates sums of squares: each statistic is of independent N(0, 1) values
// under the stated noise, with a bound on how far rounding moved their norm.
type checker struct {
	releases    int
	rounding    []float64 // bound on the rounding of one value, in σ
	forms       []form
	sensorLags  []lag
	releaseLags []lag
	lagRows     int
	past        [][]float64 // the last rows, the newest first
	values      []float64   // for repeats
}

type statistic struct {
	name                string
	sum, square, err, n float64
}

func (s *statistic) add(x, err float64) {
	s.sum, s.square, s.err, s.n = s.sum+x, s.square+x*x, s.err+err*err, s.n+1
}

// form is a combination of the sensors of a release, of weights of length 1.
type form struct {
	statistic
	at      []int
	weights []float64
	mean    bool // tested too
}

// lag is sums and differences of values a fixed number apart.
type lag struct{ sum, difference statistic }

func newLags(what string, count int) []lag {
	out := make([]lag, count)
	for d := range out {
		out[d].sum.name = fmt.Sprintf("sums of %s %d apart", what, d+1)
		out[d].difference.name = fmt.Sprintf("differences of %s %d apart", what, d+1)
	}
	return out
}

// add takes two values, each N(0, 1), with bounds on their rounding.
func (l *lag) add(x, y, ex, ey float64) {
	err := (ex + ey) * math.Sqrt2 / 2
	l.sum.add((x+y)*math.Sqrt2/2, err)
	l.difference.add((x-y)*math.Sqrt2/2, err)
}

// newChecker chooses what is looked at, by a fixed generator.
func newChecker(readings []float64, noise []privacy.SensorNoise, releases int, opts Options) *checker {
	m := len(noise)
	lags := min(m-1, lagLimit)
	c := &checker{
		releases: releases, rounding: make([]float64, m), lagRows: max(8, lagEntries/max(1, m*lags)),
		sensorLags: newLags("sensors", lags), releaseLags: newLags("releases", lagReleases),
	}
	for i, s := range noise {
		// Half a step of the reading, half of the noise, and floating point.
		c.rounding[i] = (1 + math.Abs(readings[i])/s.Step()*0x1p-51) / float64(s.Steps)
		c.addForm(fmt.Sprintf("sensor %q", s.ID), true, []int{i}, 1)
	}
	rng := rand.New(rand.NewPCG(0x6175, uint64(m)))
	c.addPairs(noise, rng)
	c.addDirections(noise, opts.Pairs, rng)
	return c
}

// addForm scales weights to length 1, and leaves out those of length 0.
func (c *checker) addForm(name string, mean bool, at []int, weights ...float64) {
	if norm := floats.Norm(weights, 2); norm > 0 {
		floats.Scale(1/norm, weights)
		c.forms = append(c.forms, form{statistic{name: name}, at, weights, mean})
	}
}

// addPairs follows all pairs of few sensors, and of many those beside each other and
// random ones.
func (c *checker) addPairs(noise []privacy.SensorNoise, rng *rand.Rand) {
	m := len(noise)
	add := func(i, j int) {
		name := fmt.Sprintf("sensors %q and %q", noise[i].ID, noise[j].ID)
		c.addForm(name+", sum", false, []int{i, j}, 1, 1)
		c.addForm(name+", difference", false, []int{i, j}, 1, -1)
	}
	if m*(m-1)/2 <= pairLimit {
		for i := range m {
			for j := range i {
				add(j, i)
			}
		}
		return
	}
	for k := range pairLimit / 2 {
		add(k%(m-1), k%(m-1)+1)
		if i, j := rng.IntN(m), rng.IntN(m); i != j {
			add(i, j)
		}
	}
}

// addDirections takes signs, normals, and whitened differences.
func (c *checker) addDirections(noise []privacy.SensorNoise, pairs []Pair, rng *rand.Rand) {
	all := make([]int, len(noise))
	for i := range all {
		all[i] = i
	}
	for k := range directions {
		signs, normals := make([]float64, len(noise)), make([]float64, len(noise))
		for i := range noise {
			signs[i], normals[i] = float64(2*rng.IntN(2)-1), rng.NormFloat64()
		}
		c.addForm(fmt.Sprintf("random signs %d", k+1), true, all, signs...)
		c.addForm(fmt.Sprintf("random direction %d", k+1), true, all, normals...)
	}
	for k, p := range pairs {
		v := make([]float64, len(noise))
		for i, s := range noise {
			v[i] = (p.A[i] - p.B[i]) / s.Sigma()
		}
		c.addForm(fmt.Sprintf("difference of neighbours %d", k+1), true, all, v...)
	}
}

// add takes the noise of release k, in σ.
func (c *checker) add(k int, z []float64) {
	for a := range c.forms {
		f := &c.forms[a]
		var sum, err float64
		for b, i := range f.at {
			sum += f.weights[b] * z[i]
			err += math.Abs(f.weights[b]) * c.rounding[i]
		}
		f.add(sum, err)
	}
	if k < c.lagRows {
		for d := 1; d <= len(c.sensorLags); d++ {
			for i := 0; i+d < len(z); i++ {
				if i%(2*d) < d { // no value is in two pairs
					c.sensorLags[d-1].add(z[i], z[i+d], c.rounding[i], c.rounding[i+d])
				}
			}
		}
	}
	for d := 1; d <= min(lagReleases, len(c.past)); d++ {
		if (k-d)%(2*d) < d {
			for i, x := range c.past[d-1] {
				c.releaseLags[d-1].add(x, z[i], c.rounding[i], c.rounding[i])
			}
		}
	}
	c.past = slices.Insert(c.past, 0, slices.Clone(z))
	c.past = c.past[:min(len(c.past), lagReleases)]
	if room := repeatLimit - len(c.values); room > 0 {
		c.values = append(c.values, z[:min(room, len(z))]...)
	}
}

// verdict takes the least p-value of all tests, with Bonferroni's correction.
func (c *checker) verdict(alpha float64) Noise {
	r := Noise{Releases: c.releases, Sensors: len(c.rounding), Probability: 1}
	see := func(name string, p float64) {
		if r.Tests++; p < r.Probability || r.Worst == "" {
			r.Worst, r.Probability = name, p
		}
	}
	variance := func(s statistic) {
		if s.n > 0 {
			see("variance of "+s.name, s.variance())
		}
	}
	for _, f := range c.forms {
		variance(f.statistic)
		if f.mean {
			see("mean of "+f.name, f.statistic.mean())
		}
	}
	for _, l := range slices.Concat(c.sensorLags, c.releaseLags) {
		variance(l.sum)
		variance(l.difference)
	}
	if p, ok := repeats(c.values, slices.Max(c.rounding)); ok {
		see("repeats", p)
	}
	r.Probability = min(1, r.Probability*float64(r.Tests))
	r.Refuted = r.Probability < alpha
	return r
}

// variance returns twice the lesser tail of χ²_n.
func (s statistic) variance() float64 {
	norm, err := math.Sqrt(s.square), math.Sqrt(s.err)
	least, most := max(0, norm-err), norm+err
	above := mathext.GammaIncRegComp(s.n/2, least*least/2)
	below := mathext.GammaIncReg(s.n/2, most*most/2)
	return min(1, 2*min(above, below))
}

// mean returns the two-sided tail of a normal sum.
func (s statistic) mean() float64 {
	z := math.Abs(s.sum)/math.Sqrt(s.n) - math.Sqrt(s.err)
	return math.Erfc(max(0, z) / math.Sqrt2)
}

// repeats counts neighbours in order of size that rounding does not tell apart: at
// most twice the rounding lies between them, so at most T, four times the rounding,
// between the exact values. Two normal values are so near with probability below
// T/√π, and the number of such pairs among N is Poisson with mean N²T/(2√π) up to a
// relative N·T. ok is false where the lattice is too coarse for that.
func repeats(values []float64, rounding float64) (p float64, ok bool) {
	n, near := float64(len(values)), 4*rounding
	if n*near > 1e-3 {
		return 1, false
	}
	slices.Sort(values)
	found := 0
	for i := 1; i < len(values); i++ {
		if values[i]-values[i-1] <= 2*rounding {
			found++
		}
	}
	if found == 0 {
		return 1, true
	}
	// P(Poisson(λ) ≥ k) is the incomplete gamma function.
	lambda := n * n * near / (2 * math.Sqrt(math.Pi)) * (1 + 1e-3)
	return mathext.GammaIncReg(float64(found), lambda), true
}
