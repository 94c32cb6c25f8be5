// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/expm"
)

// operator is a polynomial p(L) ≈ M with a proved error, for blocks of columns.
type operator struct {
	d      *expm.Diffusion
	n      int
	block  int // columns of a random block
	few    int // columns that cost much less than a block, to raise the lower end by
	pad    int // the kernel takes columns by this number
	x, y   []float64
	u      []float64 // node weights u_t; nil: all peak
	peak   float64
	slackB float64 // ‖diag(√u)(M̃ − M)(e_i − e_j)‖₂ is at most this
	roundB float64 // what rounding contributes to it
}

// blockEntries bounds the memory of a block: sixteen columns where they fit,
// else eight, a cache line.
const blockEntries = 1 << 24

// operator prepares p(L) with a truncation error of about width in Δ₂.
func (s *search) operator(width float64) (*operator, error) {
	n := s.lap.Order()
	o := &operator{n: n, block: 8, few: 8, pad: 8, peak: s.peak}
	if s.lap.Block() == 1 {
		o.few, o.pad = 4, 1
	}
	if 16*n <= blockEntries {
		o.block = 16
	}
	if s.omega != nil {
		o.u, o.peak = s.nodeWeights()
	}
	tol := min(max(width/(math.Sqrt(2*o.peak)*s.longest()), 1e-15), 1e-2)
	var err error
	o.d, err = expm.New(context.Background(), s.lap, s.tau, expm.Options{Method: expm.Chebyshev, Tolerance: tol})
	if err != nil {
		return nil, errStuck
	}
	o.slackB = math.Sqrt(2*o.peak) * o.d.Err() * (1 + 8*unit)
	o.roundB = math.Sqrt(2*o.peak) * o.d.Rounding() * (1 + 8*unit)
	o.x, o.y = make([]float64, n*o.block), make([]float64, n*o.block)
	return o, nil
}

// longest returns the largest α/length among the edges that remain.
func (s *search) longest() (scale float64) {
	for _, i := range s.rest {
		scale = max(scale, s.edges[i].scale)
	}
	return scale
}

// nodeWeights returns u_t = ω_t s_t² and its maximum.
func (p *problem) nodeWeights() (u []float64, peak float64) {
	u = p.omega
	if p.s != nil {
		u = make([]float64, len(p.omega))
		for t, w := range p.omega {
			u[t] = w * (p.s[t] * p.s[t])
		}
	}
	return u, slices.Max(u) * (1 + 4*unit)
}

// evaluate brackets some edges by M̃b itself.
func (s *search) evaluate(ctx context.Context, o *operator, pick []int32) error {
	for ; len(pick) > 0; pick = pick[min(o.block, len(pick)):] {
		part := pick[:min(o.block, len(pick))]
		k := len(part)
		if k > 1 {
			k = (k + o.pad - 1) / o.pad * o.pad
		}
		x, y := o.x[:o.n*k], o.y[:o.n*k]
		clear(x)
		for j, i := range part {
			x[int(s.edges[i].u)*k+j] = 1
			x[int(s.edges[i].v)*k+j] = -1
		}
		if err := o.d.Apply(ctx, y, false, x, k); err != nil {
			return err
		}
		norms := o.norms(y, k)
		// n + 8 roundings of a sum of squares, halved by the root.
		relative := (float64(o.n) + 16) * unit
		for j, i := range part {
			scale := s.edges[i].scale
			s.upper[i] = min(s.upper[i], scale*(norms[j]*(1+relative)+o.slackB))
			s.raise(i, scale*(norms[j]*(1-relative)-o.slackB))
		}
	}
	return nil
}

// norms returns ‖diag(√u)y_j‖₂ for each of k columns.
func (o *operator) norms(y []float64, k int) []float64 {
	sum := make([]float64, k)
	for t := range o.n {
		w := o.peak
		if o.u != nil {
			w = o.u[t]
		}
		for j, v := range y[t*k : (t+1)*k] {
			sum[j] += w * (v * v)
		}
	}
	for j, v := range sum {
		sum[j] = math.Sqrt(v)
	}
	return sum
}

// seed evaluates one block of promising edges, so that the later tiers have a
// lower bound to drop edges by: those with the largest e^{-τμ₁/μ₀}.
func (s *search) seed(ctx context.Context) error {
	_, _, _, diag := s.lap.CSR()
	promise := func(i int32) float64 {
		e := s.edges[i]
		bu, bv, mass := s.start(e)
		mu1 := bu*bu*diag[e.u] + bv*bv*diag[e.v] - 2*bu*bv*e.b
		return math.Log(e.scale) + math.Log(mass)/2 - s.tau*mu1/mass
	}
	// Coarse first: how small Δ₂ is decides what "accurate" means.
	for _, width := range []float64{1e-3, 1e-6, 1e-12} {
		o, err := s.operator(width * math.Sqrt(s.peak) * s.longest())
		if err != nil {
			return nil // the local tier may still work
		}
		if err := s.evaluate(ctx, o, largest(s.rest, o.few, promise)); err != nil {
			return err
		}
		if s.lower > 5*width*math.Sqrt(s.peak)*s.longest() {
			break
		}
	}
	return nil
}

// finish brackets all that remain, the largest bounds first.
func (s *search) finish(ctx context.Context) error {
	slices.SortFunc(s.rest, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.upper[b], s.upper[a]), cmp.Compare(a, b))
	})
	if err := s.global(ctx); err != nil || len(s.rest) == 0 {
		return err
	}
	o, err := s.operator(0.05 * s.opts.Tolerance * s.lower)
	if err != nil {
		return err
	}
	for len(s.rest) > 0 {
		part := s.rest[:min(o.block, len(s.rest))]
		if err := s.evaluate(ctx, o, part); err != nil {
			return err
		}
		s.rest = s.rest[len(part):]
		s.settle("columns")
	}
	return nil
}

// largest returns the k items with the largest value, in descending order; ties go
// to the lower item.
func largest(items []int32, k int, value func(int32) float64) []int32 {
	type scored struct {
		i int32
		v float64
	}
	order := func(a, b scored) int { return cmp.Or(cmp.Compare(b.v, a.v), cmp.Compare(a.i, b.i)) }
	var top []scored
	for _, i := range items {
		if x := (scored{i, value(i)}); len(top) < k || order(x, top[k-1]) < 0 {
			at, _ := slices.BinarySearchFunc(top, x, order)
			top = slices.Insert(top, at, x)
			top = top[:min(len(top), k)]
		}
	}
	out := make([]int32, len(top))
	for j, x := range top {
		out[j] = x.i
	}
	return out
}
