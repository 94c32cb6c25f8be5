// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"errors"
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/laplacian"
)

// Uncertainty is a set of operators S e^{-tL'}, any of which may have produced the
// readings; the guarantee is to hold for all of them. The neighbour relation is public
// and certain: edges and lengths are those of Model.Graph, whatever L' is.
type Uncertainty struct {
	// TauFrom and TauTo bound t; both 0: Model.Tau alone.
	TauFrom, TauTo float64
	// WeightError x < 1: each weight may, independently, be from 1 − x to 1 + x times its
	// value in the Laplacian. Only for the combinatorial one.
	WeightError float64
	// Alternatives are the Laplacians of other graphs with the same nodes in the same
	// order, each with the same errors of t and of weights as Model.Laplacian. The result
	// says nothing of graphs that are not listed.
	Alternatives []*laplacian.Laplacian
}

// Any reports whether anything is uncertain.
func (u Uncertainty) Any() bool {
	return u.TauFrom < u.TauTo || u.WeightError > 0 || len(u.Alternatives) > 0
}

// Envelope is a bracket of the largest Δ₂ in a set of operators.
type Envelope struct {
	Bracket
	Tau         float64 // at which Lower is attained
	Alternative int     // the graph that attains Lower, as index; −1: the model's
}

// ErrUncertainty says that a declared uncertainty is out of range, or that nothing is
// certified for it.
var ErrUncertainty = errors.New("sensitivity: uncertainty")

// MaxUncertain is the largest graph for which an uncertainty of weights or of listed graphs is
// certified: it takes all eigenpairs. Beyond it an interval of τ is certified by products with M.
const MaxUncertain = 5000

// MaxAlternatives is the most graphs that may be listed.
const MaxAlternatives = 2000

func (u Uncertainty) check(m Model) error {
	if m.Graph == nil || m.Laplacian == nil {
		return errModel
	}
	n := m.Graph.Order()
	switch {
	case n > MaxUncertain && (u.WeightError > 0 || len(u.Alternatives) > 0):
		return fmt.Errorf("%w: %d nodes, and other weights or graphs are certified for at most %d; a range of tau is certified for more",
			ErrUncertainty, n, MaxUncertain)
	case u.TauFrom != 0 || u.TauTo != 0:
		if !(u.TauFrom > 0) || !(u.TauTo >= u.TauFrom) || math.IsInf(u.TauTo, 1) {
			return fmt.Errorf("%w: tau from %v to %v, want 0 < from ≤ to", ErrUncertainty, u.TauFrom, u.TauTo)
		}
	}
	if !(u.WeightError >= 0 && u.WeightError < 1) {
		return fmt.Errorf("%w: weight error %v, want a number from 0 to below 1", ErrUncertainty, u.WeightError)
	}
	if u.WeightError > 0 && m.Laplacian.Kind() != laplacian.Combinatorial {
		return fmt.Errorf("%w: weight errors are certified for the combinatorial Laplacian, this is %v", ErrUncertainty, m.Laplacian.Kind())
	}
	for i, l := range u.Alternatives {
		if l.Order() != n || l.Kind() != m.Laplacian.Kind() {
			return fmt.Errorf("%w: alternative %d is a %v Laplacian of %d nodes, want %v of %d", ErrUncertainty, i, l.Kind(), l.Order(),
				m.Laplacian.Kind(), n)
		}
	}
	return nil
}
