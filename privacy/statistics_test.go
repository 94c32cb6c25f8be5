// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy/internal/normal"
)

// falseAlarm bounds the probability that one statistical test below fails on a
// right implementation, were its key drawn afresh; the keys are fixed.
const falseAlarm = 1e-7

// chiTail returns P(χ²_k ≥ x).
func chiTail(x float64, k int) float64 { return mathext.GammaIncRegComp(float64(k)/2, x/2) }

// binEdges cuts the integers at S·z for z = −4.5, −4.25, …, 4.5. Bin i holds
// n < edges[i], the last bin the rest.
func binEdges(steps int64) []int64 {
	var edges []int64
	for z := -4.5; z <= 4.5; z += 0.25 {
		if e := int64(math.Ceil(z * float64(steps))); len(edges) == 0 || e > edges[len(edges)-1] {
			edges = append(edges, e)
		}
	}
	return edges
}

// TestChiSquared compares 2,000,000 samples for each S with the exact cell
// probabilities, by Pearson's χ² and by the likelihood ratio G.
func TestChiSquared(t *testing.T) {
	const n = 2_000_000
	for i, steps := range []int64{1, 2, 3, 32, 100, 1000, 12147483648} { // the last: 2³³·⁵
		key := masterKey()
		key[0] = byte(i)
		src := must.Get(newKeyStream(key))(t)
		edges := binEdges(steps)
		counts := make([]float64, len(edges)+1)
		for range n {
			x := must.Get(sample(src, steps))(t)
			bin := 0
			for bin < len(edges) && x >= edges[bin] {
				bin++
			}
			counts[bin]++
		}
		chi, g, bins := fit(counts, func(b int) float64 { // P(N < e) = Φ((2e − 1)/2S)
			f, _ := normal.CDF(2*edges[b]-1, 2*steps, 80).Float64()
			return math.Ldexp(f, -80)
		})
		for name, x := range map[string]float64{"χ²": chi, "G": g} {
			if p := chiTail(x, bins-1); p < falseAlarm {
				t.Errorf("S = %d: %s = %.1f on %d bins, p = %.2g < %g", steps, name, x, bins, p, falseAlarm)
			}
		}
	}
}

// fit returns Pearson's χ² and the likelihood ratio G of the counts against the
// distribution function at the upper edges of all cells but the last. Cells with
// fewer than five expected are pooled with the next.
func fit(counts []float64, cdf func(cell int) float64) (chi, g float64, bins int) {
	var n, want, got, last float64
	for _, c := range counts {
		n += c
	}
	for b, count := range counts {
		up := 1.0
		if b < len(counts)-1 {
			up = cdf(b)
		}
		want, got, last = want+n*(up-last), got+count, up
		if want < 5 && b < len(counts)-1 {
			continue
		}
		chi += (got - want) * (got - want) / want
		if got > 0 {
			g += 2 * got * math.Log(got/want)
		}
		want, got = 0, 0
		bins++
	}
	return chi, g, bins
}

// TestIndependence: the products of noise of two sensors, of two releases and of
// two epochs under one master secret have mean 0 within 5.4 standard errors
// (probability 7e-8), and their squares variance 1.
func TestIndependence(t *testing.T) {
	const m = 20_000
	spec := testSpec(0)
	spec.Randomness = EscrowRandomness
	for i := range m {
		spec.Sensors = append(spec.Sensors, Sensor{Node: i, ID: graph.ID(fmt.Sprint("s", i))})
	}
	p := mustPlan(t, spec)
	zero := make([]float64, m)
	noise := func(epoch uint32, release string) []float64 {
		e := must.Get(NewEscrow(masterKey(), "d", epoch))(t)
		r := must.Get(p.Perturb(zero, release, e))(t)
		z := r.Values()
		for i := range z {
			z[i] /= p.Sensors[i].Sigma()
		}
		return z
	}
	a := noise(1, "r1")
	for name, b := range map[string][]float64{
		"another sensor": append(a[1:len(a):len(a)], a[0]), "another release": noise(1, "r2"), "another epoch": noise(2, "r1"),
	} {
		var sum float64
		for i := range a {
			sum += a[i] * b[i]
		}
		if z := sum / math.Sqrt(m); math.Abs(z) > 5.4 {
			t.Errorf("noise of %s is correlated: %.1f standard errors", name, z)
		}
	}
	var square float64
	for _, x := range a {
		square += x * x
	}
	if z := (square - m) / math.Sqrt(2*m); math.Abs(z) > 5.4 {
		t.Errorf("variance %v, %.1f standard errors from 1", square/m, z)
	}
}
