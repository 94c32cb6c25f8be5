// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/laplacian"
)

// unit is the unit roundoff of float64, 2⁻⁵³.
const unit = 1.0 / (1 << 53)

// problem is Δ₂ in the symmetric form. With L = diag(1/s) S diag(s),
//
//	‖diag(√u) M_S (e_i − e_j)‖ = ‖diag(√ω) e^{-τS}(s_i e_i − s_j e_j)‖,   ω_t = u_t/s_t² at sensors, else 0.
type problem struct {
	lap   *laplacian.Laplacian
	tau   float64
	alpha float64
	edges edgeList
	s     []float64 // nil: ones
	omega []float64 // nil: ones
	peak  float64   // max ω
	// uniform: all ω are equal, so that the norm is √peak·‖e^{-τS}b‖.
	uniform bool
	// crossesComponents: an edge joins two components of lap, so that b has a part in the
	// null space.
	crossesComponents bool
}

func newProblem(m Model, u []float64, opts *Options) (*problem, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := opts.setDefaults(m.Graph.Order()); err != nil {
		return nil, err
	}
	m.Alpha = cmp.Or(m.Alpha, 1)
	p := &problem{lap: m.Laplacian, tau: m.Tau, alpha: m.Alpha, s: m.Laplacian.Similarity()}
	if err := p.setWeights(m, u); err != nil {
		return nil, err
	}
	if p.s != nil {
		if top := slices.Max(p.s); math.IsInf(2*p.peak*(top*top), 1) {
			return nil, fmt.Errorf("sensitivity: degrees from %.3g to %.3g overflow with %v", slices.Min(p.lap.Degrees()),
				top*top, p.lap.Kind())
		}
	}
	p.edges = newEdgeList(m)
	if most, i := largestOf(p.edges.len(), 1, func(i int) float64 { return p.edges.at(int32(i)).scale }); math.IsInf(most, 1) {
		return nil, fmt.Errorf("sensitivity: alpha %v over a length at edge (%d, %d) overflows", p.alpha, p.edges.ends[i][0],
			p.edges.ends[i][1])
	}
	return p, nil
}

// setWeights computes ω.
func (p *problem) setWeights(m Model, u []float64) error {
	sensors := len(m.Sensors)
	if m.Sensors == nil {
		sensors = m.Graph.Order()
	}
	if u != nil && len(u) != sensors {
		return fmt.Errorf("sensitivity: %d weights for %d sensors", len(u), sensors)
	}
	if u == nil && m.Sensors == nil && p.s == nil {
		p.peak, p.uniform = 1, true
		return nil
	}
	p.omega = make([]float64, m.Graph.Order())
	for k := range sensors {
		t, w := k, 1.0
		if m.Sensors != nil {
			t = m.Sensors[k]
		}
		if u != nil {
			w = u[k]
		}
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("sensitivity: weight of sensor %d is %v, want a finite number >= 0", k, w)
		}
		if p.s != nil {
			w /= p.s[t] * p.s[t]
		}
		p.omega[t] = w
		p.peak = max(p.peak, w)
	}
	if p.peak > 0 && !(p.peak > 1e-240 && p.peak < 1e240) { // beyond, squares under- or overflow
		return fmt.Errorf("sensitivity: the weights of sensors over their degrees are at most %.3g, want from 1e-240 to 1e240", p.peak)
	}
	p.uniform = true
	for _, w := range p.omega {
		p.uniform = p.uniform && w == p.peak
	}
	return nil
}

// trivial reports whether Δ₂ is 0: no edges, or no sensor with a weight.
func (p *problem) trivial() bool { return p.edges.len() == 0 || p.peak == 0 }

// incidence returns the two entries of b_e and ‖b_e‖².
func (p *problem) incidence(e edge) (bu, bv, square float64) {
	if p.s == nil {
		return 1, -1, 2
	}
	bu, bv = p.s[e.u], -p.s[e.v]
	return bu, bv, bu*bu + bv*bv
}

// exactOrder is the order up to which an eigendecomposition (about a second)
// beats the search.
const exactOrder = 700

// spectrum returns eigenpairs where the model has them or they are cheap, or nil.
func (p *problem) spectrum(ctx context.Context, m Model, opts Options) (*expm.Spectrum, error) {
	if m.Diffusion != nil {
		if m.Diffusion.Generator() != expm.Generator(m.Laplacian) {
			return nil, errors.New("sensitivity: Diffusion was made from another Laplacian")
		}
		if s := m.Diffusion.Spectrum(); s != nil {
			return s, nil
		}
	}
	if p.lap.Order() > exactOrder {
		return nil, nil
	}
	s, err := expm.Decompose(ctx, p.lap, opts.Progress)
	if err != nil {
		return nil, err
	}
	return s, nil
}
