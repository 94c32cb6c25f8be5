// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/laplacian"
)

// spectral evaluates ‖diag(√ω)e^{-τS}b‖ from all eigenpairs of S, by the spectral
// form Σ_k e^{-2τλ_k}(v_kᵀb)² where ω is uniform: a sum of squares, without the
// cancellation of K_ii + K_jj − 2K_ij.
type spectral struct {
	p        *problem
	spec     *expm.Spectrum
	from     int       // eigenvectors below are left out: b is orthogonal to them
	base     float64   // e^{-τλ_from}, taken out of the sum so that squares do not underflow
	decay    []float64 // e^{-τ(λ_k − λ_from)}, zero below from
	cols     [][]float64
	up       float64 // ‖P(Mb − M'b')‖ ≤ up for ‖b‖ = 1
	nullLeak float64 // ‖NNᵀM'b'‖ ≤ nullLeak for ‖b‖ = 1
}

// newSpectral prepares the evaluation. For the combinatorial Laplacian b is
// orthogonal to the null space N, spanned by the components' indicators, and
// every error decays too. Let QΛQᵀ be the exact decomposition next to the
// computed one, β = ‖S − QΛQᵀ‖, g ≤ every non-zero eigenvalue of either, N' its
// null space and φ = β/g ≥ sin∠(N, N') (Davis & Kahan, SIAM J. Numer. Anal. 7,
// 1970). With b = b' + n', n' in N', P = I − NNᵀ:
//
//	‖PMn'‖ ≤ φ²e^{-τg}‖b‖,   ‖P(M − M')b'‖ ≤ ∫₀^τ e^{-(τ-s)g}β e^{-sg}ds ‖b‖ = τβe^{-τg}‖b‖,
//	‖NNᵀM'b'‖ ≤ φe^{-τg}‖b‖.
//
// Mb = PMb. So the last, the leak into N, is orthogonal to Mb: where ω is uniform ‖M'b'‖ is too large by it, and never
// too small. Weights ω, or the choice of one reading, turn M'b' out of that right angle: then the leak counts in full at
// both ends. V for Q on both sides costs another (2o + o²)e^{-τg}, o = ‖VᵀV − I‖. Otherwise g = 0 and nothing decays.
func newSpectral(p *problem, spec *expm.Spectrum) *spectral {
	d := &spectral{p: p, spec: spec, base: 1}
	lambda := spec.Lambda()
	both := 2*spec.OrthogonalityError() + spec.OrthogonalityError()*spec.OrthogonalityError()
	if g := spec.Gap(); g > 0 && p.lap.Kind() == laplacian.Combinatorial && !p.crossesComponents {
		d.from = spec.Nullity()
		d.base = math.Exp(-p.tau * lambda[d.from])
		phi := spec.BackwardError() / g
		d.up = math.Exp(-p.tau*g) * (p.tau*spec.BackwardError() + phi*phi + both)
		d.nullLeak = math.Exp(-p.tau*g) * phi
	} else {
		d.up = min(1, p.tau*spec.BackwardError()) + both
	}
	d.decay = make([]float64, len(lambda))
	for k := d.from; k < len(lambda); k++ {
		d.decay[k] = math.Exp(-p.tau * (lambda[k] - lambda[d.from]))
	}
	d.storeColumns()
	return d
}

// storeColumns stores contiguously, for each node i, what its edges need: the entries
// e^{-τ(λ_k−λ_from)} v_ki over k, or column i of the kernel where ω is not uniform.
func (d *spectral) storeColumns() {
	n := len(d.decay)
	all := make([]float64, n*n)
	d.cols = make([][]float64, n)
	for i := range d.cols {
		d.cols[i] = all[i*n : (i+1)*n]
	}
	for k, w := range d.decay {
		for i, v := range d.spec.Vector(k) {
			d.cols[i][k] = w * v
		}
	}
	if d.p.uniform {
		return
	}
	kernel := d.spec.Shifted(d.p.tau, d.from)
	for i := range d.cols {
		d.cols[i] = kernel.RawRowView(i)
	}
}

// norm returns the computed α‖diag(√ω)e^{-τS}b‖/length.
func (d *spectral) norm(e edge) float64 {
	bu, bv, _ := d.p.incidence(e)
	x, y := d.cols[e.u], d.cols[e.v]
	var sum float64
	if d.p.uniform {
		for k, a := range x {
			z := bu*a + bv*y[k]
			sum += z * z
		}
		sum *= d.p.peak
	} else {
		for t, w := range d.p.omega {
			z := bu*x[t] + bv*y[t]
			sum += w * (z * z)
		}
	}
	return e.scale * d.base * math.Sqrt(sum)
}

// errorBounds returns upper bounds on how far norm(e) = v is below the exact value (up)
// and above it (down).
func (d *spectral) errorBounds(e edge, v float64) (up, down float64) {
	_, _, square := d.p.incidence(e)
	n := float64(len(d.decay))
	lambda := d.spec.Lambda()
	// The sum rounds n + 4 times, and so do the dot products of the kernel, each of at most a unit;
	// the exponent −τλ_from loses a relative unit.
	relative := (n + 16 + d.p.tau*lambda[d.from]) * unit
	norm := e.scale * math.Sqrt(d.p.peak*square) * (1 + 8*unit)
	leak := norm * d.nullLeak
	if !d.p.uniform {
		up = norm*(d.up+d.base*2*(n+16)*math.Sqrt(n)*unit) + leak + relative*v
		return up, up
	}
	up = norm*(d.up+d.base*16*unit) + relative*v
	if v > 0 {
		down = up + leak*min(1, leak/v)
	}
	return up, down
}

// tieTolerance is the relative difference below which two edges count as equal, so that
// rounding does not decide which edge is reported.
const tieTolerance = 1e-9

// exact brackets Δ₂ up to rounding, with the O(1) bound of an edge where that is
// smaller: weights of many magnitudes make eigenpairs inaccurate.
func (p *problem) exact(ctx context.Context, spec *expm.Spectrum) (Bracket, error) {
	d := newSpectral(p, spec)
	m := p.moments()
	b := Bracket{Edge: [2]int{-1, -1}, Exact: true}
	best := -1.0
	for i, e := range p.edges.all() {
		if i%1024 == 0 && ctx.Err() != nil {
			return Bracket{}, ctx.Err()
		}
		v := d.norm(e)
		up, down := d.errorBounds(e, v)
		cheap, _ := m.bounds(e)
		b.Upper = max(b.Upper, min((v+up)*(1+4*unit), p.scaled(e, cheap)))
		b.Lower = max(b.Lower, v-down)
		if v > best*(1+tieTolerance) {
			best, b.Edge = v, [2]int{int(e.u), int(e.v)}
		}
	}
	b.Upper = max(min(b.Upper, d.gapBound()), floor)
	return b, nil
}

// gapBound returns √(2·peak)·e^{-τg} times the largest α/length, for g ≤ λ₂ certified:
// b is orthogonal to the null space of a combinatorial Laplacian. It is +Inf for others.
func (d *spectral) gapBound() float64 {
	g := d.spec.Gap()
	if !d.p.resistive() || g == 0 {
		return math.Inf(1)
	}
	var scale float64
	for _, e := range d.p.edges.all() {
		scale = max(scale, e.scale)
	}
	return scale * math.Sqrt(2*d.p.peak) * math.Exp(-d.p.tau*g) * (1 + (d.p.tau*g+16)*4*unit)
}
