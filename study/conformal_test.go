// SPDX-License-Identifier: Apache-2.0

package study

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// Sets of past events hold the true community of the next one in their share, whatever the probabilities mean: here they are of a
// model that is wrong, and differ from event to event.
func TestConformal(t *testing.T) {
	random := rand.New(rand.NewPCG(32, 6))
	part := community.Partition{Labels: []int{0, 1, 2}, Count: 3}
	draw := func() simulate.Trial {
		a, b := random.Float64(), random.Float64()*.3
		return simulate.Trial{Source: random.IntN(3), Shares: []float64{a, (1 - a) * b, (1 - a) * (1 - b)}}
	}
	const past, draws = 39, 20_000
	var held, kept [3]float64
	for range draws {
		trials := make([]simulate.Trial, past)
		for k := range trials {
			trials[k] = draw()
		}
		next := draw()
		for k, s := range conformal(trials, part) {
			if next.Shares[next.Source] >= s.Least {
				held[k]++
			}
			kept[k] += s.Communities / draws
		}
	}
	for k, coverage := range coverages { // (39 + 1)·coverage is whole: the share is exactly it
		if z := (held[k] - coverage*draws) / math.Sqrt(draws*coverage*(1-coverage)); math.Abs(z) > 4 {
			t.Errorf("sets of %v hold the truth in %v of %d", coverage, held[k], draws)
		}
	}
	if !(kept[0] < kept[1] && kept[1] < kept[2] && kept[2] < 3) {
		t.Errorf("mean sets of %v communities", kept)
	}
	few := conformal([]simulate.Trial{draw(), draw(), draw(), draw()}, part)
	if few[0].Least == 0 || few[1].Least != 0 || few[1].Communities < 3-1e-9 {
		t.Errorf("of four events: %+v", few)
	}
}
