// SPDX-License-Identifier: Apache-2.0

// Package allocation chooses how much noise each sensor adds.
//
// Start with [Optimize]. With weights u_s = 1/σ_s² and D_es = (M_si − M_sj)/ℓ_e for
// the edge e = {i, j}, a release is as private as the worst edge allows:
//
//	α²·max_e Σ_s D_es² u_s ≤ 1/r²,   r = σ/Δ of the calibration.
//
// Every such u gives the same guarantee, and the paper's equal u is only one of
// them. Among them Optimize looks for the one under which communities are told
// apart best. The mean squared separation of communities is linear in u too, so
// that is a packing linear programme,
//
//	max wᵀu   subject to   α² Σ_s D_es² u_s ≤ 1 for every edge, 0 ≤ u ≤ u_max;
//
// the other objectives solve one or several of them, but for [Energy], which keeps no row of
// M and serves graphs of a hundred thousand nodes. Where the operator is not certain,
// [Options.Worlds] adds the constraints of others. A sensor with
// u_s = 0 does not report.
//
// Only the public graph and public communities may enter. The constraints of
// all edges are evaluated at the result, which is scaled to satisfy them; before it is
// used, [sensitivity.Bound] certifies it, and noise is calibrated to that bound whatever
// the quality of u.
//
// Proof: docs/proofs/allocation.md. Unequal noise in the Gaussian mechanism:
// Muthukrishnan & Kalyani, arXiv:2302.03511.
package allocation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// ErrNothing says that no allocation is better than equal noise: the objective is 0 for
// all weights, or the graph has no edge to protect.
var ErrNothing = errors.New("allocation: nothing to tell apart")

// ErrInvalid says that options contradict each other or the model.
var ErrInvalid = errors.New("allocation: invalid options")

// Objective is what the allocation maximises.
type Objective int

// The objectives. All but Location need at least two communities.
const (
	Auto        Objective = iota // Information, or Energy above 10,000 nodes, or Location where there is one community
	Separation                   // Σ over community pairs of the squared distance of their means
	Location                     // mean squared distance of nodes at least Options.Hops apart
	Information                  // the expected log loss of the community by simulation
	Energy                       // the expected log loss of the community, as if log-likelihood ratios were normal; keeps no rows
)

var objectives = [...]string{"auto", "separation", "location", "information", "energy"}

// String returns the name in lower case.
func (o Objective) String() string {
	if o < 0 || int(o) >= len(objectives) {
		return fmt.Sprintf("Objective(%d)", int(o))
	}
	return objectives[o]
}

// ParseObjective reads a name of [Objective.String]; "" is auto.
func ParseObjective(s string) (Objective, error) {
	if s == "" {
		return Auto, nil
	}
	for i, name := range objectives {
		if s == name {
			return Objective(i), nil
		}
	}
	return 0, fmt.Errorf("allocation: objective is %q, want auto, separation, location, information or energy", s)
}

// MarshalText writes the name.
func (o Objective) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads a name.
func (o *Objective) UnmarshalText(text []byte) (err error) {
	*o, err = ParseObjective(string(text))
	return err
}

// DefaultMemory holds the rows of every sensor of up to 8,000 nodes.
const DefaultMemory = 512 << 20

// Options of [Optimize]. The zero value is recommended, but for Noise.
type Options struct {
	Objective Objective
	// Noise is r = σ/Δ₂ of the calibration. Information and Energy depend on it; 0: 1.
	Noise float64
	// MaxSensors limits how many sensors report; 0: no limit.
	MaxSensors int
	// Prior is proportional to the probability of a source at each node; nil: flat.
	Prior []float64
	// Hops is the distance from which Location tells nodes apart; 0: 2.
	Hops int
	// Candidates are the sensors that may report, as indices into the model's
	// sensors; nil: all, or a choice of the package where all would take more than
	// Memory.
	Candidates []int
	// Memory in bytes for the rows of the candidates, 8 bytes a node for each and operator;
	// 0: DefaultMemory.
	Memory int64
	// Worlds are further operators for the model's sensors, under which the guarantee is
	// to hold as well: other τ, other graphs. The objective is that of the first alone.
	Worlds []Diffusion
	// Gap is the relative distance of a linear objective from its optimum at which its search ends; 0: 0.001.
	Gap float64
	// Time limits the work of the search, counted as the time that one core takes by estimate, so
	// that the result is the same on a slow machine. The search then ends with the best weights so
	// far; 0: no limit. At most half of it is spent on rows of M; two passes over the edges come after it.
	Time time.Duration
	// Distances returns the distances of a node to all others, +Inf to those in other
	// components; nil: a sketch tells no distance.
	Distances func(node int) []float64
	// Progress is called with the stage and its steps done and in total; nil: not reported.
	Progress func(stage string, done, total int64)
}

