// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"math"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian"
)

// moments holds the input of the O(1) bounds of an edge. Let ν be the spectral measure
// of b, of mass μ₀ = ‖b‖², with moments μ₁ = bᵀSb and μ₂ = ‖Sb‖², and c = 2τ. Then
//
//	bᵀe^{-cS}b ≤ μ₀ − (μ₁²/μ₂)(1 − e^{-cμ₂/μ₁})   (Jensen for (1 − e^{-cs})/s, convex and
//	                                               decreasing, under s·dν/μ₁; it grows with μ₂)
//	bᵀe^{-cS}b ≤ R/(ec), R ≤ 1/B_uv               (s·e^{-cs} ≤ 1/(ec), R = bᵀS⁺b; combinatorial)
//	bᵀe^{-cS}b ≤ pendant(cB_uv)                   (combinatorial, where u or v has degree 1)
//	bᵀe^{-cS}b ≥ μ₀e^{-cμ₁/μ₀}                    (Jensen)
//
// Proof: docs/proofs/sensitivity.md.
type moments struct {
	p       *problem
	ptr     []int64
	diag    []float64
	squares []float64 // q_i = Σ_k B_ik²
}

func (p *problem) moments() *moments {
	ptr, _, val, diag := p.lap.CSR()
	m := &moments{p: p, ptr: ptr, diag: diag, squares: make([]float64, len(diag))}
	parallel.Rows(len(diag), 1+len(val)/max(1, len(diag)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if val == nil {
				m.squares[i] = float64(ptr[i+1] - ptr[i])
				continue
			}
			for _, b := range val[ptr[i]:ptr[i+1]] {
				m.squares[i] += b * b
			}
		}
	})
	return m
}

// bounds returns the O(1) upper and lower bounds on bᵀe^{-2τS}b.
//
// Rounding, away from the extremes of the exponent range: every stored entry is
// within six units (see [laplacian.Laplacian.Rounding]), and μ₁ is a sum of positive
// terms. q_i is a sum of degree terms, off by (degree + 12) units; what q_u − B²
// cancels stays below q_u units, and q_u ≤ a_u² since B ≥ 0 has row sums a_u
// (combinatorial) or norm at most 1 = a_u. As (Sb)_u² ≥ b_u²a_u², μ₂ is off by at
// most degree + 64 units of itself.
func (m *moments) bounds(e edge) (up, low float64) {
	p := m.p
	bu, bv, mass := p.incidence(e)
	au, av, c := m.diag[e.u], m.diag[e.v], 2*p.tau
	mu1 := bu*bu*au + bv*bv*av - 2*bu*bv*e.b
	// (Sb)_u = a_u b_u − B b_v and so on; elsewhere −(B_ku b_u + B_kv b_v), whose
	// terms have opposite signs.
	x, y := bu*au-e.b*bv, bv*av-e.b*bu
	mu2 := x*x + y*y + bu*bu*max(0, m.squares[e.u]-e.b*e.b) + bv*bv*max(0, m.squares[e.v]-e.b*e.b)
	up, low = mass, 0
	if mu1 > 1e-140 && mu2 < 1e280 && mu2 > 1e-280 {
		longest := max(m.degree(e.u), m.degree(e.v))
		slack := float64(longest+64) * unit / (1 - float64(longest+64)*unit)
		m1, m2 := mu1*(1-64*unit), mu2*(1+slack)+1e-300
		up = min(up, mass+m1*(m1/m2)*math.Expm1(-c*(m2/m1))+16*unit*mass)
	}
	if low = mass * math.Exp(-c*(mu1/mass)*(1+1e-12)); !(low >= 0) {
		low = 0
	}
	if p.resistive() {
		up = min(up, 1/(math.E*c*e.b)*(1+8*unit))
		if m.degree(e.u) == 1 || m.degree(e.v) == 1 {
			up = min(up, pendant(c*e.b)*(1+16*unit))
		}
	}
	return up, low
}

func (m *moments) degree(i int32) int64 { return m.ptr[i+1] - m.ptr[i] }

// resistive reports whether bᵀS⁺b is an effective resistance, at most 1/B_uv: only
// the combinatorial Laplacian measures one.
func (p *problem) resistive() bool { return p.lap.Kind() == laplacian.Combinatorial }

// pendant bounds bᵀe^{-cL}b for an edge of weight w to a leaf l, q = cw. There
// b = ±Le_l/w, so that the form is ∫s²e^{-cs}dμ/w² for the spectral measure μ of e_l,
// of mass 1 and mean w. The integrand is at most (2/ec)²; between q = 1 and 2 the
// tangent at s = w lies above it.
func pendant(q float64) float64 {
	switch {
	case q >= 2:
		return 4 / (math.E * math.E * q * q)
	case q >= 1:
		return math.Exp(-q)
	}
	return math.Inf(1)
}

// scaled turns a bound on bᵀe^{-2τS}b into one on the ratio of an edge.
func (p *problem) scaled(e edge, up float64) float64 {
	return e.scale * math.Sqrt(p.peak*up) * (1 + 16*unit)
}
