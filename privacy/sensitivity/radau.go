// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"math"

	"github.com/graphcloak/graphcloak/internal/dense"
)

// radau bounds ‖e^{-τS}b‖ from the m steps done: Gauss quadrature is below
// bᵀe^{-2τS}b and Gauss–Radau with a node at the left end of the spectrum above it,
// since the derivatives of e^{-cx} alternate (Golub & Meurant, Matrices, Moments
// and Quadrature, 2010, §6.2).
//
// Rounding: with reorthogonalised vectors of N entries, V + F is orthonormal for some
// F of a few mN units, since a plain sum of N products is off by N units, as are the
// entries of a row of S of so many terms; and T is the exact Lanczos matrix of S + E,
// ‖E‖ ≤ κ = (m + 2)(64 + 8N)·unit·Bound, from a start vector with an error of at most
// κ/Bound. S + E + κI is positive semidefinite, so
// T + κI with a node at 0 bounds its quadrature, and
// |bᵀ(e^{-c(S+E)} − e^{-cS})b| ≤ cκe^{cκ}‖b‖². The eigenvalues of T are taken with
// an error below κ too. All of it is charged.
func (q *process) radau(mass float64) (up, low float64) {
	m := len(q.alpha)
	c := 2 * q.p.tau
	units := float64(m+2) * (64 + 8*float64(len(q.v[m]))) * unit
	kappa := units * q.p.lap.Bound()
	slack := (4*c*kappa + 8*units) * math.Exp(2*c*kappa)
	var diag, off [localSteps + 1]float64
	pivot := 0.0
	for k, a := range q.alpha {
		diag[k], off[k] = a+kappa, q.beta[k]
		if k == 0 {
			pivot = diag[0]
		} else {
			pivot = diag[k] - off[k-1]*off[k-1]/pivot
		}
		if !(pivot > 0) {
			return math.Inf(1), 0
		}
	}
	gauss := quadrature(diag[:m], off[:m], c)
	if !(gauss < math.Inf(1)) || !(c*kappa < 300) { // beyond, e^{cκ} overflows
		return math.Inf(1), 0
	}
	low = math.Sqrt(max(0, mass*(gauss-slack)))
	if off[m-1] <= kappa {
		return math.Sqrt(mass * (gauss*math.Exp(c*kappa) + slack)), low
	}
	diag[m] = off[m-1] * off[m-1] / pivot
	radau := quadrature(diag[:m+1], off[:m+1], c)
	if !(radau < math.Inf(1)) {
		return math.Inf(1), low
	}
	return math.Sqrt(mass * (radau*math.Exp(c*kappa) + slack)), low
}

// quadrature returns e_1ᵀe^{-cT}e_1 for the Jacobi matrix T with this diagonal and off-diagonal; +Inf
// where the eigenvalues are not found.
func quadrature(diag, off []float64, c float64) (sum float64) {
	var d, e, z [localSteps + 1]float64
	n := copy(d[:], diag)
	copy(e[:], off[:n-1])
	if dense.FirstEntries(d[:n], e[:n], z[:n]) != nil {
		return math.Inf(1)
	}
	for k, v := range z[:n] {
		sum += v * v * math.Exp(-c*d[k])
	}
	return sum
}