// Result is an allocation. However good it is, a release with its Weights is private at the
// noise calibrated to their certified sensitivity.
type Result struct {
	// Weights u ≥ 0 has one value for each sensor of the model, in units where
	// α·max_e ‖diag(√u) M_S b_e‖₂/ℓ_e = 1 up to rounding, or to some ten per cent for
	// Energy, which estimates it. Sensor s then adds
	// σ_s = r/√u_s.
	Weights []float64
	// Objective is the objective that was optimised; never Auto.
	Objective Objective
	// Value of the objective at Weights: for Information the simulated mean of −log of the posterior of the true
	// community, NaN where Time ended the search before; NaN for Energy. Limit is a proven upper bound on it over
	// all feasible weights of the candidates, with MaxSensors relaxed; NaN for Information and
	// Energy, of which none is computed, and where candidates were left out.
	Value, Limit float64
	// CutShort reports whether Options.Time ran out before the search was complete.
	CutShort bool
	// ActiveEdges are the edges {U, V}, U < V, whose constraint is active: it holds with
	// equality at Weights, within 1e-6; nil for Energy.
	ActiveEdges [][2]int
	// Reporting is the number of sensors with a weight.
	Reporting int
	// Rounds is the number of linear programmes solved, or of updates for Energy.
	Rounds int
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

// Optimize allocates noise for the model's sensors. labels names the public
// community of each node by a number ≥ 0; Location ignores it. diffusion is M for
// the model's Laplacian and τ.
//
// It returns [ErrNothing] where no allocation can help, as a [NoGain] where a simulation says that the one
// found for Energy does not, [ErrWork] where its search would take minutes, and
// [ErrInvalid] for options that contradict each other or the model. An operator whose
// products have [expm.ErrAccuracy], so that it has eigenpairs, is searched all the same. The same input gives the
// same bits at any number of workers. When ctx ends, its error is returned.
//
// Proof: docs/proofs/allocation.md.
func Optimize(ctx context.Context, m sensitivity.Model, diffusion Diffusion, labels []int, opts Options) (*Result, error) {
	p, sensors, err := newUnread(ctx, m, diffusion, labels, opts)
	if err != nil {
		return nil, err
	}
	if p.opts.Objective == Energy {
		return p.optimizeEnergy(diffusion, sensors)
	}
	if err := p.read(ctx, diffusion, sensors); err != nil {
		return nil, err
	}
	return p.optimize()
}

func (o *Options) check(n, sensors int) error {
	switch {
	case o.Objective < Auto || o.Objective > Energy:
		return fmt.Errorf("%w: there is no objective %d", ErrInvalid, int(o.Objective))
	case !(o.Noise >= 0) || math.IsInf(o.Noise, 1):
		return fmt.Errorf("%w: noise is %v, want a finite number > 0", ErrInvalid, o.Noise)
	case !(o.Gap >= 0) || o.Gap >= 1 || o.Time < 0 || o.Memory < 0 || o.Hops < 0:
		return fmt.Errorf("%w: gap %v, time %v, memory %d or hops %d out of range", ErrInvalid, o.Gap, o.Time, o.Memory, o.Hops)
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
	seen := make(map[int]bool, len(o.Candidates))
	for _, s := range o.Candidates {
		if s < 0 || s >= sensors || seen[s] {
			return fmt.Errorf("%w: candidate %d is given twice or is not one of %d sensors", ErrInvalid, s, sensors)
		}
		seen[s] = true
	}
	if o.Candidates != nil && len(o.Candidates) == 0 {
		return fmt.Errorf("%w: no candidates", ErrInvalid)
	}
	if o.Noise == 0 {
		o.Noise = 1
	}
	if o.Gap == 0 {
		o.Gap = 0.001
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if o.Hops == 0 {
		o.Hops = 2
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	return nil
}
