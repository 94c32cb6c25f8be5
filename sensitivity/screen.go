// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// The screen looks at the edges after 16, 32, …, 2048 random columns.
const (
	firstLook = 16
	maxLooks  = 8
)

// screen drops edges by random projection (Johnson & Lindenstrauss, 1984), and
// brackets by columns what remains as soon as that is cheaper than another look.
//
// Let Ω be n × r standard normal and Y = p(L)ᵀdiag(√u)Ω. For b = e_i − e_j the row
// difference Y_i − Y_j is ‖diag(√u)p(L)b‖ times a vector whose squared length is
// χ²_r. So with x such that P(χ²_r ≤ x) ≤ β/(edges·looks),
//
//	‖diag(√u)Mb‖ ≤ ‖Y_i − Y_j‖/√x + ‖diag(√u)(p(L) − M)b‖
//
// holds for all edges at all looks with probability 1 − β.
func (s *search) screen(ctx context.Context) error {
	if s.opts.Seed == [32]byte{} {
		return s.finish(ctx)
	}
	union := float64(len(s.rest)) * maxLooks
	squares := make([]float64, len(s.edges))
	o, err := s.operator(0.02 * s.lower)
	if err != nil {
		return err
	}
	columns := 0
	for look := range maxLooks {
		want := firstLook << look
		if len(s.rest) <= want-columns {
			break
		}
		for ; columns < want; columns += o.block {
			if err := s.project(ctx, o, columns/o.block, squares); err != nil {
				return err
			}
		}
		s.look(o, columns, squares, s.opts.Failure/union)
		s.failure += s.opts.Failure / maxLooks
		s.settle("screen")
		if len(s.rest) == 0 {
			return nil
		}
		likely := largest(s.rest, o.block, func(i int32) float64 { return s.edges[i].scale * math.Sqrt(squares[i]) })
		if err := s.evaluate(ctx, o, likely); err != nil {
			return err
		}
		s.settle("screen")
	}
	return s.finish(ctx)
}

// project adds the squares of one block of random columns for the edges that remain.
func (s *search) project(ctx context.Context, o *operator, block int, squares []float64) error {
	k := o.block
	normals(s.opts.Seed, block, o.x)
	for t := range o.n {
		w := math.Sqrt(o.peak)
		if o.u != nil {
			w = math.Sqrt(o.u[t])
		}
		for j := range k {
			o.x[t*k+j] *= w
		}
	}
	if err := o.d.Apply(ctx, o.y, true, o.x, k); err != nil {
		return err
	}
	for _, i := range s.rest {
		e := s.edges[i]
		a, b := o.y[int(e.u)*k:][:k], o.y[int(e.v)*k:][:k]
		var sum float64
		for j, v := range a {
			d := v - b[j]
			sum += d * d
		}
		squares[i] += sum
	}
	return nil
}

// look turns the projections into bounds that fail with probability q an edge.
// The normals are off by normalError each, which acts relative to ‖diag(√u)p(L)b‖;
// rounding of Y acts absolutely, at most its bound times ‖Ω‖_F. Both are charged at
// their largest.
func (s *search) look(o *operator, r int, squares []float64, q float64) {
	x := math.Sqrt(chiSquareQuantile(r, q))
	entries := math.Sqrt(float64(r) * float64(o.n))
	// ‖E‖_F ≤ normalError·√(nr) for the n × r errors of the normals.
	x -= normalError * entries
	// ‖Ω‖_F ≤ 2√(nr) but for a probability far below q.
	rounding := 2 * entries * o.roundB
	relative := 1 + float64(r+16)*unit
	if finest := 4 * s.longest() * (rounding/x + o.roundB); s.lower < finest {
		s.least = finest
	}
	for _, i := range s.rest {
		scale := s.edges[i].scale
		up := scale * ((math.Sqrt(squares[i])*relative+rounding)/x + o.slackB)
		if x > 0 && up < s.upper[i] {
			s.upper[i] = up
		}
	}
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
