// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// ErrNothing says that no allocation is better than equal noise: the objective is 0 for
// all weights, or the graph has no edge to protect.
var ErrNothing = errors.New("allocation: nothing to tell apart")

// ErrInvalid says that options contradict each other or the model.
var ErrInvalid = errors.New("allocation: invalid options")

// ErrWork says that an allocation without rows of M would take minutes.
var ErrWork = errors.New("allocation: the search would take too long")

// Objective is what the allocation maximises: [Energy] above [RowsLimit] nodes, else Location where
// there is one community, and Information where there are more.
type Objective int

// The objectives.
const (
	Location    Objective = iota // mean squared distance of nodes at least two hops apart
	Information                  // the expected log loss of the community by simulation
	Energy                       // the expected log loss of the community, as if log-likelihood ratios were normal; keeps no rows
)

var objectives = [...]string{"location", "information", "energy"}

// String returns the name in lower case.
func (o Objective) String() string {
	if o < 0 || int(o) >= len(objectives) {
		return fmt.Sprintf("Objective(%d)", int(o))
	}
	return objectives[o]
}

// MarshalText writes the name.
func (o Objective) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads a name.
func (o *Objective) UnmarshalText(text []byte) error {
	i := slices.Index(objectives[:], string(text))
	if i < 0 {
		return fmt.Errorf("allocation: objective is %q, want location, information or energy", text)
	}
	*o = Objective(i)
	return nil
}

// DefaultMemory in bytes holds the rows of every sensor of up to 8,000 nodes, 8 bytes a node for each.
const DefaultMemory = 512 << 20

// RowsLimit is the order up to which rows of M are read: those of most sensors fit.
const RowsLimit = 10_000

// Options of [Optimize]. The zero value is recommended, but for Noise.
type Options struct {
	// Noise is r = σ/Δ₂ of the calibration. Information and Energy depend on it; 0: 1.
	Noise float64
	// MaxSensors limits how many sensors report; 0: no limit.
	MaxSensors int
	// Prior is proportional to the probability of a source at each node; nil: flat.
	Prior []float64
	// Worlds are further operators for the model's sensors, under which the guarantee is
	// to hold as well: other τ, other graphs. The objective is that of the first alone.
	Worlds []Diffusion
	// Time limits the work of the search, counted as the time that one core takes by estimate, so
	// that the result is the same on a slow machine. The search then ends with the best weights so
	// far; 0: no limit. At most half of it is spent on rows of M; two passes over the edges come after it.
	Time time.Duration
	// Distances returns the distances of a node to all others, +Inf to those in other
	// components; nil: a sketch has no distance.
	Distances func(node int) []float64
	// Progress is called with the stage and its steps done and in total; nil: not reported.
	Progress func(stage string, done, total int64)
}

func (o *Options) check(n int) error {
	switch {
	case !(o.Noise >= 0) || math.IsInf(o.Noise, 1):
		return fmt.Errorf("%w: noise is %v, want a finite number > 0", ErrInvalid, o.Noise)
	case o.Time < 0:
		return fmt.Errorf("%w: time is %v, want a duration ≥ 0", ErrInvalid, o.Time)
	case o.MaxSensors < 0:
		return fmt.Errorf("%w: at most %d sensors, want a number ≥ 0 (0: no limit)", ErrInvalid, o.MaxSensors)
	case o.Prior != nil && len(o.Prior) != n:
		return fmt.Errorf("%w: a prior of %d values for %d nodes", ErrInvalid, len(o.Prior), n)
	}
	total := 0.0
	for i, v := range o.Prior {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("%w: prior of node %d is %v, want a finite number ≥ 0", ErrInvalid, i, v)
		}
		total += v
	}
	if o.Prior != nil && !(total > 0 && !math.IsInf(total, 1)) {
		return fmt.Errorf("%w: the prior sums to %v, want a finite number > 0", ErrInvalid, total)
	}
	if o.Noise == 0 {
		o.Noise = 1
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	return nil
}

// Result is an allocation. However good it is, a release with its Weights is private at the
// noise calibrated to their certified sensitivity.
type Result struct {
	// Weights u ≥ 0 has one value for each sensor of the model, in units where
	// α·max_e ‖diag(√u) M_S b_e‖₂/ℓ_e = 1 up to rounding, or to some ten per cent for
	// Energy, which estimates it. Sensor s then adds σ_s = r/√u_s.
	Weights []float64
	// Objective is the objective that was optimised.
	Objective Objective
	// CutShort reports whether Options.Time ran out before the search was complete, or rows were left out.
	CutShort bool
	// Simulated compares the weights of Energy with equal noise at all sensors; nil for other
	// objectives, and where fewer may report.
	Simulated *Simulated
}

// Diffusion is the operator M with access to its rows; [expm.Diffusion] implements it.
type Diffusion interface {
	linop.Approximation
	// Rows returns the given rows as a len(pick) × n matrix.
	Rows(ctx context.Context, pick []int) (*mat.Dense, error)
}

// Simulated compares an allocation with equal noise by simulated releases of a source of
// amplitude 1, the same for both, with every node as a hypothesis. The norms of the columns
// of M are estimates, which errs towards less accuracy where it is high.
type Simulated struct {
	Trials int `json:"trials"`
	// share in which the likeliest community is the true one; the node, where there is one community
	Right     float64 `json:"right"`
	Equal     float64 `json:"rightUniform"` // under equal noise
	Loss      float64 `json:"logLoss"`      // mean −log of the probability of the truth, in nats
	EqualLoss float64 `json:"logLossUniform"`
}

// Possible reports whether a simulation can give this.
func (s *Simulated) Possible() bool {
	share := func(v float64) bool { return v >= 0 && v <= 1 }
	return s.Trials > 0 && share(s.Right) && share(s.Equal) && s.Loss >= 0 && s.EqualLoss >= 0
}

// NoGain is an [ErrNothing] with the simulation that says so: of an allocation that was found, and of
// equal noise.
type NoGain struct{ Simulated Simulated }

func (e *NoGain) Error() string {
	return ErrNothing.Error() + ": in a simulation the allocation that was found was no better than equal noise"
}

// Unwrap returns [ErrNothing].
func (e *NoGain) Unwrap() error { return ErrNothing }
