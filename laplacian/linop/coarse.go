// SPDX-License-Identifier: Apache-2.0

package linop

// Coarsener is an operator that knows a cheaper one near what it approximates.
type Coarsener interface {
	Operator
	// Coarse returns an operator whose [Err] is about tol, or the operator itself where
	// that is no cheaper.
	Coarse(tol float64) Operator
}

// Coarse calls that of a, and returns a where there is none.
func Coarse(a Operator, tol float64) Operator {
	if c, ok := a.(Coarsener); ok {
		return c.Coarse(tol)
	}
	return a
}

// Coarse scales a coarser A: its error grows by the largest scale.
func (s Scaled) Coarse(tol float64) Operator {
	if largest := s.largest(); largest > 0 {
		s.A = Coarse(s.A, tol/largest)
	}
	return s
}
