// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/internal/parallel"
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

// blockEntries bounds the memory of a block: sixteen columns where they fit,
// else eight, a cache line.
const blockEntries = 1 << 24

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
	o := &operator{n: n, block: 8, few: 4, peak: s.peak}
	if 16*n <= blockEntries {
		o.block = 16
	}
	if s.omega != nil {
		o.u, o.peak = s.nodeWeights()
	}
	tol = min(max(tol, 1e-15), 1e-2)
	var err error
	if s.heat == nil {
		o.d, err = expm.New(context.Background(), s.lap, s.tau, expm.Options{Method: expm.Chebyshev, Tolerance: tol})
	} else {
		o.d, err = s.heat.WithTolerance(tol)
	}
	if err != nil {
		return nil, errNoProgress
	}
	s.heat = o.d
	o.slackB = math.Sqrt(2*o.peak) * o.d.Err() * (1 + 8*unit)
	o.roundB = math.Sqrt(2*o.peak) * o.d.Rounding() * (1 + 8*unit)
	s.x, s.y = s.borrow(0, n*o.block), s.borrow(1, n*o.block)
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

// seedPool is the number of edges among which surrogates choose the seeds.
const seedPool = 1 << 10

// seed evaluates a few edges that are likely to be large, so that the later tiers have a
// lower bound to compare with. Edges are ranked by e^{-τa} at the two ends, then by their
// surrogates.
func (s *search) seed(ctx context.Context) error {
	_, _, _, diag := s.lap.CSR()
	promise := func(i int32) float64 {
		e := s.edges.at(i)
		bu, bv, _ := s.incidence(e)
		size := math.Hypot(bu*math.Exp(-s.tau*diag[e.u]), bv*math.Exp(-s.tau*diag[e.v]))
		return min(s.upper[i], e.scale*math.Sqrt(s.peak)*size)
	}
	pool := largest(s.rest, seedPool, promise)
	value, err := s.values(ctx, pool)
	if err != nil {
		return err
	}
	expected := 0.0
	for _, v := range value {
		expected = max(expected, v)
	}
	// Coarse first: the accuracy needed is relative to Δ₂, which is not known yet.
	top := math.Sqrt(s.peak) * s.longest()
	for width := min(2e-3, max(1e-13, 2e-3*expected/top)); ; width *= 1e-4 {
		o, err := s.operator(width * top)
		if err != nil {
			return nil // the local tier may still work
		}
		// Among values within a percent prefer the edge at the largest hub, which returns the
		// least heat.
		pick := largest(pool, o.few, func(i int32) float64 {
			hub := max(diag[s.edges.at(i).u], diag[s.edges.at(i).v])
			return math.Round(100*math.Log(value[i])) + 0.5*hub/(s.edges.at(i).b+hub)
		})
		if done, err := s.seedByQuadrature(ctx, o, pick, expected); done || err != nil {
			return err
		}
		if err := s.evaluate(ctx, o, pick); err != nil {
			return err
		}
		if s.lower > 50*width*top || width < 1e-12 {
			return nil
		}
	}
}

// seedByQuadrature uses the lower ends of quadrature where that costs less than columns.
// It is done where the lower end reaches 0.95 of the value that surrogates predict.
func (s *search) seedByQuadrature(ctx context.Context, o *operator, pick []int32, expected float64) (done bool, err error) {
	if !s.uniform || o.n > globalOrder || o.d.Degree() < 4*localSteps {
		return false, nil
	}
	if _, _, err := s.quadrature(ctx, pick, globalEntries); err != nil {
		return false, err
	}
	return s.lower > 0.95*expected, nil
}

// values predicts the values of some edges from the surrogates of their ends.
func (s *search) values(ctx context.Context, pool []int32) (map[int32]float64, error) {
	index := map[int32]int{}
	var pick []int32
	for _, i := range pool {
		for _, t := range [2]int32{s.edges.at(i).u, s.edges.at(i).v} {
			if _, ok := index[t]; !ok {
				index[t] = len(pick)
				pick = append(pick, t)
			}
		}
	}
	list, err := s.surrogates(ctx, pick)
	if err != nil {
		return nil, err
	}
	distance := make([]float64, len(pool))
	parallel.Rows(len(pool), 4*surrogateNodes, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			e := s.edges.at(pool[k])
			distance[k] = s.distance(&list[index[e.u]], &list[index[e.v]])
		}
	})
	value := make(map[int32]float64, len(pool))
	for k, i := range pool {
		value[i] = s.upper[i]
		if v := s.edges.at(i).scale * distance[k]; v < value[i] {
			value[i] = v
		}
	}
	return value, nil
}

// finish brackets all edges that remain: by nodes that many of them share, then edge by
// edge, the largest bounds first, or by quadrature where that is cheaper.
func (c *screening) finish(ctx context.Context) error {
	_, columns := c.nodes.groups()
	if err := c.globalQuadrature(ctx, columns); err != nil {
		return err
	}
	for {
		pick, _ := c.nodes.groups()
		if len(pick) == 0 {
			break
		}
		if err := c.nodes.certify(ctx, pick[:min(len(pick), c.block)]); err != nil {
			return err
		}
		c.dropClosed("nodes")
	}
	slices.SortFunc(c.rest, func(a, b int32) int {
		return cmp.Or(cmp.Compare(c.upper[b], c.upper[a]), cmp.Compare(a, b))
	})
	if err := c.globalQuadrature(ctx, len(c.rest)); err != nil || len(c.rest) == 0 {
		return err
	}
	o, err := c.search.operator(0.05 * c.opts.Tolerance * c.lower)
	if err != nil {
		return err
	}
	for len(c.rest) > 0 {
		part := c.rest[:min(o.block, len(c.rest))]
		if err := c.evaluate(ctx, o, part); err != nil {
			return err
		}
		c.rest = c.rest[len(part):]
		c.dropClosed("columns")
	}
	return nil
}
