// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"math"
	"math/big"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

func rational(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// A number of steps is never too small: k steps of α are no less than the length, also where the
// quotient rounds to a whole number, and one step fewer is less.
func TestStepsAreNeverTooFew(t *testing.T) {
	for _, alpha := range []float64{.1, .3, .7, 1, 1.1, math.Pi} {
		for k := 1; k < 400; k++ {
			for d := math.Nextafter(float64(k)*alpha, 0); d < float64(k+1)*alpha-alpha/2; d = math.Nextafter(d, 9e9) {
				n := steps(d, alpha, true)
				least, fewer := new(big.Rat).SetInt64(int64(n)), new(big.Rat).SetInt64(int64(n)-2)
				if least.Mul(least, rational(alpha)).Cmp(rational(d)) < 0 || fewer.Mul(fewer, rational(alpha)).Cmp(rational(d)) >= 0 {
					t.Fatalf("%v in steps of %v are %d", d, alpha, n)
				}
				if d > float64(k)*alpha*(1+1e-15) {
					break
				}
			}
		}
	}
}

// A sum of lengths has lost bits: ten of a tenth are more than 1 − 2⁻⁵³, which is what their sum says.
func TestSumsOfLengthsRoundUp(t *testing.T) {
	sum := 0.0
	for range 10 {
		sum += .1
	}
	if n := steps(sum, sum, false); n != 2 {
		t.Errorf("ten lengths of .1 are %d steps of %v", n, sum)
	}
	if n := steps(sum, sum, true); n != 1 {
		t.Errorf("a whole length of %v is %d steps of its own", sum, n)
	}
}

// A star counts no node as nearer than it is: between the numbers of steps that are told apart the next
// is taken, and nodes beyond the last are left out.
func TestStepsThatAreNotToldApart(t *testing.T) {
	g := must.Get(graph.Path(1500))(t)
	labels, prior := make([]int, 1500), make([]float64, 1500)
	for i := range labels {
		labels[i], prior[i] = i/100, 1./1500
	}
	q := must.Get(New(t.Context(), g, labels, prior, 1))(t)
	a := newGame(q, gaussian{1e-5})
	if len(a.steps) < maxKinds || len(a.stars) == 0 {
		t.Fatalf("%d numbers of steps at %d stars", len(a.steps), len(a.stars))
	}
	between, beyond := 0, 0
	for z, c := range a.stars {
		beyond += len(labels) - len(c.pairs)
		for _, p := range c.pairs {
			counted, true := a.steps[p.steps], int(q.stars[z].steps[p.node])
			if counted < true {
				t.Fatalf("star %d: node %d is %d steps away and counts as %d", z, p.node, true, counted)
			}
			if counted > true {
				between++
			}
		}
	}
	if between == 0 || beyond == 0 {
		t.Errorf("%d nodes between two numbers, %d beyond the last: nothing was tested", between, beyond)
	}
}

// Nodes that no star reaches are told from the others by any mechanism, however private: half of a path in
// two communities, half a component of its own.
func TestUnreachedNodesAreNotLimited(t *testing.T) {
	const n = 200
	var b graph.Builder
	labels, prior := make([]int, n), make([]float64, n)
	for i := range n {
		must.Get(b.AddNode(graph.ID(rune(0x4e00 + i))))(t)
		if labels[i], prior[i] = i/(n/4), 1./n; i >= n/2 {
			labels[i] = 2
		}
		if i > 0 && i != n/2 {
			must.Do(t, b.Connect(i-1, i, 1, 1))
		}
	}
	g := must.Get(b.Graph())(t)
	q := must.Get(New(t.Context(), g, labels, prior, 1))(t)
	got, err := q.Accuracy(t.Context(), gaussian{0})
	if err != nil || got < .75 || got > .751 {
		t.Errorf("limit %v, %v; the component is always right and the path half of the time", got, err)
	}
}
