// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/linop"
)

// hidden is an operator whose entries cannot be read.
type hidden struct{ linop.Operator }

// Bounded norms hold everywhere, and are exact where a source is likely: there the
// posterior is the exact one, and everywhere it is within Slack.
func TestBoundedNorms(t *testing.T) {
	const m, n, source, seed = 40, 300, 17, 22
	rnd := rand.New(rand.NewPCG(seed, 1))
	a := mat.NewDense(m, n, nil)
	for i := range m {
		for j := range n {
			a.Set(i, j, rnd.NormFloat64())
		}
	}
	y := mat.Col(nil, source, a)
	for i := range y {
		y[i] += rnd.NormFloat64()
	}
	d := Data{A: hidden{linop.Dense{M: a}}, Y: y}
	got, err := d.boundedNorms(t.Context(), 100, 5)
	if err != nil {
		t.Fatal(err)
	}
	exact, at := 0, -1
	for j := range n {
		col := mat.Col(nil, j, a)
		want := floats.Dot(col, col)
		if math.Abs(got.N[j]-want) > got.Err[j]+1e-12*want {
			t.Errorf("seed %d: N[%d] = %v ± %v, want %v", seed, j, got.N[j], got.Err[j], want)
		}
		if got.Err[j] == 0 {
			exact++
			if j == source {
				at = j
			}
		}
	}
	if exact != 5 || at != source {
		t.Errorf("seed %d: %d exact norms, the source's among them: %v; want 5 and true", seed, exact, at == source)
	}
	want, err := d.Posterior(t.Context(), PosteriorOptions{}) // n is small: exact
	if err != nil || want.Slack != 0 {
		t.Fatalf("slack %v, %v", want.Slack, err)
	}
	p, err := d.Posterior(t.Context(), PosteriorOptions{Norms: &got})
	if err != nil || p.Slack == 0 || p.Slack > 2*floats.Max(got.Err) {
		t.Fatalf("slack %v, %v", p.Slack, err)
	}
	if p.LogEvidence[source] != want.LogEvidence[source] {
		t.Errorf("log evidence at the source %v, want %v", p.LogEvidence[source], want.LogEvidence[source])
	}
	for j := range n {
		// Where the evidence at the source is exact, half the slack bounds the odds to it.
		if e := math.Abs(p.LogEvidence[j] - want.LogEvidence[j]); e > p.Slack/2+1e-12 {
			t.Errorf("log evidence at %d is off by %v, slack %v", j, e, p.Slack)
		}
	}
}
