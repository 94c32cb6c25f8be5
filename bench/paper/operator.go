// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// Interval is the paper's measurement operator on [0,1]: m sensors at j/m read n
// possible sources at i/n through the heat kernel of the line,
//
//	A_{ji} = g(i/n − j/m),   g(x) = e^{-x²/4T}/√(4πT),   j = 1…m, i = 1…n,
//
// sensors are rows. Each entry is within 16 units in the last place of its value.
type Interval struct {
	linop.Dense
	t float64
}

// NewInterval returns the m × n operator for diffusion time T = t > 0.
func NewInterval(m, n int, t float64) (*Interval, error) {
	if m < 1 || n < 1 {
		return nil, fmt.Errorf("paper: interval of %d sensors and %d sources, want at least one of each", m, n)
	}
	if !(t > 0) || math.IsInf(t, 1) {
		return nil, fmt.Errorf("paper: diffusion time is %v, want a finite number > 0", t)
	}
	a := mat.NewDense(m, n, nil)
	top := 1 / math.Sqrt(4*math.Pi*t)
	for j := range m {
		row := a.RawRowView(j)
		for i := range row {
			// i/n − j/m over one denominator: the difference is exact.
			x := float64((i+1)*m-(j+1)*n) / (float64(n) * float64(m))
			row[i] = top * math.Exp(-x*x/(4*t))
		}
	}
	return &Interval{linop.Dense{M: a}, t}, nil
}

// Time returns T.
func (v *Interval) Time() float64 { return v.t }

// Err returns an upper bound on ‖Ã − A‖₂, rounding of products included.
func (v *Interval) Err() float64 {
	m, n := v.Dims()
	return float64(max(m, n)+20) * 0x1p-53 * math.Sqrt(float64(m)*float64(n)) / math.Sqrt(4*math.Pi*v.t)
}

// lineDistance is the earth mover's distance between p and q of equal masses on points
// that lie spacing apart on a line: spacing·Σ_i |Σ_{j≤i} (p_j − q_j)|.
func lineDistance(p, q []float64, spacing float64) float64 {
	var head, total float64
	for i := range p {
		head += p[i] - q[i]
		total += math.Abs(head)
	}
	return spacing * total
}
