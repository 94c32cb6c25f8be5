// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/dense"
)

// Limits of the steps of one edge: how many, and the entries of S that are read around it; and those of an approximation
// of which nothing need be proved, with the time that it takes, in entries of a block product.
const (
	krylovSteps   = 24
	krylovEntries = 1 << 13
	nearSteps     = 12
	nearEntries   = 1 << 10
	nearWork      = 1 << 20
)

// eigenCost is the time that the eigenvalues of T take at least, in entries of a step.
const eigenCost = 1 << 7

// longRow is the share of the entries that one row may take: a longer one is not read, so that a hub leaves room for the others.
const longRow = 1. / 32

// krylov approximates e^{-τS}b, for one edge after the other, by Lanczos steps on the nodes that S reaches from it: with
// v_0 = b/‖b‖, V = (v_0, …, v_{m-1}) and the tridiagonal T of m steps by a = ‖b‖Ve^{-τT}e_1, where
//
//	‖e^{-τS}b − a‖ ≤ ‖b‖·(β∫₀^τ|(e^{-sT})_{m1}|ds + rounding),   β = T_{m+1,m}.
//
// Proof: docs/proofs/sensitivity.md.
type krylov struct {
	p        *problem
	ptr      []int64
	adj      []int32
	val      []float64
	diag     []float64
	position []int32   // 1 + place of a node in nodes; 0: not in it
	nodes    []int32   // of which the first len(rows) − 1 had their turn to be read
	rows     []int32   // entries of place i: rows[i] to rows[i+1], none where they are too many
	places   []int32   // of the entries
	entries  []float64 // nil: all 1
	limit    int       // of entries
	whole    bool      // all rows were read
	work     int       // time so far, in entries of a step
	v        [krylovSteps + 1][]float64
	alpha    []float64
	beta     []float64
	eigen    []float64 // rows: eigenvectors of T
	lambda   []float64
	x        []float64 // the approximation, over nodes
}

func newKrylov(p *problem) *krylov {
	k := &krylov{p: p, position: make([]int32, p.lap.Order())}
	k.ptr, k.adj, k.val, k.diag = p.lap.CSR()
	return k
}

// start begins with edge e and may read so many entries.
func (k *krylov) start(e edge, limit int) {
	for _, t := range k.nodes {
		k.position[t] = 0
	}
	bu, bv, square := k.p.incidence(e)
	length := math.Sqrt(square)
	k.nodes, k.rows = append(k.nodes[:0], e.u, e.v), append(k.rows[:0], 0)
	k.places, k.entries = k.places[:0], k.entries[:0]
	k.position[e.u], k.position[e.v] = 1, 2
	k.v[0] = append(k.v[0][:0], bu/length, bv/length)
	k.alpha, k.beta, k.limit, k.whole, k.work = k.alpha[:0], k.beta[:0], limit, true, 0
}

// read reads the rows of the first n places that were not looked at, where the limit allows.
func (k *krylov) read(n int) {
	for i := len(k.rows) - 1; i < n; i++ {
		t := k.nodes[i]
		from, to := k.ptr[t], k.ptr[t+1]
		if row := int(to - from); row > int(longRow*float64(k.limit)) || len(k.places)+row > k.limit {
			k.whole = false
			k.rows = append(k.rows, int32(len(k.places)))
			continue
		}
		for _, other := range k.adj[from:to] {
			if k.position[other] == 0 {
				k.nodes = append(k.nodes, other)
				k.position[other] = int32(len(k.nodes))
			}
			k.places = append(k.places, k.position[other]-1)
		}
		if k.val != nil {
			k.entries = append(k.entries, k.val[from:to]...)
		}
		k.rows = append(k.rows, int32(len(k.places)))
	}
}

