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
// apart best. Where that is linear in u, as the mean squared separation of communities is, it
// is a packing linear programme,
//
//	max wᵀu   subject to   α² Σ_s D_es² u_s ≤ 1 for every edge, 0 ≤ u ≤ u_max.
//
// Each [Objective] solves one or several of them, but for [Energy], which keeps no row of
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

	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// Optimize allocates noise for the model's sensors. labels names the public
// community of each node by a number ≥ 0. diffusion is M for the model's Laplacian and τ.
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
	return p.optimize(diffusion, sensors)
}

// optimize allocates noise for the sensors.
func (p *problem) optimize(diffusion Diffusion, sensors []int) (*Result, error) {
	if p.objective == Energy {
		return p.optimizeEnergy(diffusion, sensors)
	}
	if err := p.read(diffusion, sensors); err != nil {
		return nil, err
	}
	u, err := p.solveWithLimits()
	if err != nil {
		return nil, err
	}
	return p.result(u)
}
