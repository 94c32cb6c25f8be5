// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"fmt"
	"math"
	"strconv"
)

// tauGrid holds values of τ from one end of an interval to the other, in equal ratios. It depends on
// the interval alone, so that a certificate that is computed again uses the same.
type tauGrid []float64

// Ratio of neighbouring values, and the most cells.
const (
	cellRatio = 1.1
	mostCells = 256
)

func newTauGrid(from, to float64) tauGrid {
	cells := max(1, min(mostCells, int(math.Ceil(math.Log(to/from)/math.Log(cellRatio)))))
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
	grid := newTauGrid(set.Tau.From, set.Tau.To)
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

// maxPowerDecay is max λᵏe^{-tλ} over [0, top], rounded up.
func maxPowerDecay(k, t, top float64) float64 {
	peak := min(k/t, top)
	return math.Pow(peak, k) * math.Exp(-t*peak) * (1 + 64*unit)
}
