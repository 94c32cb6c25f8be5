// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// maxSensors bounds the values of the test, which are kept.
const maxSensors = 100_000

// backdoor releases in escrow mode, takes the noise off with the master secret, and
// tests whether the noise can be told from that of the operating system without it.
func backdoor(_ context.Context, r *runner) error {
	n := min(maxSensors, max(1000, 10*r.trials(400)))
	plan := func(randomness privacy.Randomness) (*privacy.Plan, error) {
		sensors := make([]privacy.Sensor, n)
		for i := range sensors {
			sensors[i] = privacy.Sensor{Node: i, ID: graph.ID(fmt.Sprintf("s%06d", i))}
		}
		return privacy.NewPlan(privacy.Spec{
			Public: privacy.Public{
				NodeCount: n, RelationshipCount: n - 1, ComponentCount: 1, Tau: 1, Laplacian: "combinatorial",
				Metric: "hops", Alpha: 1,
			},
			Budget:     privacy.Budget{Epsilon: 4, Delta: .1},
			Randomness: randomness, Sensors: sensors,
			Sensitivity: privacy.Sensitivity{Lower: .2, Upper: .2, Edge: [2]graph.ID{"s000000", "s000001"}},
		})
	}
	hidden, err := plan(privacy.EscrowRandomness)
	if err != nil {
		return err
	}
	open, err := plan(privacy.SystemRandomness)
	if err != nil {
		return err
	}
	readings := make([]float64, n)
	rnd := r.random("backdoor", 0)
	master := make([]byte, privacy.KeySize)
	for i := 0; i < len(master); i += 8 {
		binary.BigEndian.PutUint64(master[i:], rnd.Uint64()) // fixed by the seed: an exhibit, not a secret
	}
	for i := range readings {
		readings[i] = rnd.Float64()
	}
	keys, err := privacy.NewEscrow(master, "figure", 1)
	if err != nil {
		return err
	}
	release, err := hidden.Perturb(readings, "exhibit", keys)
	if err != nil {
		return err
	}
	if err := r.revealed(hidden, release, keys, readings); err != nil {
		return err
	}
	return r.distinguished(hidden, open, release, readings)
}

// revealed checks that the holder gets every reading back, to the lattice.
func (r *runner) revealed(p *privacy.Plan, release *privacy.Release, keys *privacy.Escrow, readings []float64) error {
	back, err := keys.Reveal(release)
	if err != nil {
		return err
	}
	exact := 0
	for i, s := range p.Sensors {
		if back[i] == math.Floor(readings[i]/s.Step()+.5)*s.Step() {
			exact++
		}
	}
	other := make([]byte, privacy.KeySize)
	other[0] = 1
	stranger, err := privacy.NewEscrow(other, "figure", 1)
	if err != nil {
		return err
	}
	_, refused := stranger.Reveal(release)
	r.claim("backdoor-revealed", exact == len(back), exact == len(back) && refused != nil,
		"%d of %d readings come back, each to the bit of its rounding to the lattice; with another secret: refused", exact, len(back))
	return nil
}

// distinguished compares the noise of both modes, and of neighbouring readings, by
// tests of their law and of their low bits. Their least p-value times their number
// is the p-value of all (Bonferroni).
func (r *runner) distinguished(hidden, open *privacy.Plan, release *privacy.Release, readings []float64) error {
	system, err := open.Perturb(readings, "exhibit", nil)
	if err != nil {
		return err
	}
	x, y := noise(hidden, release, readings), noise(open, system, readings)
	t := r.table("backdoor", "Telling escrowed noise from the system's, without the secret",
		"test,pValue")
	bits := func(release *privacy.Release) float64 {
		ones, steps := 0, release.Steps()
		for _, v := range steps {
			ones += int(v & 1)
		}
		return twoSided((float64(ones) - float64(len(steps))/2) / math.Sqrt(float64(len(steps))/4))
	}
	below := 0
	for _, test := range []struct {
		name string
		p    float64
	}{
		{"Kolmogorov–Smirnov between both", kolmogorov(x, y)},
		{"Kolmogorov–Smirnov, escrowed against N(0, 1)", kolmogorovNormal(x)},
		{"lowest bit of the escrowed values", bits(release)},
		{"correlation with the reading", twoSided(stat.Correlation(x, readings, nil) * math.Sqrt(float64(len(x))))},
		{"correlation with the neighbouring sensor", twoSided(stat.Correlation(x[1:], x[:len(x)-1], nil) * math.Sqrt(float64(len(x)-1)))},
	} {
		// The system's noise is fresh, so that what is compared with it differs from run to
		// run: the table holds what the seed fixes.
		if test.name != "Kolmogorov–Smirnov between both" {
			t.add(test.name, test.p)
		}
		if test.p < 1e-6 {
			below++
		}
	}
	r.claim("backdoor-hidden", below == 0, below == 0,
		"five tests on %d values: %s below 10⁻⁶", len(x), count(below))
	return nil
}

func count(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

// noise returns the noise of a release in units of its σ.
func noise(p *privacy.Plan, release *privacy.Release, readings []float64) []float64 {
	out := make([]float64, len(readings))
	for i, v := range release.Values() {
		out[i] = (v - readings[i]) / p.Sensors[i].Sigma()
	}
	return out
}

func twoSided(z float64) float64 { return 2 * distuv.UnitNormal.CDF(-math.Abs(z)) }

// kolmogorov is the asymptotic p-value of the two-sample test.
func kolmogorov(x, y []float64) float64 {
	x, y = slices.Clone(x), slices.Clone(y)
	slices.Sort(x)
	slices.Sort(y)
	d := stat.KolmogorovSmirnov(x, nil, y, nil)
	return kolmogorovTail(d * math.Sqrt(float64(len(x))*float64(len(y))/float64(len(x)+len(y))))
}

func kolmogorovNormal(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	n, d := float64(len(x)), 0.0
	for i, v := range x {
		c := distuv.UnitNormal.CDF(v)
		d = max(d, c-float64(i)/n, float64(i+1)/n-c)
	}
	return kolmogorovTail(d * math.Sqrt(n))
}

// kolmogorovTail is 2Σ(−1)^{k−1} e^{−2k²t²}, the limit law of √n·D.
func kolmogorovTail(t float64) float64 {
	sum := 0.0
	for k := 1.0; k <= 100; k++ {
		term := 2 * math.Exp(-2*k*k*t*t)
		if int(k)%2 == 0 {
			term = -term
		}
		sum += term
	}
	return min(1, max(0, sum))
}
