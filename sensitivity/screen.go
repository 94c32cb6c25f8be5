// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
)

// The screen looks at the edges after 16 random columns, and after 16, 32, …, 1024
// with the subspace taken out.
const (
	firstLook = 16
	maxLooks  = 8
)

// screen drops edges by random projection (Johnson & Lindenstrauss, 1984), and
// brackets by columns what remains as soon as that is cheaper than another look.
//
// Let W = diag(√u)p(L), Ω be n × r standard normal and Y = WᵀΩ. For b = e_i − e_j
// the row difference Y_i − Y_j is ‖Wb‖ times a vector whose squared length is χ²_r.
// So with x such that P(χ²_r ≤ x) ≤ β/(edges·looks),
//
//	‖diag(√u)Mb‖ ≤ ‖Y_i − Y_j‖/√x + ‖diag(√u)(p(L) − M)b‖
//
// holds for all edges at all looks with probability 1 − β. After the first look
// the part of Wb in a small subspace is taken exactly, and only the rest is
// projected: see subspace.
func (s *search) screen(ctx context.Context) error {
	if s.opts.Seed == [32]byte{} {
		return s.finish(ctx)
	}
	o, err := s.operator(min(0.02, 0.2*s.opts.Tolerance) * s.lower)
	if err != nil {
		return err
	}
	q := s.opts.Failure / (float64(len(s.rest)) * maxLooks)
	c := &screening{search: s, operator: o, squares: make([]float64, len(s.edges)), gain: 1}
	for look := range maxLooks {
		want := firstLook << max(0, look-1)
		if len(s.rest) <= (want-c.columns)*c.gain {
			break
		}
		for c.columns < want {
			if err := c.project(ctx); err != nil {
				return err
			}
		}
		c.look(q)
		s.failure += s.opts.Failure / maxLooks
		s.settle("screen")
		if err := s.evaluate(ctx, o, largest(s.rest, o.few, c.estimate)); err != nil {
			return err
		}
		s.settle("screen")
		if look == 1 {
			if err := c.probe(ctx); err != nil {
				return err
			}
		}
		if look == 0 && len(s.rest) > 2*firstLook {
			if err := c.deflate(ctx); err != nil {
				return err
			}
		}
	}
	return s.finish(ctx)
}

// screening is the state of a screen.
type screening struct {
	*search
	*operator
	blocks  int // random blocks drawn so far
	columns int // random columns that squares holds
	squares []float64
	sub     *subspace
	gain    int // how many edges quadrature closes in the time of one column
}

// probe tries quadrature on the likeliest edges, to learn whether it pays.
func (c *screening) probe(ctx context.Context) error {
	if !c.uniform || c.lap.Order() > globalOrder || len(c.rest) <= globalBatch {
		return nil
	}
	likely := largest(c.rest, globalBatch, c.estimate)
	work, open, err := c.quadrature(ctx, likely, globalEntries)
	if err != nil {
		return err
	}
	// Reading an entry and orthogonalising cost about four times a product's entry.
	if column := int64(c.d.Degree()+1) * c.lap.Work(); 4*open <= len(likely) {
		c.gain = int(max(1, int64(len(likely))*column/(4*work+1)))
	}
	c.settle("quadrature")
	return nil
}

// estimate is what the columns so far make likely.
func (c *screening) estimate(i int32) float64 {
	e := c.edges[i]
	square := c.squares[i] / float64(max(c.columns, 1))
	if c.sub != nil {
		square += c.sub.square(e)
	}
	return e.scale * math.Sqrt(square)
}

// project adds the squares of one block of random columns for the edges that remain.
func (c *screening) project(ctx context.Context) error {
	normals(c.opts.Seed, c.blocks, c.x)
	c.blocks++
	if c.sub != nil {
		c.sub.remove(c.x, c.block)
	}
	c.weigh(c.x, c.block)
	if err := c.d.Apply(ctx, c.y, true, c.x, c.block); err != nil {
		return err
	}
	for _, i := range c.rest {
		c.squares[i] += difference(c.y, c.block, c.edges[i])
	}
	c.columns += c.block
	return nil
}

// difference returns ‖Y_u − Y_v‖₂² for k row-major columns.
func difference(y []float64, k int, e edge) (sum float64) {
	a, b := y[int(e.u)*k:][:k], y[int(e.v)*k:][:k]
	for j, v := range a {
		d := v - b[j]
		sum += d * d
	}
	return sum
}

