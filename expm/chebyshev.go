// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"context"
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// maxDegree bounds the degree, and so the work: τ·λ_max of about 1e10.
const maxDegree = 1 << 20

// heatWeights returns p_0, p_1, … with
//
//	e^{-c(1+x)} = Σ_k (−1)^k p_k T_k(x),   p_0 = e^{-c}I_0(c),   p_k = 2e^{-c}I_k(c),
//
// truncated at the tolerance, and an upper bound on the sum of the dropped ones. The p_k are the probabilities of |X| for X
// Skellam-distributed with variance c, so they are positive with sum 1, and by Bernstein's inequality
// Σ_{k>K} p_k ≤ 2exp(−K²/2(c + K/3)). They come from Miller's backward recurrence
// I_{k−1} = I_{k+1} + (2k/c)I_k, started where that bound is below 1e-40 and
// normalised by the sum (J. C. P. Miller, 1952; NIST DLMF 3.6(iii), 10.35.5).
func heatWeights(c, tol float64) (p []float64, tail float64, err error) {
	if c < 1e-18 {
		return []float64{1}, c, nil // 1 − p_0 ≤ 1 − e^{-c}
	}
	const beyond = 93 // exp(−93) < 1e-40
	start := math.Ceil(beyond/3 + math.Sqrt(beyond*beyond/9+2*beyond*c))
	if start > 4*maxDegree {
		return nil, 0, fmt.Errorf("%w: tau·λ_max is %.3g, which needs more than %d products", ErrAccuracy, 2*c, maxDegree)
	}
	p = make([]float64, int(start)+2)
	p[len(p)-2] = math.SmallestNonzeroFloat64 * (1 << 60)
	for k := len(p) - 2; k > 0; k-- {
		p[k-1] = p[k+1] + 2*float64(k)/c*p[k]
		if p[k-1] > 1e250 {
			for j := k - 1; j < len(p) && p[j] > 0; j++ {
				p[j] *= 1e-250
			}
		}
	}
	var sum float64
	for k := len(p) - 1; k > 0; k-- {
		p[k] *= 2
		sum += p[k]
	}
	sum += p[0]
	tail = 2e-40
	degree := len(p)
	for k := len(p) - 1; k >= 0; k-- {
		p[k] /= sum
		if tail+p[k] > tol || k == 0 {
			degree = k + 1
			break
		}
		tail += p[k]
	}
	for k := degree - 2; k >= 0; k-- {
		p[k] /= sum
	}
	if degree > maxDegree {
		return nil, 0, fmt.Errorf("%w: tau·λ_max is %.3g, which needs %d products, more than %d", ErrAccuracy, 2*c, degree, maxDegree)
	}
	return p[:degree:degree], tail * (1 + 1e-9), nil
}

// chebyshev returns the coefficients of T_k(2S/λ − I) and two error bounds: the
// dropped tail, and rounding: of the recurrence, of the sum, and of the coefficients
// (each within 64 units, by its positive recurrence), with the error of [roundToGrid].
//
// A rounding error δ_j made in step j is multiplied by U_{k−j} in step k, and
// |U_m| ≤ m + 1 on [−1, 1] (N. J. Higham, Accuracy and Stability, 2002, §5.4);
// |δ_j| ≤ γ(4 + 2 + 1)‖x‖, and gridUnits more where the vectors are rounded to a grid.
// That needs λ ≥ λ_max, which is why Bound is certified.
func chebyshev(l Generator, tau, tol float64) (weights []float64, tail, rounding float64, err error) {
	p, tail, err := heatWeights(tau*l.Bound()/2, tol)
	if err != nil {
		return nil, 0, 0, err
	}
	var spread float64
	for k, v := range p {
		spread += v * float64(k) * float64(k+1) / 2
		if k%2 == 1 {
			p[k] = -v
		}
	}
	rounding = (7*l.Rounding()+gridUnits*unit)*spread + (float64(len(p)+66)+gridUnits+1)*unit
	return p, tail, rounding * (1 + 1e-9), nil
}

// recurrence sets y to Σ_k weights_k T_k(2S/λ − I)x by the three-term recurrence,
// the sum fused into the product. With a grid above 0 every vector is rounded to it.
func recurrence(ctx context.Context, l Generator, weights, y, x []float64, w *workspace, k int, grid float64) error {
	prev, cur := w.t0, w.t1
	w.loop = rowLoop{dst: y, more: prev, src: x, factor: weights[0]}
	parallel.Rows(len(x), 3, w.begin)
	if len(weights) == 1 {
		return ctx.Err()
	}
	h := 2 / l.Bound()
	l.Recur(cur, y, x, k, h, -1, 0, weights[1])
	w.toGrid(cur, grid)
	for _, c := range weights[2:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.Recur(prev, y, cur, k, 2*h, -2, -1, c)
		w.toGrid(prev, grid)
		prev, cur = cur, prev
	}
	return ctx.Err()
}
