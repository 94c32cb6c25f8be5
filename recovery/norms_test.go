// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/linop"
)

// hidden is an operator whose entries cannot be read.
type hidden struct{ linop.Operator }

// Bounded norms hold everywhere, and are exact where a source is likely; the
// posterior is within its bounds of the exact one.
func TestBoundedNorms(t *testing.T) {
	const m, n, source, seed = 40, 300, 17, 22
	rnd := rand.New(rand.NewPCG(seed, 1))
	a := mat.NewDense(m, n, nil)
	for i := range m {
		for j := range n {
			a.Set(i, j, 3*rnd.NormFloat64())
		}
	}
	y := mat.Col(nil, source, a)
	for i := range y {
		y[i] += rnd.NormFloat64()
	}
	d := Data{A: hidden{linop.Dense{M: a}}, Y: y}
	got, err := d.boundedNorms(t.Context(), 100, 5, n)
	if err != nil {
		t.Fatal(err)
	}
	exact, at := 0, -1
	for j := range n {
		col := mat.Col(nil, j, a)
		want := floats.Dot(col, col)
		if want < got.Low[j]*(1-1e-12) || want > got.High[j]*(1+1e-12) {
			t.Errorf("seed %d: N[%d] is in [%v, %v], exactly %v", seed, j, got.Low[j], got.High[j], want)
		}
		if got.Low[j] == got.High[j] {
			exact++
			if j == source {
				at = j
			}
		}
	}
	if exact > n/4 || at != source {
		t.Errorf("seed %d: %d exact norms, the source's among them: %v; want few and true", seed, exact, at == source)
	}
	want, err := d.Posterior(t.Context(), PosteriorOptions{}) // n is small: exact
	if err != nil || want.Slack != 0 {
		t.Fatalf("slack %v, %v", want.Slack, err)
	}
	p, err := d.Posterior(t.Context(), PosteriorOptions{Norms: &got})
	if err != nil || p.ProbabilityError > leftOpen || p.Slack > leftOpen {
		t.Fatalf("slack %v, error of the probabilities %v, %v", p.Slack, p.ProbabilityError, err)
	}
	if p.LogEvidence[source] != want.LogEvidence[source] {
		t.Errorf("log evidence at the source %v, want %v", p.LogEvidence[source], want.LogEvidence[source])
	}
	if e := floats.Distance(p.Probability, want.Probability, 1) / 2; e > p.ProbabilityError+1e-12 {
		t.Errorf("the posterior is off by %v, bound %v", e, p.ProbabilityError)
	}
}

// Where the data decide little, norms become exact until little is left open, or
// until as many are exact as may be.
func TestBoundedNormsOfWeakData(t *testing.T) {
	const m, n = 40, 300
	rnd := rand.New(rand.NewPCG(23, 1))
	a := mat.NewDense(m, n, nil)
	for i := range m {
		for j := range n {
			a.Set(i, j, rnd.NormFloat64()/4)
		}
	}
	y := make([]float64, m)
	for i := range y {
		y[i] = rnd.NormFloat64()
	}
	d := Data{A: hidden{linop.Dense{M: a}}, Y: y}
	for _, most := range []int{0, 20, n} {
		norms, err := d.boundedNorms(t.Context(), 100, 10, most)
		if err != nil {
			t.Fatal(err)
		}
		exact := 0
		for i := range norms.N {
			if norms.Low[i] == norms.High[i] {
				exact++
			}
		}
		p, err := d.Posterior(t.Context(), PosteriorOptions{Norms: &norms})
		if err != nil {
			t.Fatal(err)
		}
		if enough := p.ProbabilityError <= leftOpen; exact > most || !enough && exact != most || enough != (most == n) {
			t.Errorf("at most %d: %d exact norms, error %v", most, exact, p.ProbabilityError)
		}
	}
}
