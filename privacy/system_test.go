// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/cryptotest"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy/internal/normal"
)

// The system's generator is replaced for a test by testing/cryptotest: what runs is
// the production path to its end, and no switch for a seed exists in it.

// manySensors is a plan whose release takes more than two pages of 512 words.
func manySensors(t testing.TB, m int) *Plan {
	t.Helper()
	spec := testSpec(0)
	for i := range m {
		spec.Sensors = append(spec.Sensors, Sensor{Node: i, ID: graph.ID(fmt.Sprint("s", i))})
		spec.Weights = append(spec.Weights, 1+float64(i/2%7)/3)
	}
	return mustPlan(t, spec)
}

// systemStream returns the first words that the system's generator gives for a seed,
// as it is read in pages.
func systemStream(t *testing.T, seed uint64, pages int) *fixedWords {
	t.Helper()
	cryptotest.SetGlobalRandom(t, seed)
	var w []uint64
	for range pages {
		var page [4096]byte
		rand.Read(page[:])
		for i := 0; i < len(page); i += 8 {
			w = append(w, binary.BigEndian.Uint64(page[i:]))
		}
	}
	return &fixedWords{t: t, words: w}
}

// TestSystemUsesEveryWordOnce: the noise of two releases of 1,300 sensors is the
// sample of one word after another of the system's generator, none left out or used
// twice, by the exact sampler; what is left of a page at the end of a release is not
// used at all.
func TestSystemUsesEveryWordOnce(t *testing.T) {
	const m, pages = 1300, 3 // 1,300 words and the few of the slow path
	p := manySensors(t, m)
	src := systemStream(t, 41, 2*pages)
	cryptotest.SetGlobalRandom(t, 41)
	readings := make([]float64, m)
	for i := range readings {
		readings[i] = float64(i) / m
	}
	for release := range 2 {
		r := must.Get(p.Perturb(readings, fmt.Sprint("r", release), nil))(t)
		own := &fixedWords{t: t, words: src.words[512*pages*release:][:512*pages]}
		wrong := 0
		for i, s := range p.Sensors {
			n := must.Get(sampleExact(own.next(), own, s.Steps))(t)
			if r.x[i] != p.Clip.round(readings[i], s.Exponent)+n {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("release %d: %d of %d values have other noise than the generator's words give", release, wrong, m)
		}
	}
}

// TestOneSensorUsesEveryWordOnce is the same for a sensor that perturbs alone: a page
// for each release, whose first word is the sample.
func TestOneSensorUsesEveryWordOnce(t *testing.T) {
	const releases = 40
	s := manySensors(t, 3).Sensors[1]
	clip := Interval{0, 1}
	src := systemStream(t, 43, releases)
	cryptotest.SetGlobalRandom(t, 43)
	for k := range releases {
		v := must.Get(s.Perturb(0.25, clip, "r", nil))(t)
		own := &fixedWords{t: t, words: src.words[512*k:][:512]}
		n := must.Get(sampleExact(own.next(), own, s.Steps))(t)
		if v.Steps != clip.round(0.25, s.Exponent)+n {
			t.Errorf("release %d has other noise than the generator's word gives", k)
		}
	}
}

// systemNoise returns the noise of so many releases, each divided by its σ, row by
// row, at a fixed state of the system's generator.
func systemNoise(t *testing.T, seed uint64, p *Plan, releases int) [][]float64 {
	t.Helper()
	cryptotest.SetGlobalRandom(t, seed)
	zero := make([]float64, len(p.Sensors))
	z := make([][]float64, releases)
	for k := range z {
		r := must.Get(p.Perturb(zero, fmt.Sprint("r", k), nil))(t)
		z[k] = r.Values()
		for i, s := range p.Sensors {
			z[k][i] /= s.Sigma()
		}
	}
	return z
}

// TestSystemNoiseIsNormal: 400 releases of 1,300 sensors, n = 520,000. χ² and G on 38
// cells of all of it, and χ²_400 for each sensor, two-sided. A right implementation
// fails with probability below 1e-6 under a fresh seed: 1e-7 for each of the first
// two, 4e-7 for the sensors together. The seed is fixed.
func TestSystemNoiseIsNormal(t *testing.T) {
	const m, releases = 1300, 400
	z := systemNoise(t, 47, manySensors(t, m), releases)
	var edges []float64
	for e := -4.5; e <= 4.5; e += 0.25 {
		edges = append(edges, e)
	}
	counts, square := make([]float64, len(edges)+1), make([]float64, m)
	for _, row := range z {
		for i, x := range row {
			at, _ := slices.BinarySearch(edges, x)
			counts[at]++
			square[i] += x * x
		}
	}
	chi, g, bins := fit(counts, func(b int) float64 {
		c := normal.CDF(int64(4*edges[b]), 4, 80)
		f, _ := c.Float64()
		return math.Ldexp(f, -80)
	})
	for name, x := range map[string]float64{"χ²": chi, "G": g} {
		if p := chiTail(x, bins-1); p < falseAlarm {
			t.Errorf("%s = %.1f on %d bins, p = %.2g < %g", name, x, bins, p, falseAlarm)
		}
	}
	for i, x := range square {
		if p := min(chiTail(x, releases), 1-chiTail(x, releases)); p < 2*falseAlarm/m {
			t.Errorf("sensor %d: Σz² = %.1f over %d releases, p = %.2g", i, x, releases, p)
		}
	}
}

// TestSystemNoiseIsIndependent: (z + z′)²/2 and (z − z′)²/2 of sensors that lie 1, 2,
// 511, 512, 513 and 1024 apart, and of the same sensor in releases that lie 1 to 5
// apart, add up to χ² over disjoint pairs. n ≥ 50,000 for each; 22 two-sided tests
// at 2e-8 fail together with probability below 1e-6 under a fresh seed; the seed is
// fixed.
func TestSystemNoiseIsIndependent(t *testing.T) {
	const m, releases, alpha = 1300, 400, 2e-8
	z := systemNoise(t, 53, manySensors(t, m), releases)
	check := func(what string, pair func(add func(x, y float64))) {
		var sum, difference float64
		n := 0
		pair(func(x, y float64) {
			sum, difference, n = sum+(x+y)*(x+y)/2, difference+(x-y)*(x-y)/2, n+1
		})
		if n < 50_000 {
			t.Fatalf("%s: %d pairs", what, n)
		}
		for _, x := range []float64{sum, difference} {
			if p := min(chiTail(x, n), 1-chiTail(x, n)); p < alpha {
				t.Errorf("%s: %.0f over %d pairs, p = %.2g < %g", what, x, n, p, alpha)
			}
		}
	}
	for _, lag := range []int{1, 2, 511, 512, 513, 1024} {
		check(fmt.Sprint("sensors ", lag, " apart"), func(add func(x, y float64)) {
			for _, row := range z {
				for i := range m - lag {
					if i%(2*lag) < lag { // no value is in two pairs
						add(row[i], row[i+lag])
					}
				}
			}
		})
	}
	for lag := 1; lag <= 5; lag++ {
		check(fmt.Sprint("releases ", lag, " apart"), func(add func(x, y float64)) {
			for k := range releases - lag {
				if k%(2*lag) < lag {
					for i := range m {
						add(z[k][i], z[k+lag][i])
					}
				}
			}
		})
	}
}
