// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"fmt"
	"testing"

	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// A failure probability of 1e-12 is beyond every count of failures. What is tested is
// the number that each stage hands to the next.

// TestUnion: a bound of the screen may fail with its share of β, which adds up to β
// over the rounds and the edges, each with and without a vector near it.
func TestUnion(t *testing.T) {
	for name, g := range families(t, 100) {
		m := Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 0.4}
		const beta = 1e-9
		bound, edges, err := failureShares(background, m, beta)
		must.Do(t, err)
		if edges == 0 {
			t.Fatalf("%s: no edges", name)
		}
		if all := bound * float64(2*edges) * maxRounds; !(all <= beta*(1+1e-12)) || all < beta/2 {
			t.Errorf("%s: the bounds of a screen may fail with probability %v together, want %v", name, all, beta)
		}
	}
}

// TestScreenSaysThatItMayFail: each round of random columns adds its share of β to
// what the bracket states, and a bracket that no screen helped with states 0.
func TestScreenSaysThatItMayFail(t *testing.T) {
	const beta = 1e-9
	looked := 0
	graphs := families(t, 120)
	for seed := range uint64(3) { // of which neighbourhoods are too large for Lanczos steps
		graphs[fmt.Sprint("expander ", seed)] = must.Get(graph.BarabasiAlbert(1100, 4, seed))(t)
	}
	for name, g := range graphs {
		m := model(g, 1)
		for i := 1; i < g.Order(); i += 12 {
			m.Sensors = append(m.Sensors, i)
		}
		calls := 0
		b := must.Get(searchBound(background, m, nil, Options{
			Seed: [32]byte{1}, Tolerance: 0.01, Failure: beta,
			Progress: func(stage string, _, _ int64) {
				if stage == "screen" { // twice a round
					calls++
				}
			},
		}))(t)
		rounds := float64((calls + 1) / 2)
		if want := rounds * beta / maxRounds; b.Failure < want*(1-1e-12) || b.Failure > want*(1+1e-12) ||
			b.Failure > beta*(1+1e-12) {
			t.Errorf("%s: after %v rounds it may fail with probability %v, want %v", name, rounds, b.Failure, want)
		}
		if rounds > 0 {
			looked++
		}
	}
	if looked < 5 {
		t.Errorf("only %d graphs were screened", looked)
	}
}

// TestTauIntervalSplitsFailure: a certificate over an interval of τ rests on up to two brackets at
// each value of τ. Each round of random columns at each of them gets its share of β, and the
// interval states the sum.
func TestTauIntervalSplitsFailure(t *testing.T) {
	const beta = 1e-9
	m := model(must.Get(graph.BarabasiAlbert(1100, 4, 1))(t), 1)
	for i := 0; i < 1100; i += 3 {
		m.Sensors = append(m.Sensors, i)
	}
	set := Uncertainty{Tau: tau.Range{From: 1, To: 1.3}}
	values, calls := int64(0), 0
	opts := Options{Seed: [32]byte{1}, Failure: beta, Progress: func(stage string, _, all int64) {
		switch stage {
		case "uncertainty":
			values = all
		case "screen": // twice a round
			calls++
		}
	}}
	e := must.Get(tauByProducts(background, m, nil, set, opts))(t)
	want := float64(calls/2) * beta / float64(2*values*maxRounds)
	if e.Failure < want*(1-1e-9) || e.Failure > want*(1+1e-9) || e.Failure > beta {
		t.Errorf("after %d rounds at %d values of τ it may fail with probability %v, want %v", calls/2, values, e.Failure, want)
	}
}
