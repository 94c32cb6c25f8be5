// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/laplacian"
)

// Uncertainty is a set of operators S e^{-tL'}, any of which may have produced the
// readings; the guarantee is to hold for all of them. The neighbour relation is public
// and certain: edges and lengths are those of Model.Graph, whatever L' is.
type Uncertainty struct {
	Tau tau.Range // of t; zero: Model.Tau alone
	// Alternatives are the Laplacians of other graphs with the same nodes in the same
	// order, each with the same range of t as Model.Laplacian. The result
	// says nothing of graphs that are not listed.
	Alternatives []*laplacian.Laplacian
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

// MaxUncertain is the largest graph for which listed graphs are
// certified: that takes all eigenpairs. Beyond it an interval of τ is certified by products with M.
const MaxUncertain = 5000

// MaxAlternatives is the most graphs that may be listed.
const MaxAlternatives = 2000

func (u Uncertainty) check(m Model) error {
	if m.Graph == nil || m.Laplacian == nil {
		return errModel
	}
	n := m.Graph.Order()
	switch {
	case n > MaxUncertain && len(u.Alternatives) > 0:
		return fmt.Errorf("%w: %d nodes, and other graphs are certified for at most %d; a range of tau is certified for more",
			ErrUncertainty, n, MaxUncertain)
	case u.Tau.Check() != nil:
		return fmt.Errorf("%w: %w", ErrUncertainty, u.Tau.Check())
	}
	for i, l := range u.Alternatives {
		if l.Order() != n || l.Kind() != m.Laplacian.Kind() {
			return fmt.Errorf("%w: alternative %d is a %v Laplacian of %d nodes, want %v of %d", ErrUncertainty, i, l.Kind(), l.Order(),
				m.Laplacian.Kind(), n)
		}
	}
	return nil
}
