// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/graphcloak/graphcloak/expm"
)

// tauGrid holds values of τ from one end of an interval to the other, in equal ratios. It depends on
// the interval alone, so that a certificate that is computed again uses the same.
type tauGrid []float64

// Ratio of neighbouring values where eigenpairs are at hand and where they are not, and the
// most cells.
const (
	denseRatio, sparseRatio = 1.02, 1.1
	mostCells               = 256
)

func newTauGrid(from, to, ratio float64) tauGrid {
	cells := max(1, min(mostCells, int(math.Ceil(math.Log(to/from)/math.Log(ratio)))))
	grid := make(tauGrid, cells+1)
	for k := range grid {
		grid[k] = from * math.Pow(to/from, float64(k)/float64(cells))
	}
	grid[cells] = to
	return grid
}

// bend bounds how far ‖Ae^{-tS}b‖ can be above the larger of its values at the ends of a cell, for
// every A with ‖A‖ ≤ 1 and ‖b‖ = 1: h²/8·max λ²e^{-aλ} over [0, top], the largest of all cells.
func (g tauGrid) bend(top float64) float64 {
	most := 0.0
	for k, b := range g[1:] {
		h := b - g[k]
		most = max(most, h*h/8*maxPowerDecay(2, g[k], top))
	}
	return most * (1 + 16*unit)
}

// largest returns the largest ‖b‖·α/length over the edges.
func (p *problem) largest() float64 {
	most := 0.0
	for _, e := range p.edges.all() {
		_, _, square := p.incidence(e)
		most = max(most, e.scale*math.Sqrt(square))
	}
	return most * (1 + 8*unit)
}

// top bounds the eigenvalues of S.
func (p *problem) top() float64 { return p.lap.Bound() * (1 + 4*unit) }

// byProducts brackets the largest Δ₂ over an interval of τ for a graph that is too large for all
// eigenpairs: [Bound] at values of τ, and what can be between them. The first value is
// certified closely; the others only where they are not below it.
func byProducts(ctx context.Context, base *problem, m Model, u []float64, set Uncertainty, opts Options) (Envelope, error) {
	grid := newTauGrid(set.TauFrom, set.TauTo, sparseRatio)
	if base.uniform { // the norm falls with τ
		grid = grid[:1]
	}
	bend := 0.0
	if len(grid) > 1 {
		bend = base.largest() * math.Sqrt(base.peak) * grid.bend(base.top()) * (1 + 8*unit)
	}
	opts.Failure /= float64(2 * len(grid))
	if opts.Threshold > 0 {
		if opts.Threshold = opts.Threshold*(1-2*unit) - bend; opts.Threshold <= 0 {
			return Envelope{}, fmt.Errorf("%w: between the values of tau that are certified Δ₂ may be larger than %v", ErrUncertainty, bend)
		}
	}
	worst := Envelope{Bracket: Bracket{Edge: [2]int{-1, -1}}, Tau: m.Tau, Alternative: -1}
	for k, tau := range grid {
		opts.Progress("uncertainty", int64(k), int64(len(grid)))
		m.Tau = tau
		at := opts
		if opts.Seed != [32]byte{} { // what is asked here depends on what the columns before have shown
			at.Seed = derivedSeed(opts.Seed, "graphcloak/v1/sensitivity/tau/"+strconv.Itoa(k))
		}
		b, err := worst.extend(ctx, m, u, at)
		if err != nil {
			return Envelope{}, err
		}
		if b.Lower > worst.Lower {
			worst.Lower, worst.Edge, worst.Tau = b.Lower, b.Edge, tau
		}
		worst.Upper, worst.Failure = max(worst.Upper, b.Upper), worst.Failure+b.Failure
	}
	worst.Upper = (worst.Upper + bend) * (1 + 4*unit)
	return worst, nil
}

