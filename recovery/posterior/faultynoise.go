// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// resolvable bounds the norm of a column of A where sensors may be broken. Exponents are then up to 10¹⁰ nats,
// which rounding leaves far better known than to a nat, and a likelihood is as narrow as 10⁻⁵, which takes
// some ten thousand panels where none is negligible. Far beyond it the bounds by which quadrature leaves out what is
// negligible are rounding, and panels without end.
const resolvable = 1e5

// resolved raises the noise of measurements whose row of A has entries above [resolvable]/√m, so that
// no column is longer than that, and returns how many it raised: a likelihood that takes noise for larger than it is
// claims less. Entries, measurements and ranges are in units of the noise. Where entries
// are not at hand nothing is raised.
func resolved(d measurement.Data, f Faults) (measurement.Data, Faults, int) {
	if !linop.HoldsEntries(d.A) {
		return d, f, 0
	}
	scale, raised := make([]float64, len(d.Y)), 0
	limit := resolvable / math.Sqrt(float64(len(d.Y)))
	for s, largest := range largestEntries(d.A) {
		if scale[s] = 1; largest > limit*(1+1e-9) {
			scale[s] = limit / largest
			raised++
		}
	}
	if raised == 0 {
		return d, f, 0
	}
	out := measurement.Data{A: rescaled(d.A, scale), Y: slices.Clone(d.Y)}
	floats.Mul(out.Y, scale)
	if f.Low != nil {
		f.Low, f.High = slices.Clone(f.Low), slices.Clone(f.High)
		floats.Mul(f.Low, scale)
		floats.Mul(f.High, scale)
	}
	return out, f, raised
}

// largestEntries returns the largest absolute entry of each row.
func largestEntries(a linop.Operator) []float64 {
	m, n := a.Dims()
	out, x, nodes := make([]float64, m), make([]float64, m*blockWidth), make([]int, 0, blockWidth)
	for from := 0; from < n; from += blockWidth {
		nodes = nodes[:0]
		for i := from; i < min(from+blockWidth, n); i++ {
			nodes = append(nodes, i)
		}
		linop.ColumnsTo(a, x[:m*len(nodes)], nodes)
		for k, v := range x[:m*len(nodes)] {
			out[k%m] = max(out[k%m], math.Abs(v))
		}
	}
	return out
}

// rescaled is diag(scale) a.
func rescaled(a linop.Operator, scale []float64) linop.Operator {
	s, ok := a.(linop.Scaled)
	if !ok {
		s.A = a
		for k := range scale {
			s.Rows = append(s.Rows, k)
		}
		s.Scale = scale
		return s
	}
	s.Scale = slices.Clone(s.Scale)
	floats.Mul(s.Scale, scale)
	return s
}

// checkResolvable refuses column norms that cannot be told from rounding, where noise cannot be raised.
func checkResolvable(norms Norms) error {
	high := norms.N
	if norms.High != nil {
		high = norms.High
	}
	if largest := math.Sqrt(floats.Max(high)); !(largest <= resolvable) {
		return fmt.Errorf("%w: one source is %.3g times the noise, and where sensors may be broken at most %v can be computed with on "+
			"so large a graph: raise the noise that is stated, or set the sensor fault rate to 0", ErrInvalid, largest, resolvable)
	}
	return nil
}
