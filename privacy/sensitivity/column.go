// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// operator is a polynomial p(L) ≈ M with a proved error, for blocks of columns.
type operator struct {
	d      *expm.Diffusion
	n      int
	block  int       // columns of a random block
	few    int       // columns that cost much less than a block, evaluated to raise the lower end
	u      []float64 // node weights u_t; nil: all peak
	peak   float64
	slackB float64 // ‖diag(√u)(M̃ − M)(e_i − e_j)‖₂ is at most this
	roundB float64 // what rounding contributes to it
}

// operator prepares p(L) with a truncation error of about width in Δ₂.
func (s *search) operator(width float64) (*operator, error) {
	peak := s.peak
	if s.omega != nil {
		_, peak = s.nodeWeights()
	}
	return s.within(width / (math.Sqrt(2*peak) * s.longest()))
}

// within prepares p(L) with a truncation error of about tol.
func (s *search) within(tol float64) (*operator, error) {
	n := s.lap.Order()
	o := &operator{n: n, block: min(16, linop.BlockColumns(n)), peak: s.peak}
	o.few = min(4, o.block)
	if s.omega != nil {
		o.u, o.peak = s.nodeWeights()
	}
	tol = min(max(tol, 1e-15), 1e-2)
	var err error
	if s.diffusion == nil {
		o.d, err = expm.New(context.Background(), s.lap, s.tau, expm.Options{Method: expm.Chebyshev, Tolerance: tol})
	} else {
		o.d, err = s.diffusion.WithTolerance(tol)
	}
	if err != nil {
		return nil, errNoProgress
	}
	s.diffusion = o.d
	o.slackB = math.Sqrt(2*o.peak) * o.d.Err() * (1 + 8*unit)
	o.roundB = math.Sqrt(2*o.peak) * o.d.Rounding() * (1 + 8*unit)
	s.x, s.y = s.memory(0, n*o.block), s.memory(1, n*o.block)
	return o, nil
}

// longest returns the largest α/length among the edges that remain.
func (s *search) longest() float64 {
	scale, _ := largestOf(len(s.rest), 1, func(k int) float64 { return s.edges.at(s.rest[k]).scale })
	return scale
}

// nodeWeights returns u_t = ω_t s_t² and its maximum.
func (s *search) nodeWeights() (u []float64, peak float64) {
	if s.weights == nil {
		s.weights = s.omega
		if s.s != nil {
			s.weights = slices.Clone(s.omega)
			parallel.Rows(len(s.weights), 3, func(lo, hi int) {
				for t := lo; t < hi; t++ {
					s.weights[t] *= s.s[t] * s.s[t]
				}
			})
		}
		s.weightPeak = maximum(s.weights) * (1 + 4*unit)
	}
	return s.weights, s.weightPeak
}

// evaluate brackets some edges by computing M̃b.
func (s *search) evaluate(ctx context.Context, o *operator, pick []int32) error {
	for ; len(pick) > 0; pick = pick[min(o.block, len(pick)):] {
		part := pick[:min(o.block, len(pick))]
		k := len(part)
		x, y := s.x[:o.n*k], s.y[:o.n*k]
		setZero(x)
		for j, i := range part {
			x[int(s.edges.at(i).u)*k+j] = 1
			x[int(s.edges.at(i).v)*k+j] = -1
		}
		if err := o.d.Apply(ctx, y, false, x, k); err != nil {
			return err
		}
		norms := o.norms(y, k)
		// n + 8 roundings of a sum of squares, halved by the root.
		relative := (float64(o.n) + 16) * unit
		for j, i := range part {
			scale := s.edges.at(i).scale
			s.upper[i] = min(s.upper[i], scale*(norms[j]*(1+relative)+o.slackB))
			s.raiseLower(i, scale*(norms[j]*(1-relative)-o.slackB))
		}
	}
	return nil
}

// seedPool is half the number of edges among which the seeds are chosen.
const seedPool = 128

// seed evaluates a few edges that are likely to be large, so that the later tiers have a
// lower bound to compare with: of those whose ends keep the most of b after τ, by e^{-τa}, and as many others, the ones that
// keep the most by [krylov]. Of values within a percent the edge at the largest hub comes first, which keeps the least.
func (s *search) seed(ctx context.Context) error {
	_, _, _, diag := s.lap.CSR()
	promise := func(i int32) float64 {
		e := s.edges.at(i)
		bu, bv, _ := s.incidence(e)
		size := math.Hypot(bu*math.Exp(-s.tau*diag[e.u]), bv*math.Exp(-s.tau*diag[e.v]))
		return min(s.upper[i], e.scale*math.Sqrt(s.peak)*size)
	}
	pool := append(largest(s.rest, seedPool, promise), spread(s.rest, seedPool)...)
	slices.Sort(pool)
	pool = slices.Compact(pool)
	value := s.estimates(ctx, pool)
	expected := 0.0
	for _, v := range value {
		expected = max(expected, v)
	}
	if s.lower > .95*expected || ctx.Err() != nil {
		return ctx.Err()
	}
	// Coarse first: the accuracy needed is relative to Δ₂, which is not known yet.
	top := math.Sqrt(s.peak) * s.longest()
	for width := min(2e-3, max(1e-13, 2e-3*expected/top)); ; width *= 1e-4 {
		o, err := s.operator(width * top)
		if err != nil {
			return nil // bounds in closed form may still help
		}
		pick := largest(pool, o.few, func(i int32) float64 {
			hub := max(diag[s.edges.at(i).u], diag[s.edges.at(i).v])
			return math.Round(100*math.Log(value[i])) + 0.5*hub/(s.edges.at(i).b+hub)
		})
		if err := s.evaluate(ctx, o, pick); err != nil {
			return err
		}
		if s.lower > 50*width*top || width < 1e-12 {
			return nil
		}
	}
}

// estimates approximates the values of some edges, and brackets those of which nothing is left out.
func (s *search) estimates(ctx context.Context, pick []int32) map[int32]float64 {
	values, off := make([]float64, len(pick)), make([]float64, len(pick))
	parallel.Rows(len(pick), nearWork, func(lo, hi int) {
		k := s.krylovs.Get().(*krylov)
		defer s.krylovs.Put(k)
		for j := lo; j < hi && ctx.Err() == nil; j++ {
			values[j], off[j] = k.approximate(s.edges.at(pick[j]))
		}
	})
	out := make(map[int32]float64, len(pick))
	for j, i := range pick {
		s.upper[i] = min(s.upper[i], (values[j]+off[j])*(1+8*unit))
		s.raiseLower(i, (values[j]-off[j])*(1-8*unit))
		out[i] = min(values[j], s.upper[i])
	}
	return out
}

// scaleRows multiplies row t of k columns by √u_t.
func (o *operator) scaleRows(x []float64, k int) {
	parallel.Rows(o.n, k, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			w := math.Sqrt(o.peak)
			if o.u != nil {
				w = math.Sqrt(o.u[t])
			}
			for j := range k {
				x[t*k+j] *= w
			}
		}
	})
}

// norms returns ‖diag(√u)y_j‖₂ for each of k columns.
func (o *operator) norms(y []float64, k int) []float64 {
	sum := make([]float64, k)
	parallel.Sum(o.n, k, sum, func(lo, hi int, sum []float64) {
		for t := lo; t < hi; t++ {
			w := o.peak
			if o.u != nil {
				w = o.u[t]
			}
			for j, v := range y[t*k : (t+1)*k] {
				sum[j] += w * (v * v)
			}
		}
	})
	for j, v := range sum {
		sum[j] = math.Sqrt(v)
	}
	return sum
}
