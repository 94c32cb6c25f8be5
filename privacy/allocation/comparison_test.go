// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// One recurrence for all τ says what products say for each, in any order of τ, to the same bits at
// any number of workers. A model that lacks one sensor of ten thousand has products.
func TestComparisonSharesProducts(t *testing.T) {
	g, err := graph.Path(RowsLimit + 1)
	if err != nil {
		t.Fatal(err)
	}
	l, labels, most := laplacian.New(g, laplacian.Combinatorial), make([]int, g.Order()), make([]int, g.Order()-1)
	for i := range labels {
		labels[i] = i / 64
	}
	for i := range most {
		most[i] = i
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	taus := []float64{8, 2}
	sketches := func(sensors []int) (c Comparison, list []Sketch) {
		for _, tau := range taus {
			d, err := expm.New(t.Context(), l, tau, expm.Options{Method: expm.Chebyshev})
			if err != nil {
				t.Fatal(err)
			}
			s, err := c.Equal(t.Context(), sensitivity.Model{Graph: g, Laplacian: l, Tau: tau, Alpha: 1, Sensors: sensors}, d, labels,
				Options{Noise: 2})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, s)
		}
		return c, list
	}
	c, shared := sketches(nil)
	if c.moments == nil {
		t.Fatal("nothing was shared")
	}
	c, own := sketches(most)
	if c.moments != nil {
		t.Error("few sensors share entries of M²")
	}
	runtime.GOMAXPROCS(7)
	_, again := sketches(nil)
	for k, s := range shared {
		o := own[k]
		if !mat.EqualApprox(s.judged.gram, o.judged.gram, 1e-8) || math.Abs(s.Accuracy-o.Accuracy) > 4*s.AccuracyError ||
			math.Abs(s.Sensitivity/o.Sensitivity-1) > .01 || !(s.Accuracy > .02) {
			t.Errorf("τ = %v: accuracy %v, loss %v, sensitivity %v; by products %v, %v and %v", taus[k], s.Accuracy, s.Loss, s.Sensitivity,
				o.Accuracy, o.Loss, o.Sensitivity)
		}
		if a := again[k]; a.Accuracy != s.Accuracy || a.Loss != s.Loss || a.Sensitivity != s.Sensitivity {
			t.Errorf("τ = %v: other bits at seven workers", taus[k])
		}
	}
}
