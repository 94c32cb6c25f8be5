// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math"
	"math/rand/v2"
	"testing"
)

// An autoregression x' = φx + e has integrated autocorrelation time (1+φ)/(1−φ).
func TestEffectiveSizeOfAutoregression(t *testing.T) {
	for _, phi := range []float64{0, 0.5, 0.9} {
		rnd := rand.New(rand.NewPCG(31, 1))
		chains := make([][]float64, 4)
		for k := range chains {
			x := rnd.NormFloat64() / math.Sqrt(1-phi*phi)
			for range 5000 {
				chains[k] = append(chains[k], x)
				x = phi*x + rnd.NormFloat64()
			}
		}
		want := 20000 * (1 - phi) / (1 + phi)
		if got := effectiveSize(chains); math.Abs(got-want) > 0.15*want {
			t.Errorf("φ = %v: effective size %.0f, want %.0f", phi, got, want)
		}
		if r := splitRHat(chains); math.Abs(r-1) > 0.005 {
			t.Errorf("φ = %v: R̂ = %v, want 1", phi, r)
		}
		for i := range chains[0] {
			chains[0][i] += 3 / math.Sqrt(1-phi*phi)
		}
		if r := splitRHat(chains); r < 1.2 {
			t.Errorf("φ = %v: one chain apart has R̂ = %v, want > 1.2", phi, r)
		}
		if e := effectiveSize(chains); e > 200 {
			t.Errorf("φ = %v: one chain apart has effective size %v", phi, e)
		}
	}
	constant := [][]float64{{1, 1, 1, 1}, {1, 1, 1, 1}}
	if splitRHat(constant) != 1 || effectiveSize(constant) != 8 {
		t.Errorf("constant chains: R̂ = %v, effective size %v", splitRHat(constant), effectiveSize(constant))
	}
}

// Chains that stay at places of their own have not met, however still each of them is.
func TestStuckChains(t *testing.T) {
	stuck := [][]float64{{1, 1, 1, 1}, {2, 2, 2, 2}}
	if r, e := splitRHat(stuck), effectiveSize(stuck); !math.IsInf(r, 1) || e != 1 {
		t.Errorf("stuck chains: R̂ = %v, effective size %v, want +Inf and 1", r, e)
	}
	// The same likelihood, and other nodes: 5 in both chains, 1 in one and 2 in the other.
	s := Sample{Probability: []float64{0, .5, .5, 0, 0, 1}}
	for range 8 {
		s.sweeps = append(s.sweeps, []int{5, 1})
	}
	for range 8 {
		s.sweeps = append(s.sweeps, []int{2, 5})
	}
	if s.diagnose(s.places(2)); !math.IsInf(s.RHat, 1) || s.ESS != 1 {
		t.Errorf("chains at different nodes: R̂ = %v, effective size %v, want +Inf and 1", s.RHat, s.ESS)
	}
}

// e₃ of 0.1, 0.2, 0.3, 0.4 is 0.05, in 3! orders.
func TestLogDistinct(t *testing.T) {
	p := []float64{math.Log(0.1), math.Log(0.2), math.Log(0.3), math.Log(0.4)}
	for k, want := range []float64{1, 1, 2 * 0.35, 6 * 0.05, 24 * 0.0024} {
		if got := math.Exp(logDistinct(p, k)); math.Abs(got-want) > 1e-15 {
			t.Errorf("Σ over %d different nodes = %v, want %v", k, got, want)
		}
	}
}
