// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The table gives the Mills ratio to 1e-11.
func TestMillsTable(t *testing.T) {
	table := tabulatedMills()
	for x := 0.0; x < 1e6; x = x*1.01 + 1e-3 {
		if got, want := table.at(x), mills(x); math.Abs(got/want-1) > 1e-11 {
			t.Fatalf("at %v: %v, want %v", x, got, want)
		}
	}
}

// The quick sum of evidence is that of the evidence of each node, whatever its norm and its
// statistic, under each prior of the amplitude.
func TestQuickEvidence(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for _, a := range []Amplitude{MixedAmplitude, UniformAmplitude, UnitAmplitude} {
		e := newEvidence(a)
		for range 2000 {
			const n = 5
			norms, c, logPrior := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range n {
				norms[i] = math.Exp(16*rnd.Float64() - 12)
				c[i] = math.Sqrt(norms[i]) * (math.Sqrt(norms[i])*rnd.Float64()*1.5 + 3*rnd.NormFloat64())
				logPrior[i] = -math.Log(n)
			}
			logPrior[rnd.IntN(n)] = math.Inf(-1)
			k := &checker{candidates: candidates{e, norms, logPrior}}
			want, got := k.presence(c), newQuickEvidence(k.candidates).logSum(c)
			if !(math.Abs(got-want) < 1e-9*max(1, math.Abs(want))) {
				t.Fatalf("%v: %v, want %v for c = %v, N = %v", a, got, want, c, norms)
			}
		}
	}
}