// step takes the next Lanczos step. It reports false after the last that has any effect.
func (k *krylov) step() bool {
	m := len(k.alpha)
	if m == krylovSteps || m > 0 && k.beta[m-1] == 0 {
		return false
	}
	k.read(len(k.v[m]))
	n := len(k.nodes)
	v := extend(k.v[m], n)
	w := extend(k.v[m+1][:0], n)
	k.multiply(w, v)
	alpha := floats.Dot(v, w)
	floats.AddScaled(w, -alpha, v)
	if m > 0 {
		floats.AddScaled(w[:len(k.v[m-1])], -k.beta[m-1], k.v[m-1])
	}
	beta := floats.Norm(w, 2)
	if beta > 0 {
		for i := range w {
			w[i] /= beta
		}
	}
	k.v[m], k.v[m+1] = v, w
	k.alpha, k.beta = append(k.alpha, alpha), append(k.beta, beta)
	return true
}

// extend appends zeros to x, up to n values.
func extend(x []float64, n int) []float64 {
	have := len(x)
	x = slices.Grow(x, n-have)[:n]
	clear(x[have:])
	return x
}

// multiply adds Sv to w: the part of S in the rows that were read, and in the columns as S is symmetric.
func (k *krylov) multiply(w, v []float64) {
	for i := range len(k.rows) - 1 {
		x := v[i]
		w[i] += k.diag[k.nodes[i]] * x
		from, to := k.rows[i], k.rows[i+1]
		if k.val == nil {
			for _, at := range k.places[from:to] {
				w[at] -= x
			}
		} else {
			entries := k.entries[from:to]
			for e, at := range k.places[from:to] {
				w[at] -= entries[e] * x
			}
		}
	}
	if k.work += len(k.places) + 4*len(v); k.whole {
		return
	}
	// Entries of rows that were not read are in the columns: without them much of the heat of a hub's neighbours is missed.
	for i := range len(k.rows) - 1 {
		for e := k.rows[i]; e < k.rows[i+1]; e++ {
			at := k.places[e]
			if int(at) < len(k.rows)-1 && k.rows[at] == k.rows[at+1] {
				entry := 1.0
				if k.val != nil {
					entry = k.entries[e]
				}
				w[i] -= entry * v[at]
			}
		}
	}
}

// heat sets x to the approximation of e^{-τS}v_0 by the steps so far, and returns a bound on its error in the
// 2-norm, +Inf where nothing is proved. x is empty where the bound is above enough.
func (k *krylov) heat(enough float64) float64 {
	m, tau := len(k.alpha), k.p.tau
	k.x, k.work = k.x[:0], k.work+eigenCost+2*m*m*m
	e, r := k.decompose()
	// The eigenvalues of T are within e of Λ: e^{-sT} and e^{-sΛ} are at most e^{0.001}.
	if !(tau*(e+max(0, -slices.Min(k.lambda))) < 1e-3) {
		return math.Inf(1)
	}
	var g [krylovSteps]float64 // Qe^{-τΛ}Qᵀe_1
	var integral float64       // ∫₀^τ of the last entry of Qe^{-sΛ}Qᵀe_1
	for j, l := range k.lambda {
		q := k.eigen[j*m:][:m]
		for i, z := range q {
			g[i] += q[0] * math.Exp(-tau*l) * z
		}
		part := tau
		if math.Abs(tau*l) > 1e-300 {
			part = -math.Expm1(-tau*l) / l
		}
		integral += q[0] * q[m-1] * part
	}
	steps, n := float64(m), float64(len(k.nodes))
	w := r + tau*e
	// 1.05 is for ‖v_k‖, ‖Q‖ and ‖Qᵀe_1‖, which are 1 up to rounding, and for e^{0.001}.
	off := 1.05 * (math.Sqrt(steps)*(w+16*(steps+8)*unit+tau*4*(n+16)*unit*k.p.lap.Bound()) +
		k.beta[m-1]*(math.Abs(integral)+tau*(2*w+steps*(steps+8)*unit)))
	if !k.whole || math.IsNaN(off) {
		off = math.Inf(1)
	}
	if off > enough {
		return off
	}
	k.work += (m + 4) * len(k.nodes)
	k.x = extend(k.x, len(k.nodes))
	for i, y := range g[:m] {
		floats.AddScaled(k.x[:len(k.v[i])], y, k.v[i])
	}
	return off
}