// extend brackets Δ₂ at one τ: closely, unless it is no larger than what was found before.
func (e *Envelope) extend(ctx context.Context, m Model, u []float64, opts Options) (Bracket, error) {
	if opts.Threshold > 0 {
		return Confirm(ctx, m, u, Bracket{Upper: opts.Threshold, Failure: opts.Failure}, opts)
	}
	spent := 0.0
	if e.Upper > 0 {
		decide := opts
		decide.Threshold = e.Upper
		b, err := Bound(ctx, m, u, decide)
		if err != nil || b.Upper <= e.Upper {
			return b, err
		}
		spent = b.Failure
	}
	b, err := Bound(ctx, m, u, opts)
	b.Failure += spent
	return b, err
}

// PerSensorWorst is [PerSensor] over an interval of τ: brackets of the largest sensitivity of each
// reading, at values of τ and, by the bound between them, at all others. It returns [ErrUncertainty]
// for a set that is out of range or in which more than τ is uncertain, and the errors of [PerSensor].
func PerSensorWorst(ctx context.Context, m Model, set Uncertainty, opts Options) ([]Bracket, error) {
	if err := set.check(m); err != nil {
		return nil, err
	}
	if len(set.Alternatives) > 0 {
		return nil, fmt.Errorf("%w: of single readings it is certified for tau alone", ErrUncertainty)
	}
	if set.TauFrom == set.TauTo {
		return PerSensor(ctx, m, opts)
	}
	m.Tau = set.TauFrom
	p, err := newProblem(m, nil, &opts)
	if err != nil {
		return nil, err
	}
	ratio := sparseRatio
	if m.Diffusion, err = p.shared(ctx, m); err != nil {
		return nil, err
	}
	if m.Diffusion != nil && m.Diffusion.Spectrum() != nil {
		ratio = denseRatio
	}
	grid := newTauGrid(set.TauFrom, set.TauTo, ratio)
	opts.Failure /= float64(len(grid))
	var worst []Bracket
	for k, tau := range grid {
		m.Tau = tau
		opts.Progress("uncertainty", int64(k), int64(len(grid)))
		list, err := PerSensor(ctx, m, opts)
		if err != nil {
			return nil, err
		}
		worst = widen(worst, list)
	}
	return p.addBend(worst, m, grid), nil
}

// shared returns a diffusion whose eigenpairs serve all τ, where they are cheap.
func (p *problem) shared(ctx context.Context, m Model) (*expm.Diffusion, error) {
	if m.Diffusion != nil && m.Diffusion.Spectrum() != nil || p.lap.Order() > exactOrder {
		return m.Diffusion, nil
	}
	return expm.New(ctx, p.lap, m.Tau, expm.Options{Method: expm.Eigen})
}

// widen returns the larger of two brackets of each reading.
func widen(worst, list []Bracket) []Bracket {
	if worst == nil {
		return list
	}
	for k, b := range list {
		w := &worst[k]
		if b.Lower > w.Lower {
			w.Lower, w.Edge = b.Lower, b.Edge
		}
		w.Upper, w.Failure, w.Exact = max(w.Upper, b.Upper), w.Failure+b.Failure, false
	}
	return worst
}

// addBend adds to the upper ends what can be between the values of the grid. A reading that no edge
// reaches at one τ is reached at none.
func (p *problem) addBend(worst []Bracket, m Model, grid tauGrid) []Bracket {
	bend := 0.0
	if !p.trivial() {
		bend = p.largest() * grid.bend(p.top())
	}
	for k := range worst {
		s, inverse := k, 1.0
		if m.Sensors != nil {
			s = m.Sensors[k]
		}
		if p.s != nil {
			inverse = 1 / p.s[s]
		}
		if worst[k].Upper > 0 {
			worst[k].Upper = (worst[k].Upper + bend*inverse) * (1 + 8*unit)
		}
	}
	return worst
}

// maxPowerDecay is max λᵏe^{-tλ} over [0, top], rounded up.
func maxPowerDecay(k, t, top float64) float64 {
	peak := min(k/t, top)
	return math.Pow(peak, k) * math.Exp(-t*peak) * (1 + 64*unit)
}
