// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"errors"
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// Model is the public side of a measurement. Distances are those of the graph's
// lengths, which are hops where none were given.
type Model struct {
	Graph     *graph.Graph
	Laplacian *laplacian.Laplacian // of Graph
	Tau       float64
	Sensors   []int   // distinct nodes; nil: all
	Alpha     float64 // neighbour radius; 0: 1

	// Diffusion is optional: one with Method Eigen (of any τ, made from the same
	// *Laplacian) provides its eigenpairs, and makes the result exact up to rounding.
	Diffusion *expm.Diffusion

	// Nodes are those of the rows of Given.
	Nodes []int
	// Given are operators in place of e^{-τL}, any of which may be the true one: their rows are the readings. Laplacian, Tau,
	// Sensors and Diffusion then count nothing.
	Given []*linop.Sparse
}

// Scale is what a difference of readings between the ends of an edge counts in Δ₂: neighbours are sources one of which
// comes from the other by moving mass along edges, mass times distance at most α.
func (m Model) Scale(e graph.Edge) float64 { return m.Alpha / e.Length }

// Options of [Bound] and [PerSensor]. The zero value is recommended but for Seed.
type Options struct {
	// Tolerance is the relative width Upper/Lower − 1 to aim at; 0: 0.001 up to 10,000
	// nodes, else 0.05. Up to there a narrow bracket costs seconds, and a wide one costs
	// noise: a few per cent of σ, and with it accuracy.
	Tolerance float64
	// Threshold, where positive, makes this a decision: the search ends as soon as Δ₂ ≤
	// Threshold is certified, or refuted by the lower end. Tolerance then only sets the
	// accuracy to which M is computed.
	Threshold float64
	// Seed keys the random screen: 32 bytes from a cryptographic source, kept with
	// the plan, so that the same plan gives the same bits. All zero: no screen.
	Seed [32]byte
	// Failure is the largest probability, over the seed, with which the screen may
	// make the upper end invalid; 0: 1e-12. The caller charges Bracket.Failure to δ.
	Failure float64
	// Progress is called with the stage and the number of edges whose bound has reached
	// the target; nil: silent.
	Progress func(stage string, done, total int64)
}

// Bracket holds Δ₂ between two bounds.
type Bracket struct {
	Lower, Upper float64
	Edge         [2]int  // the edge that attains Lower, U < V; {-1, -1} without edges
	Failure      float64 // probability, over the seed, that Upper is too small
	Exact        bool    // Upper − Lower is rounding only
}

// closed reports whether the bracket is as narrow as the tolerance demands.
func (b Bracket) closed(tol float64) bool { return b.Upper <= b.Lower*(1+tol) }

// decided reports whether a bracket certifies or refutes Δ₂ ≤ Threshold.
func (o *Options) decided(b Bracket) bool {
	return o.Threshold > 0 && (b.Upper <= o.Threshold || b.Lower > o.Threshold)
}

// floor is the least upper end of a graph that has edges: M b never vanishes, and
// below this squares underflow.
const floor = 1e-290

func defaultTolerance(n int) float64 {
	if n <= 10_000 {
		return 0.001
	}
	return 0.05
}

var errModel = errors.New("sensitivity: Model lacks Graph or Laplacian")

func (m *Model) check() error {
	switch {
	case m.Graph == nil || m.Laplacian == nil:
		return errModel
	case m.Laplacian.Order() != m.Graph.Order():
		return fmt.Errorf("sensitivity: Laplacian of %d nodes, graph of %d", m.Laplacian.Order(), m.Graph.Order())
	case !(m.Tau > 0) || math.IsInf(m.Tau, 1):
		return fmt.Errorf("sensitivity: tau is %v, want a finite number > 0", m.Tau)
	case !(m.Alpha >= 0) || math.IsInf(m.Alpha, 1):
		return fmt.Errorf("sensitivity: alpha is %v, want a finite number > 0", m.Alpha)
	case m.Sensors != nil && len(m.Sensors) == 0:
		return errors.New("sensitivity: no sensors")
	case math.IsInf(m.Laplacian.Bound(), 1):
		return errors.New("sensitivity: the sum of the weights at a node overflows")
	}
	seen := make(map[int]bool, len(m.Sensors))
	for _, s := range m.Sensors {
		if s < 0 || s >= m.Graph.Order() || seen[s] {
			return fmt.Errorf("sensitivity: sensor %d is given twice or is not one of %d nodes", s, m.Graph.Order())
		}
		seen[s] = true
	}
	return nil
}

// setDefaults checks the options and fills in the defaults for a graph of n nodes.
func (o *Options) setDefaults(n int) error {
	if !(o.Tolerance >= 0) || !(o.Failure >= 0 && o.Failure < 1) || !(o.Threshold >= 0) {
		return fmt.Errorf("sensitivity: tolerance %v, failure %v or threshold %v out of range", o.Tolerance, o.Failure, o.Threshold)
	}
	if o.Tolerance == 0 {
		o.Tolerance = defaultTolerance(n)
	}
	if o.Failure == 0 {
		o.Failure = 1e-12
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	return nil
}