// decompose sets lambda and eigen to eigenvalues Λ and eigenvectors Q of T, and returns bounds on ‖TQ − QΛ‖ and ‖QQᵀe_1 − e_1‖, which
// are measured: +Inf where there are none, or T is so small that squares underflow.
func (k *krylov) decompose() (residual, identity float64) {
	m := len(k.alpha)
	k.lambda = append(k.lambda[:0], k.alpha...)
	k.eigen = slices.Grow(k.eigen[:0], m*m)[:m*m]
	var size float64 // ‖T‖ at most
	for i, a := range k.alpha {
		size = max(size, math.Abs(a)+2*k.beta[i])
	}
	var off [krylovSteps]float64
	copy(off[:], k.beta)
	if !(size > 1e-140 && size < math.Inf(1)) || dense.TridiagonalEigen(k.lambda, off[:m], k.eigen) != nil {
		return math.Inf(1), math.Inf(1)
	}
	var first [krylovSteps]float64 // QQᵀe_1 − e_1
	first[0] = -1
	for j, l := range k.lambda {
		q := k.eigen[j*m:][:m]
		for i, z := range q {
			first[i] += q[0] * z
			r := (k.alpha[i] - l) * z
			if i > 0 {
				r += k.beta[i-1] * q[i-1]
			}
			if i+1 < m {
				r += k.beta[i] * q[i+1]
			}
			residual += r * r
		}
	}
	steps := float64(m)
	return math.Sqrt(residual) + 8*steps*unit*size, floats.Norm(first[:m], 2) + steps*(steps+4)*unit
}

// norm returns ‖diag(√ω)x‖, off by a relative (places + 16) units.
func (k *krylov) norm() float64 {
	var sum float64
	for i, x := range k.x {
		w := k.p.peak
		if k.p.omega != nil {
			w = k.p.omega[k.nodes[i]]
		}
		sum += w * (x * x)
	}
	return math.Sqrt(sum)
}

// bracket bounds α‖diag(√ω)e^{-τS}b‖/length of an edge from both sides, until the upper bound is at most the target, or the
// two are within tol/2 of each other, or the limits are reached.
func (k *krylov) bracket(e edge, target, tol float64) (up, low float64) {
	up = math.Inf(1)
	for k.start(e, krylovEntries); k.step() && k.whole; {
		if m := len(k.alpha); m == 1 || m > 6 && m%2 == 1 && k.beta[m-1] > 0 {
			continue
		}
		if value, off := k.value(e, target); off <= target {
			up, low = min(up, (value+off)*(1+8*unit)), max(low, (value-off)*(1-8*unit))
			if up <= target || up <= low*(1+tol/2) {
				break
			}
		}
	}
	return up, low
}

// approximate sets x to an approximation from few entries of S, and returns the value of it, and how far off it is at most.
func (k *krylov) approximate(e edge) (value, off float64) {
	for k.start(e, nearEntries); len(k.alpha) < nearSteps && k.step(); {
	}
	return k.value(e, math.Inf(1))
}

// value returns α‖diag(√ω)x‖·‖b‖/length, and how far off that is at most: 0 and +Inf where that is above most.
func (k *krylov) value(e edge, most float64) (value, off float64) {
	_, _, square := k.p.incidence(e)
	scale, root := e.scale*math.Sqrt(square), math.Sqrt(k.p.peak)
	off = scale * root * k.heat(most/(scale*root))
	if len(k.x) == 0 {
		return 0, math.Inf(1)
	}
	value = scale * k.norm()
	return value, off + value*(float64(len(k.x))+16)*unit
}