// weigh multiplies row t of k columns by √u_t.
func (o *operator) weigh(x []float64, k int) {
	for t := range o.n {
		w := math.Sqrt(o.peak)
		if o.u != nil {
			w = math.Sqrt(o.u[t])
		}
		for j := range k {
			x[t*k+j] *= w
		}
	}
}

// look turns the projections into bounds that fail with probability q an edge.
// The normals are off by normalError each, which acts relative to ‖Wb‖; rounding of
// Y acts absolutely, at most its bound times ‖Ω‖_F. Both are charged at their
// largest, ‖Ω‖_F ≤ 2√(nr) but for a probability far below q.
func (c *screening) look(q float64) {
	r := c.columns
	entries := math.Sqrt(float64(r) * float64(c.n))
	x := math.Sqrt(chiSquareQuantile(r, q)) - normalError*entries
	rounding := 2 * entries * c.roundB
	if c.sub != nil {
		rounding += 2 * entries * c.sub.rounding * math.Sqrt(2*c.peak) * c.spread()
	}
	if !(x > 0) {
		return
	}
	if finest := 4 * c.longest() * (rounding/x + c.roundB); c.lower < finest {
		c.least = finest
	}
	relative := 1 + float64(r+32)*unit
	for _, i := range c.rest {
		e := c.edges[i]
		up := (math.Sqrt(c.squares[i])*relative + rounding) / x
		if c.sub != nil {
			up = math.Hypot(up, (math.Sqrt(c.sub.square(e))*relative+c.sub.roundB)*c.sub.inflate)
		}
		c.upper[i] = min(c.upper[i], e.scale*(up+c.slackB)*(1+8*unit))
	}
}

// spread bounds ‖p(L)‖₂: 1 for the symmetric kinds, max s/min s for a similar one.
func (c *screening) spread() float64 {
	if c.s == nil {
		return 1
	}
	return slices.Max(c.s) / slices.Min(c.s)
}

// chiSquareQuantile returns x with P(χ²_r ≤ x) ≤ q for even r. With h = r/2 and
// y = x/2 that is the Poisson tail e^{-y}(y^h/h!)(1 + y/(h+1) + …), at most
// e^{-y}(y^h/h!)/(1 − y/(h+1)) for y < h + 1.
func chiSquareQuantile(r int, q float64) float64 {
	h := float64(r / 2)
	factorial, _ := math.Lgamma(h + 1)
	tail := func(y float64) float64 {
		return h*math.Log(y) - y - factorial - math.Log1p(-y/(h+1))
	}
	goal := math.Log(q) - 1e-6 // more than the rounding of tail
	low, high := 0.0, h
	for range 200 {
		mid := (low + high) / 2
		if tail(mid) <= goal {
			low = mid
		} else {
			high = mid
		}
	}
	return 2 * low
}

// normalError bounds |z̃ − z| for a coupling of the computed normals z̃ with exact
// ones: 2⁻³² from the granularity of the radius near 0, the rest from log, sqrt
// and the angle.
const normalError = 0x1p-31

// normals fills x with standard normal variates by Box & Muller (1958), keyed by
// the seed and the number of the block. The radius √(−2 ln U) takes a U known to a
// relative 2⁻⁶³, so that its tail is right.
func normals(seed [32]byte, block int, x []float64) {
	h := sha256.New()
	h.Write([]byte("graphcloak/v1/sensitivity/screen"))
	h.Write(seed[:])
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(block)))
	stream := rand.NewChaCha8([32]byte(h.Sum(nil)))
	for i := 0; i < len(x); i += 2 {
		r := math.Sqrt(-2 * logUniform(stream))
		sin, cos := math.Sincos(2 * math.Pi * (float64(stream.Uint64()>>11) * 0x1p-53))
		x[i] = r * cos
		if i+1 < len(x) {
			x[i+1] = r * sin
		}
	}
}

// logUniform returns ln U for U uniform on (0, 1].
func logUniform(stream *rand.ChaCha8) float64 {
	a, shift := stream.Uint64(), 0
	for a < 1<<32 { // more bits below: keep 32 at least
		a, shift = a<<32|stream.Uint64()>>32, shift+32
		if shift > 512 {
			break
		}
	}
	if a >= 1<<63 { // near 1: 1 − U is exact
		return math.Log1p(-(float64(^a) + 0.5) * 0x1p-64)
	}
	return math.Log((float64(a)+0.5)*0x1p-64) - float64(shift)*math.Ln2
}
