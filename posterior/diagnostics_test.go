// SPDX-License-Identifier: Apache-2.0

package posterior

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
	if s.diagnose(s.indicatorTraces(2)); !math.IsInf(s.RHat, 1) || s.ESS != 1 {
		t.Errorf("chains at different nodes: R̂ = %v, effective size %v, want +Inf and 1", s.RHat, s.ESS)
	}
}

// Rounding of a constant is no distance between chains.
func TestChainsAlikeButForRounding(t *testing.T) {
	chains := [][]float64{{50, 50, 50, 50}, {50, 50, 50, 50}, {50, 50, 50, 50}, {50 + 7e-15, 50 + 7e-15, 50 + 7e-15, 50 + 7e-15}}
	if r, e := splitRHat(chains), effectiveSize(chains); r != 1 || e != 16 {
		t.Errorf("R̂ = %v, effective size %v, want 1 and 16", r, e)
	}
	chains[1][2] += 7e-15
	if r := splitRHat(chains); r != 1 {
		t.Errorf("with a last digit that moves: R̂ = %v, want 1", r)
	}
}

// Weights of very different sizes: one node of weight 1 and n − 1 of w have, in order,
// k!·(C(n−1, k−1)·w^{k−1} + C(n−1, k)·wᵏ), and nodes of weight 0 count for nothing.
func TestLogDistinctOfUnequalWeights(t *testing.T) {
	const n, w = 34, 1e-6
	p := []float64{0, math.Inf(-1)}
	for range n - 1 {
		p = append(p, math.Log(w))
	}
	fall := 1.0 // (n−1)!/(n−k)!
	for k := 1; k <= 8; k++ {
		first := float64(k) * fall * math.Pow(w, float64(k-1))
		fall *= float64(n - k)
		if want := math.Log(first + fall*math.Pow(w, float64(k))); math.Abs(logDistinct(p, k)-want) > 1e-12 {
			t.Errorf("k = %d: %v, want %v", k, logDistinct(p, k), want)
		}
	}
	if got := logDistinct([]float64{math.Log(.34), math.Inf(-1), math.Log(.91)}, 3); !math.IsInf(got, -1) {
		t.Errorf("three different of two nodes: %v, want -Inf", got)
	}
}

// e₃ of 0.1, 0.2, 0.3, 0.4 is 0.05, in 3! orders.
func TestLogDistinct(t *testing.T) {
	p := []float64{math.Log(0.1), math.Log(0.2), math.Log(0.3), math.Log(0.4)}
	for k, want := range []float64{1, 1, 2 * 0.35, 6 * 0.05, 24 * 0.0024} {
		if got := math.Exp(logDistinct(p, k)); math.Abs(got-want) > 2e-15 {
			t.Errorf("Σ over %d different nodes = %v, want %v", k, got, want)
		}
	}
}
