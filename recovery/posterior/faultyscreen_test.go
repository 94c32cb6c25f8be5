// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// TestScreenBounds: the exact evidence of every node is between the bounds of the screen, where more
// measurements are broken than it keeps, and norms are bounded.
func TestScreenBounds(t *testing.T) {
	const m, n = 150, 40
	rnd := rand.New(rand.NewPCG(41, 1))
	for _, scale := range []float64{.1, .5, 2} {
		a := mat.NewDense(m, n, nil)
		y := make([]float64, m)
		faults := Faults{Rate: .02, Low: make([]float64, m), High: make([]float64, m)}
		for s := range m {
			for i := range n {
				a.Set(s, i, scale*math.Pow(rnd.Float64(), 3))
			}
			y[s], faults.High[s] = a.At(s, 7)+rnd.NormFloat64(), 12
			if s%2 == 1 {
				y[s] = 12*rnd.Float64() + rnd.NormFloat64()
			}
		}
		d := measurement.Data{A: linop.Dense{M: a}, Y: y}
		f := must.Get(prepareFaulty(t.Context(), d, Options{Faults: faults}))(t)
		norms := f.norms
		norms.Low, norms.High = make([]float64, n), make([]float64, n)
		for i, v := range norms.N { // estimated: the bounds hold v, the estimate is off
			norms.Low[i], norms.N[i], norms.High[i] = .8*v, .85*v, 1.1*v
		}
		s := must.Get(f.newScreen(t.Context(), norms))(t)
		x := make([]float64, m)
		var c column
		for i := range n {
			mat.Col(x, i, a)
			f.column(x, &c)
			exact := c.log(math.Inf(-1))
			low, estimate, high := s.bounds(i, &c)
			if !(low <= exact+1e-9 && exact <= high+1e-9 && low <= estimate && estimate <= high) {
				t.Errorf("scale %v, node %d: the evidence %v is not within %v, %v, %v", scale, i, exact, low, estimate, high)
			}
		}
	}
}
