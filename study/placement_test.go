// SPDX-License-Identifier: Apache-2.0

package study

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLazyChoice: bounds from earlier steps change no choice, and the gain is the
// difference of the entropies before and after.
func TestLazyChoice(t *testing.T) {
	m := loadExample(t, "net3", 4)
	lazy, err := newPlacement(t.Context(), m, plainNoise(), SuggestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	full := lazy.reset(0)
	full.gainBound = make([]float64, len(lazy.gainBound))
	labels := make([]int, m.Graph.Order())
	var chosen []int
	for range 5 {
		for i := range full.gainBound {
			full.gainBound[i] = math.Inf(1)
		}
		i, err := lazy.best(t.Context(), chosen)
		if err != nil {
			t.Fatal(err)
		}
		want, err := full.best(t.Context(), chosen)
		if err != nil {
			t.Fatal(err)
		}
		if i != want {
			t.Fatalf("after %v: node %d, want %d", chosen, i, want)
		}
		before, gain := lazy.entropies(labels, 1).Entropy, lazy.gain(i)
		lazy.add(i)
		full.add(i)
		chosen = append(chosen, i)
		if told := (before - lazy.entropies(labels, 1).Entropy) * math.Ln2; math.Abs(told-gain) > 1e-3*gain {
			t.Errorf("node %d tells %v nats, its gain is %v", i, told, gain)
		}
	}
}

// TestStandardErrorOfSingleTrials: with one trial a source and 60 % of the prior on one,
// the squared error is on average the variance over 4,000 draws, of which the mean is
// known within 2.2 %: one squared normal makes it up. It is more where sources differ.
func TestStandardErrorOfSingleTrials(t *testing.T) {
	const draws, others = 4000, 99
	random := rand.New(rand.NewPCG(1, 0))
	pl := &placement{source: make([]int, 1+others), weight: make([]float64, 1+others), entropy: make([]float64, 1+others)}
	variance := 0.0
	for i := range pl.source {
		pl.source[i], pl.weight[i] = i, 0.4/others
		if i == 0 {
			pl.weight[i] = 0.6
		}
		variance += pl.weight[i] * pl.weight[i]
	}
	for _, apart := range []float64{0, 2} {
		mean := 0.0
		for range draws {
			for i := range pl.entropy {
				pl.entropy[i] = random.NormFloat64()
			}
			pl.entropy[0] += apart
			e := pl.standardError()
			mean += e * e / draws
		}
		if ratio := mean / variance; ratio < 0.87 || apart == 0 && ratio > 1.15 {
			t.Errorf("apart by %v: the squared error is %v of the variance", apart, ratio)
		}
	}
	pl.source, pl.weight, pl.entropy = []int{7}, []float64{1}, []float64{0}
	if e := pl.standardError(); e != 0 {
		t.Errorf("of a known source: %v, want 0", e)
	}
}
